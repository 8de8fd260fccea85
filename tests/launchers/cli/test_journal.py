"""``jiyi history|journal|undo|redo|state-at``, ``show --at`` and ``forget --erase``."""

from __future__ import annotations

import pytest


@pytest.fixture
def edited(jiyi):
    jiyi("remember", "Ana lives in Lisbon")
    jiyi("edit", "1", "--text", "Ana lives in Porto", "--tag", "moved")
    return jiyi


def test_undo_and_redo_say_what_they_did(edited):
    shown = edited("undo", "--dry-run", "--json").json
    assert (shown["applied"], shown["memories"], shown["operation"]) == (False, [1], "undo")
    assert edited("show", "1", "--text").out == "Ana lives in Porto"
    assert edited("undo", "--format", "table").out.startswith("Undone: edit #1 of ")
    assert edited("show", "1", "--text").out == "Ana lives in Lisbon"
    assert edited("redo", "--lang", "zh", "--format", "table").out.startswith("已重做")
    assert edited("show", "1", "--text").out == "Ana lives in Porto"
    nothing = edited("redo")
    assert (nothing.code, "nothing to redo" in nothing.err) == (1, True)


def test_an_entry_a_group_and_a_memory_can_be_named(edited):
    entries = edited("journal", "--operation", "edit", "--json").json["entries"]
    assert edited("undo", str(entries[0]["id"])).code == 0
    assert edited("redo").code == 0
    assert edited("undo", entries[0]["group"]).code == 0
    assert edited("redo").code == 0
    assert edited("undo", "--memory", "1").code == 0
    assert edited("show", "1", "--text").out == "Ana lives in Lisbon"
    wrong = edited("undo", "999")
    assert (wrong.code, "999" in wrong.err) == (1, True)


def test_what_changed_since_is_named_and_left_alone(edited):
    entry = edited("journal", "--operation", "edit", "--json").json["entries"][0]
    edited("edit", "1", "--text", "Ana lives in Oslo")
    refused = edited("undo", str(entry["id"]))
    assert (refused.code, "#1 (text)" in refused.err) == (1, True)
    assert edited("show", "1", "--text").out == "Ana lives in Oslo"


def test_history_and_journal_tell_what_happened(edited):
    edited("undo")
    lines = edited("history", "1").lines
    assert [line[2] for line in lines] == ["memorize", "edit", "undo"]
    table = edited("history", "1", "--format", "table").out
    assert "edit (undone)" in table
    newest = edited("journal", "-n", "1", "--json").json["entries"][0]
    assert (newest["operation"], newest["undone"], newest["subject"]) == ("undo", False, 1)
    whole = edited("journal", "show", str(newest["id"]), "--json").json
    assert whole["changes"]["text"] == {
        "before": "Ana lives in Porto", "after": "Ana lives in Lisbon",
    }  # fmt: skip
    assert "Porto" in edited("journal", "show", str(newest["id"]), "--format", "table").out
    assert edited("journal", "show").code == 2
    assert edited("journal", "show", "x").code == 1


def test_the_past_can_be_looked_at(edited):
    at = edited("history", "1", "--json").json["entries"][0]["at"]
    page = edited("state-at", "0.001", "--json").json
    assert (page["total"], page["memories"][0]["text"]) == (1, "Ana lives in Porto")
    assert edited("show", "1", "--at", "0.001", "--text").out == "Ana lives in Porto"
    long_ago = edited("state-at", "2020-01-01", "--json").json
    assert (long_ago["total"], long_ago["reaches_back_to"]) == (0, None)
    assert edited("show", "1", "--at", "2020-01-01").code == 1
    assert edited("history", "1", "--diff", "0.001", "--json").json == []
    assert at


def test_erasing_says_what_it_reached(edited):
    answer = edited("forget", "1", "--erase", "--yes", "--json").json
    assert [memory["id"] for memory in answer["erased"]] == [1]
    assert (answer["failed"], answer["backups"]) == (0, [])
    assert answer["unreached"][-1].startswith("Copies outside the store")
    assert edited("show", "1").code == 1
