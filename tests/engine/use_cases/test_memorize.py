"""Memorize: everything checked first, everything stored, nothing halved."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.scope import Filters
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import (
    CALLER,
    HASHING,
    found,
    remember,
    remember_all,
    within,
)


def refusal(engine: Engine, request: MemorizeRequest) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        engine.memorize(request, CALLER)
    assert engine.list().total == 0
    return caught.value


def test_a_memory_is_stored_with_defaults_for_what_is_left_out(engine: Engine) -> None:
    stored = engine.memorize(MemorizeRequest({"text": "文", "kind": None, "summary": None}), CALLER)
    memory = engine.get(stored.memory.id)
    assert memory == stored.memory
    assert (memory.kind, memory.importance, memory.trust) == ("semantic", 0.5, "assistant")
    assert (memory.workspace, memory.revision, memory.source) == ("global", 1, "chat")
    assert memory.created_at == memory.updated_at == engine.context.clock.now()
    assert (stored.pending, stored.keywords_only, stored.twins) == (False, None, ())


def test_every_authored_field_comes_back(engine: Engine) -> None:
    fields: dict[str, object] = {
        "text": "正文", "summary": "摘要", "persona_summary": "口吻", "kind": "decision",
        "topics": ["一"], "participants": ["小林"], "key_facts": ["事实"], "tags": ["标"],
        "sentiment": "negative", "polarity": -1, "importance": 0.9, "pinned": True,
        "private": True, "source": "import", "source_ref": "file:1", "trust": "user",
        "event_time": 1_700_000_000.0, "expires_at": 1_900_000_000.0,
    }  # fmt: skip
    memory = engine.memorize(MemorizeRequest(fields), CALLER).memory
    for name, value in fields.items():
        assert getattr(memory, name) == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize("name", ["summary", "topics", "participants", "key_facts", "tags"])
def test_what_stands_beside_the_text_is_found_too(engine: Engine, name: str) -> None:
    value: object = "罕见词语 zyx" if name == "summary" else ["罕见词语 zyx"]
    request = MemorizeRequest({"text": "正文", name: value})
    memory_id = engine.memorize(request, CALLER).memory.id
    remember(engine, "别的")
    assert found(engine, "罕见词语", k=1, mode="keyword") == [memory_id]
    assert found(engine, "zyx", k=1, mode="keyword") == [memory_id]


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        (MemorizeRequest({}), "error.empty_text"),
        (MemorizeRequest({"text": " \n"}), "error.empty_text"),
        (MemorizeRequest({"text": "a", "tag": []}), "error.not_allowed_near"),
        (MemorizeRequest({"text": "a", "expires_at": 1.0}), "error.expires_in_past"),
        (MemorizeRequest({"text": "a", "expires_at": 2e9}, ttl="1d"), "error.ttl_and_expiry"),
        (MemorizeRequest({"text": "a"}, ttl="-5"), "error.bad_duration"),
        (MemorizeRequest({"text": "a"}, ttl="0"), "error.bad_duration"),
        (MemorizeRequest({"text": "a"}, ttl=0), "error.bad_duration"),
        (MemorizeRequest({"text": "a"}, ttl="abc"), "error.bad_duration"),
        (MemorizeRequest({"text": "a"}, ttl="3650000000d"), "error.bad_duration"),
        (MemorizeRequest({"text": "a"}, workspace=" "), "error.bad_workspace"),
        (MemorizeRequest({"text": "a"}, workspace="x" * 101), "error.bad_workspace"),
    ],
)
def test_a_bad_request_is_refused_and_nothing_stored(
    engine: Engine, request_: MemorizeRequest, key: str
) -> None:
    assert refusal(engine, request_).key == key


def test_every_item_is_checked_before_the_first_is_written(engine: Engine) -> None:
    requests = [MemorizeRequest({"text": f"记忆 {number}"}) for number in range(450)]
    requests[411] = MemorizeRequest({"text": "坏", "importance": 2})
    with pytest.raises(InvalidInput) as caught:
        engine.memorize_many(requests, CALLER)
    assert caught.value.key == "error.bad_item"
    assert caught.value.params["item"] == 412
    reason = caught.value.params["reason"]
    assert isinstance(reason, JiyiError)
    assert reason.key == "error.out_of_range"
    assert engine.list().total == 0


def test_many_are_stored_in_order_as_one_group(engine: Engine, home: Path) -> None:
    ids = remember_all(engine, (f"记忆 number {number}" for number in range(450)))
    assert ids == list(range(1, 451))
    assert [engine.get(memory_id).text for memory_id in (1, 201, 450)] == [
        "记忆 number 0", "记忆 number 200", "记忆 number 449",
    ]  # fmt: skip
    groups = {engine.history(memory_id)[0].group_uid for memory_id in (1, 200, 201, 401, 450)}
    assert len(groups) == 1
    assert disagreements(home / "jiyi.db") == []
    assert engine.memorize_many([], CALLER) == []


def test_twins_are_named_within_the_workspace_alone(engine: Engine) -> None:
    other = remember(engine, "我下周参加高考", workspace="甲")
    first = engine.memorize(MemorizeRequest({"text": "我下周参加高考"}, workspace="乙"), CALLER)
    second = engine.memorize(MemorizeRequest({"text": "我下周参加高考"}, workspace="乙"), CALLER)
    assert first.twins == ()
    assert second.twins == (first.memory.id,)
    assert other not in second.twins
    engine.delete(first.memory.id, CALLER)
    third = engine.memorize(MemorizeRequest({"text": "我下周参加高考"}, workspace="乙"), CALLER)
    assert third.twins == (second.memory.id,)


def test_twins_of_one_batch_know_each_other(engine: Engine) -> None:
    done = engine.memorize_many([MemorizeRequest({"text": "同"})] * 3, CALLER)
    assert [item.twins for item in done] == [(), (1,), (1, 2)]


def test_the_workspace_comes_from_the_request_then_the_caller_then_global(engine: Engine) -> None:
    caller = Caller("mcp:x", workspace="项目  一", session_id="s", agent="a")
    memory = engine.memorize(MemorizeRequest({"text": "a"}), caller).memory
    assert (memory.workspace, memory.session_id, memory.agent) == ("项目 一", "s", "a")
    asked = MemorizeRequest({"text": "a"}, workspace="二", session_id="t", persona_id="p")
    memory = engine.memorize(asked, caller).memory
    assert (memory.workspace, memory.session_id, memory.persona_id) == ("二", "t", "p")
    assert engine.history(memory.id)[0].actor == "mcp:x"


def test_positions_count_within_a_session(engine: Engine) -> None:
    def position(session_id: str | None) -> int | None:
        request = MemorizeRequest({"text": "a"}, session_id=session_id)
        return engine.memorize(request, CALLER).memory.position

    assert [position(name) for name in ("a", "a", "b", None, "a")] == [0, 1, 0, None, 2]
    many = [MemorizeRequest({"text": "a"}, session_id="b")] * 3
    assert [item.memory.position for item in engine.memorize_many(many, CALLER)] == [1, 2, 3]


@pytest.mark.parametrize("given", [{"ttl": "1d"}, {"expires_at": 1_800_086_400.0}])
def test_a_memory_hides_when_its_time_is_up(
    engine: Engine, clock: FixedClock, given: dict[str, float]
) -> None:
    ttl = given.get("ttl")
    fields = {"text": "临时口令"} | {k: v for k, v in given.items() if k != "ttl"}
    memory = engine.memorize(MemorizeRequest(fields, ttl=ttl), CALLER).memory
    assert memory.expires_at == 1_800_086_400.0
    clock.advance(86_399)
    assert found(engine, "临时口令") == [memory.id]
    clock.advance(1)
    assert found(engine, "临时口令") == []
    assert engine.list().total == 0
    assert engine.get(memory.id).state(clock.now()) == "expired"
    lifted = Filters(include_expired=True)
    assert found(engine, "临时口令", filters=lifted) == [memory.id]


@pytest.mark.parametrize(
    "text", ["\ud83d 截断的表情", "前半\x00后半 尾词", "🎉", "\u200b零宽", "a" * 5000]
)
def test_odd_texts_are_stored_whole_and_found(engine: Engine, text: str) -> None:
    memory_id = remember(engine, text)
    stored = engine.get(memory_id).text
    assert stored == text.replace("\ud83d", "\ufffd").replace("\x00", "\ufffd")
    for word in ("截断的表情", "后半", "尾词", "🎉", "零宽"):
        if word in text:
            assert found(engine, word, k=1) == [memory_id]


def test_one_half_emoji_does_not_cost_its_neighbours(engine: Engine, home: Path) -> None:
    texts = [f"第 {number} 行" if number != 25 else "\ud83d 截断的表情" for number in range(50)]
    assert len(remember_all(engine, texts)) == 50
    assert found(engine, "截断的表情", k=1) == [26]
    assert disagreements(home / "jiyi.db") == []


def test_half_an_emoji_in_a_name_stops_nothing(engine: Engine) -> None:
    caller = Caller("mcp:\ud83d", workspace="w\ud83d", session_id="s\ud83d", agent="a\ud83d")
    request = MemorizeRequest({"text": "a"}, persona_id="p\ud83d")
    memory = engine.memorize(request, caller).memory
    assert (memory.workspace, memory.session_id) == ("w\ufffd", "s\ufffd")
    assert found(engine, "a", filters=within("w\ud83d", exact=True)) == [memory.id]
    assert found(engine, "a", filters=Filters(session_id="s\ud83d")) == [memory.id]
    assert engine.history(memory.id)[0].actor == "mcp:\ufffd"


def long_text(chars: int) -> str:
    sentence = "会议记录写得很长，每一段都要留下来。"
    return (sentence * (chars // len(sentence) + 1))[: chars - 6] + "尾标QX7"


@pytest.mark.parametrize("chars", [9_960, 400_000])
def test_a_long_text_is_kept_to_its_last_character_and_found_by_it(
    engine: Engine, chars: int
) -> None:
    text = long_text(chars)
    remember_all(engine, ["会议", "记录 很长"])
    stored = engine.memorize(MemorizeRequest({"text": text}), CALLER)
    assert engine.get(stored.memory.id).text == text
    assert found(engine, "尾标QX7", k=1, mode="keyword") == [stored.memory.id]
    assert stored.pending
    engine.drain(60.0)
    assert found(engine, "尾标QX7", k=1, mode="semantic") == [stored.memory.id]


def test_a_text_above_the_limit_is_refused_whole(home: Path) -> None:
    with open_engine(home, environ=HASHING | {"JIYI_MEMORY__MAX_CHARS": "1000"}) as engine:
        error = refusal(engine, MemorizeRequest({"text": "长" * 1001}))
        assert (error.params["length"], error.params["limit"]) == (1001, 1000)
        remember(engine, "长" * 1000)
    with open_engine(home.with_name("other"), environ=HASHING) as engine:
        assert refusal(engine, MemorizeRequest({"text": "x" * 20_000_000})).key == (
            "error.text_too_long"
        )


def test_without_a_kind_rules_choose_one_and_say_which(engine: Engine) -> None:
    stored = engine.memorize(MemorizeRequest({"text": "我们决定改用 Rust"}), CALLER)
    assert (stored.memory.kind, stored.kind_rule) == ("decision", "zh.decision")
    plain = engine.memorize(MemorizeRequest({"text": "小明是后端工程师"}), CALLER)
    assert (plain.memory.kind, plain.kind_rule) == ("semantic", "default")


def test_a_kind_that_is_given_wins(engine: Engine) -> None:
    request = MemorizeRequest({"text": "我们决定改用 Rust", "kind": "knowledge"})
    stored = engine.memorize(request, CALLER)
    assert (stored.memory.kind, stored.kind_rule) == ("knowledge", None)


def test_a_standing_instruction_is_suggested_alone(engine: Engine) -> None:
    stored = engine.memorize(MemorizeRequest({"text": "Never push to main"}), CALLER)
    assert stored.suggested_kind == "directive"
    assert stored.memory.kind != "directive"


def test_importance_is_scored_when_it_is_asked_for(engine: Engine) -> None:
    request = MemorizeRequest({"text": "我们决定改用 Rust 写解析器", "importance": "auto"})
    stored = engine.memorize(request, CALLER)
    assert (stored.memory.importance, stored.importance_rule) == (0.75, "zh.decision 0.75")
    plain = engine.memorize(MemorizeRequest({"text": "我们决定改用 Rust 写解析器"}), CALLER)
    assert (plain.memory.importance, plain.importance_rule) == (0.5, None)


def test_importance_is_scored_when_that_is_set_and_none_is_given(home: Path) -> None:
    environ = {
        "JIYI_MEMORY__AUTO_IMPORTANCE": "true",
        "JIYI_MEMORY__DEFAULT_KIND": "episodic",
    }
    with open_engine(home, environ=HASHING | environ) as engine:
        scored = engine.memorize(MemorizeRequest({"text": "我们决定改用 Rust 写解析器"}), CALLER)
        assert scored.memory.importance == 0.75
        given = engine.memorize(MemorizeRequest({"text": "记住", "importance": 0.2}), CALLER)
        assert (given.memory.importance, given.importance_rule) == (0.2, None)
        plain = engine.memorize(MemorizeRequest({"text": "小明是后端工程师"}), CALLER)
        assert (plain.memory.kind, plain.kind_rule) == ("episodic", "default")
