"""``jiyi facts`` and ``jiyi reflect`` as a person and a script see them."""

from __future__ import annotations

import pytest

PARTY = ("Ana sang at the birthday party", "Ana sang at the birthday party again")


@pytest.fixture
def moved(jiyi):
    """Someone who moved."""
    jiyi("facts", "add", "Ana", "lives in", "Oslo", "--from", "2015-01-01", "-w", "atlas")
    jiyi("facts", "add", "Ana", "lives_in", "Bergen", "--from", "2020-06-01", "-w", "atlas")
    return jiyi


def test_a_fact_added_says_what_ended_with_it(jiyi):
    jiyi("facts", "add", "Ana", "lives in", "Oslo", "--from", "2015-01-01")
    again = ("facts", "add", "Ana", "lives in", "Bergen", "--from", "2020-06-01")
    answer = jiyi(*again, "--format", "table")
    assert answer.code == 0
    assert answer.out == (
        "f2: Ana · lives in · Bergen (since 2020-06-01)\n"
        "Ended with it: f1 lives in Oslo (2015-01-01 to 2020-06-01)\n"
    )
    assert [line[:2] for line in jiyi(*again).lines] == [["known", "f2"]]


def test_what_is_true_now_and_then(moved):
    assert [line[3] for line in moved("facts", "query", "ana").lines] == ["Bergen"]
    then = moved("facts", "query", "Ana", "--as-of", "2016-01-01", "--json").json
    assert [(fact["object"], fact["state"]) for fact in then] == [("Oslo", "ended")]
    assert moved("facts", "query", "Ana", "-w", "lyra").out == ""
    assert moved("facts", "query", "Nobody").err == "No facts.\n"


def test_the_timeline_as_a_table(moved):
    shown = moved("facts", "timeline", "Ana", "--format", "table").out.splitlines()
    assert shown[0].split() == ["fact", "subject", "predicate", "object", "true", "now", "from"]
    assert "2015-01-01 to 2020-06-01" in shown[1] and "ended" in shown[1]
    assert "true now" in shown[2]


def test_a_fact_is_ended(moved):
    answer = moved("facts", "invalidate", "f2", "--at", "2024-01-01", "--json").json
    assert answer["changed"] and answer["valid_to"].startswith("2024-01-01")
    again = moved("facts", "invalidate", "2")
    assert again.lines[0][:2] == ["ended_before", "f2"]
    assert moved("facts", "invalidate", "2", "--at", "2019-01-01").code == 1


def test_counts_of_facts(moved):
    counts = dict(moved("facts", "stats").lines)
    assert counts["facts"] == "2" and counts["active"] == "1"
    assert "2 facts" in moved.terminal("facts").out
    assert moved("facts", "stats", "--json").json["by_predicate"] == {"lives in": 2}


def test_wrong_numbers_of_names_are_a_misuse(jiyi):
    assert jiyi("facts", "add", "Ana", "likes").code == 2
    assert jiyi("facts", "stats", "Ana").code == 2
    assert jiyi("facts", "query", "Ana", "--direction", "up").code == 1
    assert jiyi("facts", "invalidate", "f9").code == 1


@pytest.fixture
def lived(jiyi):
    """Two memories of one theme."""
    for text in PARTY:
        jiyi("remember", text, "--kind", "episodic", "-w", "atlas")
    return jiyi


def test_reflection_shows_first_and_stores_when_asked(lived):
    shown = lived("reflect", "--json").json
    assert [item["sources"] for item in shown["reflections"]] == [[1, 2]]
    assert not shown["applied"] and shown["reflections"][0]["id"] is None
    assert len(lived("list").lines) == 2
    done = lived("reflect", "--apply", "--consolidate", "--json").json
    assert done["applied"] and done["archived"] == 2
    assert done["reflections"][0]["text"] == shown["reflections"][0]["text"]
    stored = lived("show", "3", "--json").json
    assert (stored["kind"], stored["workspace"]) == ("semantic", "atlas")


def test_reflection_on_a_terminal_says_what_to_do_next(lived):
    answer = lived.terminal("reflect")
    assert "[summary of 2] Ana sang" in answer.out and "#1 #2" in answer.out
    assert "with --apply" in answer.err
    lived("reflect", "--apply")
    answer = lived("reflect", "-w", "atlas")
    assert (answer.out, answer.code) == ("", 0)
    assert "Nothing to sum up" in answer.err


def test_a_missing_chat_model_is_said(lived):
    answer = lived("reflect", "--summarizer", "chat", "--lang", "zh")
    assert answer.code == 0 and "没有配置聊天模型" in answer.err
    assert lived("reflect", "--threshold", "2").code == 1
    assert lived("reflect", "-w", "nowhere").code == 1
