"""Records of structured kinds, and conversations summed up."""

from __future__ import annotations

import json

from engine.context import EngineContext
from tests.engine.mcp_server.talking import talk

TOOLS = ["core", "manage", "links", "records", "conversations"]
TALK = "Ana likes green tea.\nWe will meet on Friday."


def details_of(one, number):
    return json.loads(json.loads(one.ask("get_memory", id=number, format="json"))["details"])


def test_an_answer_closes_its_question_and_one_undo_opens_it_again(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        one.ask("record_question", question="Which database?", priority=1)
        answer = one.ask("record_decision", what="SQLite", why="one file", answers="#1")
        assert "answers question #1" in answer
        assert details_of(one, 1)["status"] == "answered"
        assert "SQLite" in details_of(one, 1)["answer"]
        assert "→ refines #1" in one.ask("neighbors", id=2)
        assert "closed already" in one.refused("record_knowledge", statement="x", answers=1)
        assert "not an open question" in one.refused("record_knowledge", statement="x", answers=2)
        one.ask("undo")
        assert "status" not in details_of(one, 1)
        assert "There is no" in one.ask("unlink_memories", source=2, target=1)


def test_every_part_of_a_record_is_found_by_its_words(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        one.ask("record_resolved", problem="启动很慢", cause="过早导入", fix="延迟加载")
        assert "│ 起因：过早导入" in one.ask("recall", query="过早导入")
        one.ask("record_decision", what="Rust", alternatives="Go; Zig", fields="tags=lang")
        assert details_of(one, 2)["alternatives"] == ["Go", "Zig"]
        assert "lang" in one.ask("get_memory", id=2)
        assert "needs what" in one.refused("record_decision", why="because")


def test_a_conversation_is_shown_first_and_stored_when_that_is_wanted(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        shown = one.ask("summarize_memory", conversation=TALK)
        assert "│ [summary of 2] Ana likes green tea.; We will meet" in shown
        assert "Not stored" in shown
        assert "Stored as #1" in one.ask("summarize_memory", conversation=TALK, store="yes")
        assert "either conversation or session" in one.refused("summarize_memory")
        assert "nowhere" in one.refused("summarize_memory", session="nowhere")
        long = one.ask("summarize_memory", conversation="字" * 30_000, format="json")
        assert len(long.encode()) <= 9_000


class Chat:
    """Says these things one after the other."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    def complete(self, messages, *, max_tokens=None, wait_s=None):
        return self.answers.pop(0)


def test_the_chat_model_is_asked_once_more_after_an_answer_that_is_no_use(tmp_path, monkeypatch):
    good = json.dumps({"summary": "Ana likes tea.", "topics": ["tea"], "importance": 0.6})
    said = Chat("certainly!", f"<think>hm {{}}</think>```json\n{good}\n```")
    monkeypatch.setattr(EngineContext, "chat", lambda self: said)
    with talk(tmp_path, toolsets=TOOLS) as one:
        answer = json.loads(one.ask("summarize_memory", conversation=TALK, format="json"))
        assert answer["summarizer"] == "chat" and answer["memory"]["topics"] == ["tea"]
        said.answers = ["no", "{}"]
        answer = json.loads(one.ask("summarize_memory", conversation=TALK, format="json"))
        assert answer["summarizer"] == "extractive" and "twice" in answer["problem"]
