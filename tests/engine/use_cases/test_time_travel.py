"""The store as it was: folded back from the journal, equal to what was there then."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.differences import text_differences
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.memory import Memory
from engine.domain.trail import TailFilters
from engine.use_cases import purge
from engine.use_cases.edit import EditRequest
from engine.use_cases.undo import UndoRequest
from tests.engine.use_cases.shortcuts import CALLER, remember, remember_all

MAINTENANCE = Caller("maintenance")


def pause(clock: FixedClock) -> float:
    """A moment between what was and what follows."""
    clock.advance(10)
    moment = clock.now()
    clock.advance(10)
    return moment


def all_of(engine: Engine) -> dict[int, Memory]:
    """Every memory outside the trash as it is now."""
    return {memory.id: memory for memory in engine.list(limit=1000).memories}


def test_the_past_is_what_was_there_then(engine: Engine, clock: FixedClock) -> None:
    snapshots: dict[float, dict[int, Memory]] = {}

    def note() -> None:
        moment = pause(clock)
        snapshots[moment] = all_of(engine)

    first, second, third = remember_all(engine, ["Ana lives in Lisbon", "two", "three"])
    note()
    engine.edit(EditRequest(first, {"text": "Ana lives in Porto", "tags": ["a"]}), CALLER)
    note()
    engine.delete(second, CALLER)
    fourth = remember(engine, "four")
    note()
    engine.journal.undo(CALLER, UndoRequest(memory=first))
    note()
    engine.restore(second, CALLER)
    engine.delete(third, CALLER)
    engine.edit(EditRequest(fourth, {"importance": 0.9}), CALLER)
    note()
    engine.edit(EditRequest(fourth, {"text": "four and more"}), CALLER)
    for moment, expected in snapshots.items():
        page = engine.journal.state_at(moment)
        assert {memory.id: memory for memory in page.memories} == expected
        assert (page.total, page.reaches_back_to) == (len(expected), None)


def test_purged_memories_are_shown_in_the_past_and_erased_ones_counted(
    engine: Engine, clock: FixedClock
) -> None:
    purged, erased, kept = remember_all(engine, ["to purge", "to erase", "to keep"])
    moment = pause(clock)
    before = all_of(engine)[purged]
    engine.delete(purged, CALLER)
    clock.advance(40 * 86_400)
    purge.purge(engine.context, MAINTENANCE, apply=True)
    engine.erase(erased, CALLER)
    with pytest.raises(NotFound):
        engine.get(purged)
    page = engine.journal.state_at(moment)
    assert {memory.id for memory in page.memories} == {purged, kept}
    assert page.erased == 1
    assert engine.journal.get_at(purged, moment) == before
    with pytest.raises(NotFound):
        engine.journal.get_at(erased, moment)


def test_a_purged_memory_comes_back_with_all_it_had(engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(engine, "Ana keeps bees", tags=["Tiere"], key_facts=["Ana has bees"])
    other = remember(engine, "Bees need flowers")
    engine.links.link(memory_id, other, CALLER)
    engine.delete(memory_id, CALLER)
    before = engine.get(memory_id)
    clock.advance(40 * 86_400)
    purge.purge(engine.context, MAINTENANCE, apply=True)
    undone = engine.journal.undo(MAINTENANCE)
    assert memory_id in undone.memory_ids
    assert engine.get(memory_id) == before
    assert _links(engine) == [(memory_id, other, "related")]
    engine.restore(memory_id, CALLER)
    assert [hit.id for hit in all_of(engine).values()] == [other, memory_id]
    assert engine.diagnose().counts.agree


def test_redoing_a_purge_removes_the_memory_again(engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(engine, "Ana keeps bees")
    engine.delete(memory_id, CALLER)
    clock.advance(40 * 86_400)
    purge.purge(engine.context, MAINTENANCE, apply=True)
    engine.journal.undo(MAINTENANCE)
    engine.journal.redo(MAINTENANCE)
    with pytest.raises(NotFound):
        engine.get(memory_id)
    engine.journal.undo(MAINTENANCE)
    assert engine.get(memory_id).text == "Ana keeps bees"


def _links(engine: Engine) -> list[tuple[int, int, str]]:
    with engine.context.database.read() as connection:
        rows = connection.execute("SELECT source_id, target_id, relation FROM link").fetchall()
    return [tuple(row) for row in rows]


def test_a_memory_is_not_there_before_it_was_written(engine: Engine, clock: FixedClock) -> None:
    moment = pause(clock)
    memory_id = remember(engine, "later")
    with pytest.raises(NotFound, match="not_there_then"):
        engine.journal.get_at(memory_id, moment)
    assert engine.journal.state_at(moment).total == 0


def test_versions_differ_word_by_word(engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(engine, "Ana lives in Lisbon", tags=["a"])
    moment = pause(clock)
    engine.edit(EditRequest(memory_id, {"text": "Ana works in Porto", "tags": []}), CALLER)
    text, tags = engine.journal.differences(memory_id, moment)
    assert [(item.change, item.text) for item in text.stretches] == [
        ("same", "Ana "), ("removed", "lives"), ("added", "works"), ("same", " in "),
        ("removed", "Lisbon"), ("added", "Porto"),
    ]  # fmt: skip
    assert (tags.name, tags.before, tags.after) == ("tags", ("a",), ())
    chinese = text_differences("我住在北京", "我住在上海")
    assert "".join(item.text for item in chinese if item.change != "added") == "我住在北京"
    assert [item.text for item in chinese if item.change == "same"] == ["我住在"]


def test_the_tail_is_newest_first_and_can_be_narrowed(engine: Engine, clock: FixedClock) -> None:
    first = remember(engine, "one")
    moment = pause(clock)
    engine.edit(EditRequest(first, {"text": "two"}), Caller("mcp:x"))
    engine.delete(first, CALLER)
    operations = [entry.operation for entry in engine.journal.tail(10)]
    assert [name for name in operations if name in ("memorize", "edit", "delete")] == [
        "delete", "edit", "memorize",
    ]  # fmt: skip
    assert [e.operation for e in engine.journal.tail(9, TailFilters(actor="mcp:x"))][:1] == ["edit"]
    assert len(engine.journal.tail(9, TailFilters(operation="memorize"))) == 1
    assert all(e.at > moment for e in engine.journal.tail(9, TailFilters(since=moment)))
    with pytest.raises(InvalidInput):
        engine.journal.tail(0)


def test_history_holds_what_a_memory_was_only_the_other_end_of(engine: Engine) -> None:
    old, new = remember_all(engine, ["old way", "new way"])
    engine.links.supersede(old, new, CALLER)
    assert {entry.subject_id for entry in engine.journal.history(new)} >= {old, new}
    engine.journal.undo(CALLER)
    assert engine.get(old).superseded_at is None
    assert _links(engine) == []
    engine.journal.redo(CALLER)
    assert engine.get(old).superseded_by == new
    assert _links(engine) == [(new, old, "supersedes")]
