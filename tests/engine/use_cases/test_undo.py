"""Undo and redo: all of a change or nothing, and the store agrees with itself afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, NotFound
from engine.use_cases import bulk
from engine.use_cases.bulk import BulkRequest
from engine.use_cases.edit import EditRequest
from engine.use_cases.undo import UndoRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, found, remember, remember_all

OTHER = Caller("mcp:other")


def edit(engine: Engine, memory_id: int, caller: Caller = CALLER, **fields: object) -> None:
    """Edit one memory."""
    engine.edit(EditRequest(memory_id, fields), caller)


def test_an_edit_is_undone_with_all_its_layers_and_redone(engine: Engine, home: Path) -> None:
    memory_id = remember(engine, "Ana lives in Lisbon", tags=["home"])
    before = engine.get(memory_id)
    edit(engine, memory_id, text="Ana lives in Porto", tags=["moved"], importance=0.9)
    undone = engine.journal.undo(CALLER)
    assert (undone.operation, undone.memory_ids) == ("undo", (memory_id,))
    again = engine.get(memory_id)
    assert (again.text, again.tags, again.importance) == (before.text, before.tags, 0.5)
    assert (again.content_hash, again.revision) == (before.content_hash, 3)
    assert found(engine, "Lisbon", mode="keyword") == [memory_id]
    assert found(engine, "Porto", mode="keyword") == []
    facts = engine.context.database
    with facts.read() as connection:
        rows = connection.execute("SELECT text FROM atom WHERE state = 'active'").fetchall()
    assert [row[0] for row in rows] == ["Ana lives in Lisbon"]
    assert disagreements(home / "jiyi.db") == []
    redone = engine.journal.redo(CALLER)
    assert redone.operation == "redo"
    assert engine.get(memory_id).text == "Ana lives in Porto"
    assert found(engine, "Porto", mode="semantic")[0] == memory_id
    assert disagreements(home / "jiyi.db") == []


def test_undo_goes_further_back_each_time_and_redo_returns_until_something_new(
    engine: Engine,
) -> None:
    memory_id = remember(engine, "one")
    for text in ("two", "three", "four"):
        edit(engine, memory_id, text=text)
    seen = []
    for _ in range(3):
        engine.journal.undo(CALLER)
        seen.append(engine.get(memory_id).text)
    assert seen == ["three", "two", "one"]
    assert [_redone_text(engine, memory_id) for _ in range(2)] == ["two", "three"]
    engine.journal.undo(CALLER)
    assert engine.get(memory_id).text == "two"
    edit(engine, memory_id, text="new")
    with pytest.raises(NotFound, match="nothing_to_redo"):
        engine.journal.redo(CALLER)
    engine.journal.undo(CALLER)
    assert engine.get(memory_id).text == "two"


def _redone_text(engine: Engine, memory_id: int) -> str:
    engine.journal.redo(CALLER)
    return engine.get(memory_id).text


def test_undo_without_a_target_is_of_the_callers_own_changes(engine: Engine) -> None:
    mine, theirs = remember(engine, "mine"), remember(engine, "theirs")
    edit(engine, mine, text="mine two")
    edit(engine, theirs, OTHER, text="theirs two")
    engine.journal.undo(CALLER)
    assert (engine.get(mine).text, engine.get(theirs).text) == ("mine", "theirs two")
    with pytest.raises(NotFound, match="nothing_to_redo"):
        engine.journal.redo(OTHER)


def test_what_was_changed_since_is_not_clobbered_and_nothing_is_done(engine: Engine) -> None:
    ids = remember_all(engine, [f"Memory {number}" for number in range(60)])
    done = bulk.change_many(
        engine.context, BulkRequest(ids, "edit", {"importance": 0.9}, ("x",)), CALLER
    )
    edit(engine, ids[7], OTHER, tags=["x", "y"])
    edit(engine, ids[8], OTHER, summary="another field")
    with pytest.raises(Conflict) as failure:
        engine.journal.undo(CALLER, UndoRequest(group=done.group_uid))
    assert failure.value.params["what"] == f"#{ids[7]} (tags)"
    assert {engine.get(key).importance for key in ids} == {0.9}
    edit(engine, ids[7], OTHER, tags=["x"])
    engine.journal.undo(CALLER, UndoRequest(group=done.group_uid[-8:]))
    assert {engine.get(key).importance for key in ids} == {0.5}
    assert engine.get(ids[8]).summary == "another field"


def test_a_bulk_edit_is_undone_redone_and_seen_in_the_past(
    engine: Engine, clock: FixedClock, home: Path
) -> None:
    ids = remember_all(engine, [f"Memory {number}" for number in range(60)])
    moments = {}

    def moment(name: str) -> None:
        clock.advance(10)
        moments[name] = clock.now()
        clock.advance(10)

    moment("before")
    bulk.change_many(engine.context, BulkRequest(ids, "edit", {}, ("bulk",)), CALLER)
    moment("edited")
    assert len(engine.journal.undo(CALLER).entries) == 60
    moment("undone")
    assert len(engine.journal.redo(CALLER).entries) == 60
    moment("redone")
    tagged = ("bulk",)
    seen = {"before": (), "edited": tagged, "undone": (), "redone": tagged}
    for name, tags in seen.items():
        page = engine.journal.state_at(moments[name])
        assert (page.total, {memory.tags for memory in page.memories}) == (60, {tags})
    assert disagreements(home / "jiyi.db") == []


@pytest.mark.parametrize("action", ["delete", "archive", "pin"])
def test_states_are_undone_and_redone(engine: Engine, home: Path, action: str) -> None:
    ids = remember_all(engine, ["Ana keeps bees", "Bob keeps goats"])
    bulk.change_many(engine.context, BulkRequest(ids, action), CALLER)
    changed = [engine.get(key) for key in ids]
    engine.journal.undo(CALLER)
    assert all(engine.get(key).state(0.0) == "live" for key in ids)
    assert found(engine, "bees")[:1] == ids[:1]
    assert disagreements(home / "jiyi.db") == []
    engine.journal.redo(CALLER)
    again = [engine.get(key) for key in ids]
    assert [(m.deleted_at, m.archived_at, m.pinned) for m in again] == [
        (m.deleted_at, m.archived_at, m.pinned) for m in changed
    ]
    assert disagreements(home / "jiyi.db") == []


def test_an_undone_new_memory_lies_in_the_trash_and_comes_back(engine: Engine) -> None:
    memory_id = remember(engine, "door code rule")
    engine.journal.undo(CALLER)
    assert engine.get(memory_id).deleted_at is not None
    assert found(engine, "door code") == []
    engine.journal.redo(CALLER)
    assert found(engine, "door code") == [memory_id]


def test_a_new_memory_that_others_went_on_writing_stays(engine: Engine) -> None:
    memory_id = remember(engine, "text")
    edit(engine, memory_id, OTHER, summary="s")
    with pytest.raises(Conflict, match="summary"):
        engine.journal.undo(CALLER)
    assert engine.get(memory_id).deleted_at is None


def test_one_entry_of_a_group_can_be_undone_and_then_the_rest(engine: Engine) -> None:
    ids = remember_all(engine, ["one", "two", "three"])
    bulk.change_many(engine.context, BulkRequest(ids, "pin"), CALLER)
    entry = engine.journal.history(ids[1])[-1]
    engine.journal.undo(CALLER, UndoRequest(entry=entry.id))
    assert [engine.get(key).pinned for key in ids] == [True, False, True]
    with pytest.raises(Conflict, match="undo_already"):
        engine.journal.undo(CALLER, UndoRequest(entry=entry.id))
    engine.journal.undo(CALLER, UndoRequest(group=entry.group_uid))
    assert not any(engine.get(key).pinned for key in ids)
    with pytest.raises(Conflict, match="undo_group_done"):
        engine.journal.undo(CALLER, UndoRequest(group=entry.group_uid))


def test_a_preview_says_what_the_undo_does_and_writes_nothing(engine: Engine) -> None:
    memory_id = remember(engine, "one")
    edit(engine, memory_id, text="two")
    entries = len(engine.journal.tail(100))
    preview = engine.journal.undo(CALLER, apply=False)
    assert (engine.get(memory_id).text, len(engine.journal.tail(100))) == ("two", entries)
    done = engine.journal.undo(CALLER)
    assert preview.entries == done.entries
    assert (preview.memory_ids, preview.applied) == (done.memory_ids, False)


def test_the_last_change_of_a_memory_is_undone_whoever_made_it(engine: Engine) -> None:
    first, second = remember_all(engine, ["one", "two"])
    edit(engine, first, OTHER, text="other")
    edit(engine, second, text="second")
    engine.journal.undo(CALLER, UndoRequest(memory=first))
    assert (engine.get(first).text, engine.get(second).text) == ("one", "second")


def test_an_erased_memory_cannot_be_brought_back(engine: Engine) -> None:
    memory_id = remember(engine, "secret")
    edit(engine, memory_id, text="secret two")
    history = engine.journal.history(memory_id)
    engine.erase(memory_id, CALLER)
    with pytest.raises(Conflict, match="undo_cannot"):
        engine.journal.undo(CALLER, UndoRequest(entry=history[-1].id))
    with pytest.raises((Conflict, NotFound)):
        engine.journal.undo(CALLER)
