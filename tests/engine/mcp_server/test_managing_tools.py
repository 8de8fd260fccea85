"""Deleting, merging and storing several, with the user asked first where the client can."""

from __future__ import annotations

import json

import pytest
from mcp_types import ElicitResult

from tests.engine.mcp_server.talking import talk

TOOLS = ["core", "manage"]


def answering(action, questions, **content):
    async def answer(context, params):
        questions.append(params.message)
        return ElicitResult(action=action, content=content or None)

    return answer


def stored(one, *texts, tags=()):
    for text in texts:
        one.ask("memorize", text=text, tags=list(tags))


def listed(one):
    return json.loads(one.ask("list_memories", format="json", limit=100))["total"]


def test_a_tag_is_matched_exactly_and_nothing_goes_without_consent(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        stored(one, "第一条", "第二条", tags=["测试"])
        stored(one, "第三条", tags=["测试环境"])
        shown = one.ask("delete_memories", tag="测试")
        assert "2 memories would go" in shown and "│ 第一条" in shown and "第三条" not in shown
        assert listed(one) == 3
        done = one.ask("delete_memories", tag="测试", confirm="yes")
        assert done.startswith("2 memories are in the trash")
        assert listed(one) == 1
        one.ask("undo")
        assert listed(one) == 3


@pytest.mark.parametrize("arguments", [{}, {"ids": []}, {"tag": ""}, {"ids": "", "tag": None}])
def test_a_deletion_that_names_nothing_is_refused(tmp_path, arguments):
    with talk(tmp_path, toolsets=TOOLS) as one:
        stored(one, "one")
        assert "ids or tag" in one.refused("delete_memories", confirm="yes", **arguments)
        assert listed(one) == 1


def test_one_unknown_id_keeps_all_from_being_deleted(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        stored(one, "one", "two")
        assert "#9" in one.refused("delete_memories", ids="1, 9", confirm="yes")
        assert listed(one) == 2
        assert "500 at most" in one.refused("delete_memories", ids=list(range(1, 502)))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_can_asks_its_user_whatever_the_model_confirmed(tmp_path, mode):
    questions: list[str] = []
    yes = answering("accept", questions, confirm=True)
    with talk(tmp_path, toolsets=TOOLS, mode=mode, asked=yes) as one:
        stored(one, "one", "two")
        assert one.ask("delete_memories", ids="1").startswith("1 memories are in the trash")
        assert "Move 1 memories" in questions[0] and "#1 │ one" in questions[0]
    no = answering("decline", questions)
    with talk(tmp_path, toolsets=TOOLS, mode=mode, asked=no) as one:
        assert "said no" in one.ask("delete_memories", ids="2", confirm="yes")
        assert listed(one) == 1
    assert len(questions) == 2


def test_five_hundred_go_at_once_as_one_group(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        for start in range(0, 500, 100):
            items = [{"text": f"note {start + place}", "tags": "bulk"} for place in range(100)]
            one.ask("memorize_many", items=items, format="json")
        shown = one.ask("delete_memories", tag="bulk")
        assert "500 memories would go" in shown and len(shown.encode()) <= 9_000
        answer = one.ask("delete_memories", tag="bulk", confirm="yes", format="json")
        assert json.loads(answer)["deleted"] == 500 and len(answer.encode()) <= 9_000
        one.ask("undo")
        assert listed(one) == 500


def test_many_are_checked_before_the_first_is_written(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        bad = [{"text": "fine"}, {"text": "bad", "kind": "decisoin"}]
        assert "2" in one.refused("memorize_many", items=bad)
        assert "decision" in one.refused("memorize_many", items=json.dumps(bad))
        assert listed(one) == 0
        one.ask("memorize_many", items="line one\nline two")
        assert listed(one) == 2
        assert "1 to 200" in one.refused("memorize_many", items="[]")


def test_what_says_the_same_is_merged_after_consent(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        stored(one, "The office is in Hangzhou", "The office is in Hangzhou")
        assert "1 groups would be merged" in one.ask("consolidate_memories")
        assert listed(one) == 2
        assert "Merged 1 groups" in one.ask("consolidate_memories", confirm="yes")
        assert listed(one) == 1


def test_a_superseded_memory_comes_back(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        stored(one, "the port is 8787", "the port is 9000")
        one.ask("supersede_memory", old=1, new=2)
        assert listed(one) == 1
        assert "nothing stands in its place" in one.ask("restore_memory", id=1)
        assert "already" in one.ask("restore_memory", id=1)
