"""Edit: what is named changes everywhere, what is not named stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.domain.scope import Filters
from engine.use_cases.edit import EditRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, hits, remember, remember_all


def edit(engine: Engine, memory_id: int, **fields: object) -> tuple[str, ...]:
    return engine.edit(EditRequest(memory_id, fields), CALLER).changed


def test_only_what_is_named_changes(engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(engine, "文", tags=["a"], importance=0.8, summary="s", event_time=5.0)
    before = engine.get(memory_id)
    clock.advance(60)
    assert edit(engine, memory_id, tags=["b"]) == ("tags",)
    after = engine.get(memory_id)
    assert (after.tags, after.revision, after.updated_at) == (("b",), 2, before.updated_at + 60)
    for name in (
        "text",
        "importance",
        "summary",
        "event_time",
        "created_at",
        "uid",
        "content_hash",
    ):
        assert getattr(after, name) == getattr(before, name)


def test_null_clears_and_an_equal_value_writes_nothing(engine: Engine) -> None:
    memory_id = remember(engine, "文", tags=["a"], summary="s", event_time=5.0)
    assert edit(engine, memory_id, tags=["a"], summary=" s ", text="文") == ()
    assert engine.get(memory_id).revision == 1
    assert len(engine.history(memory_id)) == 1
    assert set(edit(engine, memory_id, tags=None, summary=None, event_time=None)) == {
        "tags", "summary", "event_time",
    }  # fmt: skip
    memory = engine.get(memory_id)
    assert (memory.tags, memory.summary, memory.event_time) == ((), None, None)


def test_the_journal_holds_changed_fields_alone(engine: Engine) -> None:
    memory_id = remember(engine, "甲", tags=["a"], importance=0.5)
    edit(engine, memory_id, text="乙", tags=["a"], importance=0.7)
    entry = engine.history(memory_id)[-1]
    assert (entry.operation, entry.actor) == ("edit", "test")
    assert entry.changes == {"text": ("甲", "乙"), "importance": (0.5, 0.7)}
    assert engine.history(memory_id)[0].changes == {}


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({}, "error.nothing_to_edit"),
        ({"text": None}, "error.not_clearable"),
        ({"text": " "}, "error.empty_text"),
        ({"importance": 7}, "error.out_of_range"),
        ({"id": 7}, "error.not_allowed"),
    ],
)
def test_a_bad_edit_changes_nothing(engine: Engine, fields: dict[str, object], key: str) -> None:
    memory_id = remember(engine, "文")
    with pytest.raises(InvalidInput) as caught:
        engine.edit(EditRequest(memory_id, {"tags": ["x"]} | fields if fields else {}), CALLER)
    assert caught.value.key in (key, "error.not_allowed_near")
    assert engine.get(memory_id).revision == 1


def test_a_stale_revision_is_refused_and_nothing_overwritten(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    first = engine.edit(EditRequest(memory_id, {"text": "甲"}, revision=1), CALLER)
    with pytest.raises(Conflict) as caught:
        engine.edit(EditRequest(memory_id, {"text": "乙"}, revision=1), CALLER)
    assert (caught.value.params["given"], caught.value.params["found"]) == (1, 2)
    assert engine.get(memory_id).text == "甲"
    again = engine.edit(EditRequest(memory_id, {"text": "乙"}, first.memory.revision), CALLER)
    assert again.memory.text == "乙"


def test_a_memory_in_the_trash_is_not_edited(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    revision = engine.delete(memory_id, CALLER).memory.revision
    with pytest.raises(Conflict) as caught:
        edit(engine, memory_id, text="新")
    assert caught.value.key == "error.edit_in_trash"
    assert engine.get(memory_id).revision == revision
    with pytest.raises(NotFound):
        edit(engine, 99, text="新")


@pytest.mark.parametrize("mode", ["auto", "keyword", "semantic"])
def test_the_new_wording_is_found_and_the_old_one_is_not(
    engine: Engine, home: Path, clock: FixedClock, mode: str
) -> None:
    with open_engine(home, environ=HASHING, clock=clock) as other:
        memory_id = remember(engine, "小雨在甲公司上班")
        fillers = remember_all(engine, ["丙公司在城东", "小雪在丁公司", "甲等奖学金"])
        assert found(other, "小雨在甲公司上班", k=1, mode=mode) == [memory_id]
        edit(engine, memory_id, text="小雨在乙公司上班")
        for opened in (engine, other):
            expect_the_new_wording(opened, memory_id, mode)
    engine.close()
    with open_engine(home, environ=HASHING, clock=clock) as restarted:
        expect_the_new_wording(restarted, memory_id, mode)
        assert {hit.memory.id for hit in hits(restarted, "公司", mode=mode)} <= {
            memory_id,
            *fillers,
        }
    assert disagreements(home / "jiyi.db") == []


def expect_the_new_wording(engine: Engine, memory_id: int, mode: str) -> None:
    best = hits(engine, "小雨在乙公司上班", k=1, mode=mode)[0]
    assert best.memory.id == memory_id
    assert best.memory.text == "小雨在乙公司上班"
    if mode != "keyword":
        assert best.cosine == pytest.approx(1.0, abs=0.01)
    if mode != "semantic":
        assert found(engine, "甲公司", k=1, mode=mode) != [memory_id]
        for hit in hits(engine, "甲公司", mode=mode):
            assert hit.memory.id != memory_id or "甲" not in hit.matched


def test_changed_lists_are_searched_and_filtered_by(engine: Engine) -> None:
    memory_id = remember(engine, "文", tags=["旧标签"])
    edit(engine, memory_id, tags=["新标签"], key_facts=["灯塔"])
    assert found(engine, "新标签", mode="keyword") == [memory_id]
    assert found(engine, "灯塔", mode="keyword") == [memory_id]
    assert "旧" not in hits(engine, "旧标签", mode="semantic")[0].matched
    assert engine.list(Filters(tags_all=("旧标签",))).total == 0
    assert engine.list(Filters(tags_all=("新标签",))).total == 1
    assert engine.statistics().by_tag == {"新标签": 1}


def test_edits_of_what_is_not_embedded_keep_the_vectors(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    with engine.context.database.read() as connection:
        before = connection.execute("SELECT id, vector FROM piece").fetchall()
    edit(engine, memory_id, tags=["a"], importance=0.9)
    with engine.context.database.read() as connection:
        after = connection.execute("SELECT id, vector FROM piece").fetchall()
    assert [tuple(row) for row in before] == [tuple(row) for row in after]


def test_twenty_edits_leave_one_change_and_twenty_journal_rows(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    for number in range(20):
        edit(engine, memory_id, text=f"文 {number}")
    with engine.context.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM change").fetchone()[0] == 1
        assert connection.execute("SELECT count(*) FROM piece").fetchone()[0] == 1
    assert len(engine.history(memory_id)) == 21
    assert engine.get(memory_id).revision == 21


def test_a_time_to_live_can_be_set_and_cleared(engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(engine, "文")
    engine.edit(EditRequest(memory_id, {}, ttl="1h"), CALLER)
    assert engine.get(memory_id).expires_at == clock.now() + 3600
    with pytest.raises(InvalidInput):
        engine.edit(EditRequest(memory_id, {"expires_at": None}, ttl="1h"), CALLER)
    edit(engine, memory_id, expires_at=None)
    clock.advance(7200)
    assert found(engine, "文") == [memory_id]


def test_an_edit_without_a_model_is_found_by_text_at_once(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "小雨在甲公司上班")
    done = keyword_engine.edit(EditRequest(f"#{memory_id}", {"text": "小雨在乙公司上班"}), CALLER)
    assert done.pending
    assert done.keywords_only is not None
    assert done.keywords_only.key == "error.model_off"
    assert hits(keyword_engine, "乙公司", k=1)[0].matched[0] == "乙"
