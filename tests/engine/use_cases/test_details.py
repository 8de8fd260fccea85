"""Details of structured kinds, stored, shown and changed with their memory."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain import details
from engine.domain.errors import InvalidInput
from engine.use_cases.edit import EditRequest
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.use_cases.shortcuts import CALLER, remember


def test_details_are_stored_and_choose_the_kind_where_none_is_given(engine: Engine) -> None:
    fields = {"text": "预算谁来批", "details": {"priority": 1, "status": "open"}}
    stored = engine.memorize(MemorizeRequest(fields), CALLER)
    assert (stored.memory.kind, stored.kind_rule) == ("question", "details")
    assert details.read(engine.get(stored.memory.id).details) == {"priority": 1, "status": "open"}


def test_details_of_another_kind_are_refused_and_nothing_is_stored(engine: Engine) -> None:
    fields = {"text": "a", "kind": "decision", "details": {"fix": "x"}}
    with pytest.raises(InvalidInput, match="details_of_kind"):
        engine.memorize(MemorizeRequest(fields), CALLER)
    assert engine.list().total == 0


def test_an_edit_changes_details_and_the_journal_knows_both(engine: Engine) -> None:
    memory_id = remember(engine, "用 Rust", kind="decision", details={"what": "Rust"})
    edit = EditRequest(memory_id, {"details": {"what": "Rust", "why": "快"}})
    edited = engine.edit(edit, CALLER)
    assert edited.changed == ("details",)
    assert engine.edit(edit, CALLER).changed == ()
    before, after = engine.history(memory_id)[-1].changes["details"]
    assert details.read(str(before)) == {"what": "Rust"}
    assert details.read(str(after)) == {"what": "Rust", "why": "快"}
    assert engine.edit(EditRequest(memory_id, {"details": None}), CALLER).memory.details is None


def test_a_kind_that_the_details_do_not_fit_is_refused(engine: Engine) -> None:
    memory_id = remember(engine, "用 Rust", kind="decision", details={"what": "Rust"})
    with pytest.raises(InvalidInput, match="kind_without_details"):
        engine.edit(EditRequest(memory_id, {"kind": "semantic"}), CALLER)
    cleared = {"kind": "semantic", "details": None}
    assert engine.edit(EditRequest(memory_id, cleared), CALLER).memory.kind == "semantic"


def test_a_copy_keeps_its_details(engine: Engine) -> None:
    memory_id = remember(engine, "用 Rust", "甲", kind="decision", details={"what": "Rust"})
    engine.copy_workspace("甲", "乙", CALLER, lambda done, total: None)
    copies = [m for m in engine.list().memories if m.workspace == "乙"]
    assert [copy.details for copy in copies] == [engine.get(memory_id).details]
