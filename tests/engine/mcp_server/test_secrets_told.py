"""An assistant is told which secrets were masked, and its own recall is not stored again."""

import json

import pytest

from tests.engine.mcp_server.talking import talk


@pytest.fixture
def one(tmp_path):
    with talk(tmp_path) as connected:
        yield connected


def test_memorize_and_edit_say_what_was_masked(one):
    answer = one.ask("memorize", text="路由器密码是 hunter2")
    assert "masked" in answer and "hunter2" not in answer
    edited = one.ask("edit_memory", id="1", text="口令：hunter2", format="json")
    assert "masked" in json.loads(edited)["notices"][0]
    assert "hunter2" not in one.ask("get_memory", id="1")


def test_an_answer_handed_back_is_refused_and_the_store_does_not_grow(one):
    for text in ("小雨喜欢徒步", "小雨在灯塔计划里管预算"):
        one.ask("memorize", text=text)
    block = one.ask("recall", query="小雨")
    for _ in range(5):
        told = one.refused("memorize", text=block)
        assert "stored already" in told
    assert json.loads(one.ask("list_memories", format="json"))["total"] == 2
