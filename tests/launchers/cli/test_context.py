"""pack, context, auto-context and briefing."""

from __future__ import annotations

import pytest


@pytest.fixture
def filled(jiyi):
    jiyi("remember", "Always answer in Chinese", "--kind", "directive")
    jiyi("remember", "我喜欢乌龙茶", "--tag", "tea")
    jiyi("remember", "数据库选用 SQLite", "--kind", "decision")
    return jiyi


def test_the_text_for_a_prompt_comes_through_a_pipe_as_it_is(filled):
    answer = filled("pack", "乌龙茶", "--tag", "tea")
    assert answer.code == 0
    assert answer.out.splitlines()[0].startswith("Recorded memories, one a line")
    assert answer.out.splitlines()[1].startswith("- (semantic, ")
    assert answer.out.splitlines()[1].endswith(") 我喜欢乌龙茶 [#2]")
    assert answer.out.splitlines()[-1] == "End of recorded memories."


def test_json_has_every_line_with_its_cost(filled):
    record = filled("pack", "乌龙茶", "--json", "--budget", "60").json
    assert record["query"] == "乌龙茶" and record["budget_tokens"] == 60
    assert sum(item["tokens"] for item in record["items"]) == record["used_tokens"] <= 60
    assert record["items"][0]["ids"] == [2]
    rows = filled("pack", "乌龙茶", "--format", "tsv").lines
    assert rows[0][:3] == ["memories", "#2", "semantic"]


def test_context_begins_with_directives(filled):
    out = filled("context").out
    assert out.index("Always answer in Chinese") < out.index("乌龙茶")
    record = filled("context", "乌龙茶", "--mode", "coding", "--json").json
    assert (record["mode"], record["topic"], record["workspace"]) == ("coding", "乌龙茶", "global")
    assert [item["section"] for item in record["items"]] == ["directives", "topic"]


def test_a_task_may_come_from_standard_input(filled):
    record = filled("auto-context", "-", "--json", stdin="买一点乌龙茶\n".encode()).json
    assert record["task"] == "买一点乌龙茶"
    assert [item["ids"] for item in record["items"]] == [[2]]
    nothing = filled("auto-context", "ZXQ_20260503")
    assert (nothing.code, nothing.out) == (0, "")
    assert "Nothing remembered is near enough" in nothing.err


def test_the_briefing_is_served_and_made_anew(filled):
    assert "数据库选用 SQLite" in filled("briefing").out
    filled("remember", "码头在三号门")
    stale = filled("briefing", "--json").json
    assert stale["stale"] is True and "码头" not in stale["text"]
    fresh = filled("briefing", "--refresh", "--json").json
    assert fresh["stale"] is False and "码头" in fresh["text"]


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("command", ["pack", "context", "auto-context", "briefing"])
def test_help_is_whole_in_both_languages(jiyi, command, language):
    answer = jiyi(command, "--help", "--lang", language)
    assert answer.code == 0 and "cli." not in answer.out


def test_mistakes_are_one_sentence(jiyi):
    assert "did you mean “coding”" in jiyi("context", "--mode", "codng").err
    assert "20 to 100000" in jiyi("pack", "x", "--budget", "3").err
