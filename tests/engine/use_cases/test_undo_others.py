"""Undo of what is no memory: links, facts, atoms, names of the graph, workspaces, strength."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, NotFound
from engine.domain.fact import FactRequest
from engine.domain.graph import PERSON, NodeKey
from engine.storage import graph
from engine.use_cases import decay
from engine.use_cases.undo import UndoRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, remember, remember_all

OTHER = Caller("mcp:other")


def rows(engine: Engine, sql: str) -> list[tuple[object, ...]]:
    """Rows of a query."""
    with engine.context.database.read() as connection:
        return [tuple(row) for row in connection.execute(sql)]


def no_progress(done: int, total: int) -> None:
    """Progress that nobody looks at."""


def test_links_are_undone_and_redone_all_of_a_pair_at_once(engine: Engine) -> None:
    first, second = remember_all(engine, ["one", "two"])
    engine.links.link(first, second, CALLER)
    engine.links.link(first, second, CALLER, relation="refines")
    linked = rows(engine, "SELECT * FROM link ORDER BY relation")
    engine.links.unlink(first, second, CALLER)
    assert rows(engine, "SELECT * FROM link") == []
    engine.journal.undo(CALLER)
    assert rows(engine, "SELECT * FROM link ORDER BY relation") == linked
    engine.journal.undo(CALLER)
    assert [row[2] for row in rows(engine, "SELECT * FROM link")] == ["related"]
    engine.journal.redo(CALLER)
    assert rows(engine, "SELECT * FROM link ORDER BY relation") == linked


def test_a_link_that_is_there_again_is_not_made_twice(engine: Engine) -> None:
    first, second = remember_all(engine, ["one", "two"])
    engine.links.link(first, second, CALLER)
    engine.links.unlink(first, second, CALLER)
    engine.links.link(first, second, OTHER)
    with pytest.raises(Conflict, match="undo_changed"):
        engine.journal.undo(CALLER)
    assert len(rows(engine, "SELECT * FROM link")) == 1


def test_a_fact_and_what_it_closed_are_undone_as_one(engine: Engine) -> None:
    engine.facts.add(FactRequest("Ana", "lives in", "Lisbon", valid_from=1.0e9), CALLER)
    before = rows(engine, "SELECT id, uid, object, valid_from, valid_to FROM fact")
    engine.facts.add(
        FactRequest("Ana", "lives in", "Porto", valid_from=1.5e9, functional=True), CALLER
    )
    after = rows(engine, "SELECT id, uid, object, valid_from, valid_to FROM fact")
    assert len(after) == 2
    engine.journal.undo(CALLER)
    assert rows(engine, "SELECT id, uid, object, valid_from, valid_to FROM fact") == before
    engine.journal.redo(CALLER)
    assert rows(engine, "SELECT id, uid, object, valid_from, valid_to FROM fact") == after


def test_a_fact_that_was_changed_since_stays(engine: Engine) -> None:
    made = engine.facts.add(FactRequest("Ana", "lives in", "Lisbon", valid_from=1.0e9), CALLER)
    engine.facts.invalidate(made.fact.id, OTHER, 1.5e9)
    with pytest.raises(Conflict, match="valid_to"):
        engine.journal.undo(CALLER)


def test_what_somebody_did_to_an_atom_is_undone(engine: Engine) -> None:
    remember(engine, "x", key_facts=["Ana plans to visit Oslo next week"])
    columns = "id, type, state, expires_at, reinforced, ttl_days, confidence, rule, curve"
    before = rows(engine, f"SELECT {columns} FROM atom ORDER BY id")
    atom_id = int(str(before[0][0]))
    engine.reinforce_atom(atom_id, CALLER)
    engine.correct_atom_type(atom_id, "preference", CALLER)
    after = rows(engine, f"SELECT {columns} FROM atom ORDER BY id")
    assert after != before
    engine.journal.undo(CALLER)
    engine.journal.undo(CALLER)
    assert rows(engine, f"SELECT {columns} FROM atom ORDER BY id") == before
    engine.journal.redo(CALLER)
    engine.journal.redo(CALLER)
    assert rows(engine, f"SELECT {columns} FROM atom ORDER BY id") == after


def people(engine: Engine) -> dict[str, int]:
    """The people of the graph and how many memories name each."""
    with engine.context.database.read() as connection:
        nodes = graph.list_nodes(connection, PERSON, 50, engine.context.clock.now())
    return {node.name: node.memories for node in nodes}


def test_a_merge_of_names_is_undone_with_the_names_that_followed(engine: Engine) -> None:
    for name in ("Ana", "Anna", "Anne"):
        remember(engine, f"{name} keeps bees", participants=[name])
    apart = people(engine)
    engine.merge_nodes("Anne", "Anna", CALLER)
    engine.merge_nodes("Anna", "Ana", CALLER)
    assert people(engine) == {"Ana": 3}
    engine.journal.undo(CALLER)
    assert sum(people(engine).values()) == 3
    with engine.context.database.read() as connection:
        meant = graph.resolved(connection, NodeKey(PERSON, "anne"))
    assert meant.canonical == "anna"
    engine.journal.undo(CALLER)
    assert people(engine) == apart
    engine.journal.redo(CALLER)
    engine.journal.redo(CALLER)
    assert people(engine) == {"Ana": 3}


def test_a_rename_of_a_name_is_undone_and_redone(engine: Engine, home: Path) -> None:
    remember(engine, "Bob keeps goats", participants=["Bob"])
    engine.rename_node("Bob", "Robert", CALLER)
    engine.journal.undo(CALLER)
    assert people(engine) == {"Bob": 1}
    assert rows(engine, "SELECT * FROM graph_alias") == []
    engine.journal.redo(CALLER)
    assert people(engine) == {"Robert": 1}
    remember(engine, "Bob has a boat", participants=["Bob"])
    assert people(engine) == {"Robert": 2}
    assert disagreements(home / "jiyi.db") == []


def test_a_separation_of_names_is_undone(engine: Engine) -> None:
    for name in ("Ana", "Anna"):
        remember(engine, f"{name} keeps bees", participants=[name])
    engine.merge_nodes("Anna", "Ana", CALLER)
    engine.separate_name("Anna", CALLER)
    assert people(engine) == {"Ana": 1, "Anna": 1}
    engine.journal.undo(CALLER)
    assert people(engine) == {"Ana": 2}
    engine.journal.redo(CALLER)
    assert people(engine) == {"Ana": 1, "Anna": 1}


def test_a_workspace_is_undone_as_it_was_changed(engine: Engine) -> None:
    engine.create_workspace("alpha", CALLER, domain="work")
    engine.rename_workspace("alpha", "beta", CALLER)
    engine.move_workspace("beta", "personal", CALLER)
    state = "SELECT id, name, domain FROM workspace WHERE name IN ('alpha', 'beta')"
    whole = rows(engine, state)
    seen = []
    for _ in range(3):
        engine.journal.undo(CALLER)
        seen.append([row[1:] for row in rows(engine, state)])
    assert seen == [[("beta", "work")], [("alpha", "work")], []]
    for _ in range(3):
        engine.journal.redo(CALLER)
    assert rows(engine, state) == whole


def test_a_workspace_in_use_stays(engine: Engine) -> None:
    engine.create_workspace("alpha", CALLER)
    remember(engine, "text", workspace="alpha")
    with pytest.raises(Conflict, match="undo_workspace_used"):
        entry = next(e for e in engine.journal.tail(50) if e.subject_kind == "workspace")
        engine.journal.undo(CALLER, UndoRequest(entry=entry.id))


def test_deleting_and_copying_a_workspace_are_one_step_each(engine: Engine, home: Path) -> None:
    remember_all(engine, [f"Memory {number}" for number in range(12)], workspace="alpha")
    engine.delete_workspace("alpha", CALLER, no_progress)
    assert engine.workspace("alpha").memories == 0
    engine.journal.undo(CALLER)
    assert engine.workspace("alpha").memories == 12
    engine.copy_workspace("alpha", "beta", CALLER, no_progress)
    assert engine.workspace("beta").memories == 12
    engine.journal.undo(CALLER)
    assert (engine.workspace("beta").memories, engine.workspace("beta").in_trash) == (0, 12)
    engine.journal.redo(CALLER)
    assert engine.workspace("beta").memories == 12
    assert disagreements(home / "jiyi.db") == []


def test_upkeeps_own_entries_are_passed_over(engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(engine, "one")
    clock.advance(3 * 86_400)
    decay.apply_decay(engine.context)
    engine.journal.undo(CALLER)
    assert engine.get(memory_id).deleted_at is not None
    with pytest.raises(NotFound):
        engine.journal.undo(Caller("maintenance"))
