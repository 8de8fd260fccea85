"""Whatever was done can be undone and redone, and every moment of it can be looked at."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.bootstrap import Engine
from engine.domain.clock import FixedClock
from engine.domain.errors import JiyiError, NotFound
from engine.domain.memory import Memory
from engine.domain.scope import Filters
from engine.use_cases import bulk, purge
from engine.use_cases.bulk import BulkRequest
from engine.use_cases.edit import EditRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, remember

TEXTS = ("Ana lives in Lisbon", "Ana lives in Porto", "Bob keeps goats", "我住在北京")
EVERYTHING = Filters(include_superseded=True, include_expired=True)
TABLES = {
    "memory": """SELECT id, uid, kind, importance, pinned, created_at, archived_at, superseded_by,
        superseded_at, deleted_at, content_hash FROM memory""",
    "body": "SELECT memory_id, text, tags, participants, key_facts FROM memory_body",
    "label": "SELECT * FROM memory_label",
    "link": "SELECT * FROM link",
    "atom": "SELECT text, workspace_id FROM atom",
    "graph": """SELECT n.type, n.canonical, g.memory_id FROM graph_mention g
        JOIN graph_node n ON n.id = g.node_id""",
}


def content(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """What the store holds, but for numbers that only move on."""
    with engine.context.database.read() as connection:
        return {
            name: sorted((tuple(row) for row in connection.execute(sql)), key=repr)
            for name, sql in TABLES.items()
        }


def shown(engine: Engine) -> dict[int, Memory]:
    """Every memory outside the trash."""
    return {memory.id: memory for memory in engine.list(EVERYTHING, limit=1000).memories}


def random_step(engine: Engine, clock: FixedClock, chance: random.Random) -> None:
    """Do something with some memories; what cannot be done is left."""
    ids = [*shown(engine)]
    trash = [memory.id for memory in engine.list(Filters(deleted_only=True)).memories]
    one, two = (chance.choice(ids), chance.choice(ids)) if ids else (0, 0)
    field: dict[str, object] = chance.choice(
        [{"text": chance.choice(TEXTS)}, {"tags": ["t"]}, {"participants": ["Ana", "Cleo"]}]
    )

    def reclaim() -> None:
        clock.advance(40 * 86_400)
        purge.purge(engine.context, CALLER, apply=True)

    def many(action: str, **fields: object) -> None:
        bulk.change_many(engine.context, BulkRequest(ids[:3], action, fields), CALLER)

    steps: list[Callable[[], object]] = [
        lambda: remember(engine, chance.choice(TEXTS), tags=["x"], participants=["Bob"]),
        lambda: engine.edit(EditRequest(one, field), CALLER),
        lambda: engine.delete(one, CALLER),
        lambda: engine.restore(chance.choice(trash or [0]), CALLER),
        lambda: engine.links.link(one, two, CALLER),
        lambda: engine.links.supersede(one, two, CALLER),
        lambda: many("archive"),
        lambda: many("edit", importance=chance.random()),
        reclaim,
    ]
    chance.choice(steps)()


@pytest.mark.parametrize("seed", range(3))
def test_every_step_can_be_undone_redone_and_seen_later(
    keyword_engine: Engine, clock: FixedClock, home: Path, seed: int
) -> None:
    engine, chance = keyword_engine, random.Random(seed)
    past: dict[float, dict[int, Memory]] = {}
    for _ in range(20):
        clock.advance(10)
        past[clock.now()] = shown(engine)
        clock.advance(10)
        before, entries = content(engine), len(engine.journal.tail(1000))
        try:
            random_step(engine, clock, chance)
        except JiyiError:
            assert content(engine) == before
            continue
        _there_and_back(engine, before, entries)
        assert disagreements(home / "jiyi.db") == []
    for moment, expected in past.items():
        found = {memory.id: memory for memory in engine.journal.state_at(moment).memories}
        assert {key: _told(memory) for key, memory in found.items()} == {
            key: _told(memory) for key, memory in expected.items()
        }


def _there_and_back(
    engine: Engine, before: dict[str, list[tuple[object, ...]]], entries: int
) -> None:
    after = content(engine)
    if after == before:
        return
    new = [e for e in engine.journal.tail(1000)[: -entries or None] if e.undoes is None]
    engine.journal.undo(CALLER)
    if not any(entry.operation == "memorize" for entry in new):
        assert content(engine) == before
    engine.journal.redo(CALLER)
    assert content(engine) == after
    with pytest.raises(NotFound):
        engine.journal.redo(CALLER)


def _told(memory: Memory) -> tuple[object, ...]:
    return (
        memory.text,
        memory.tags,
        memory.participants,
        memory.importance,
        memory.archived_at,
        memory.superseded_by,
        memory.superseded_at,
        memory.content_hash,
        memory.updated_at,
    )
