"""Temporal facts: rows in, rows out.

Subject, predicate and object are compared by their keys, which the caller makes; other names of
an entity are looked up when it is asked for, so that a merge of names acts on facts at once and
can be taken back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.domain.errors import NotFound
from engine.domain.fact import Fact, FactStatistics, Period
from engine.domain.graph import PERSON, TOPIC, NodeKey
from engine.domain.memory import FieldValue
from engine.domain.scope import Scope
from engine.storage import aliases, graph
from engine.storage.database import Connection, Row
from engine.storage.filters import workspaces_within
from engine.storage.journal import FACT

COLUMNS = (
    *("workspace_id", "subject", "subject_key", "predicate", "predicate_key"),
    *("object", "object_key", "valid_from", "valid_to", "confidence", "memory_id"),
    *("created_at", "updated_at"),
)
"""Every column but ``id`` and ``uid``: what the journal keeps of a fact."""

CHANGED = "fact"
"""The kind of subject by which the change sequence notes facts."""

_SELECT = """SELECT f.id, f.uid, w.name, f.subject, f.predicate, f.object, f.valid_from,
    f.valid_to, f.confidence, f.memory_id, f.created_at, f.updated_at
    FROM fact f JOIN workspace w ON w.id = f.workspace_id"""
# What a memory in the trash states is not stated any more.
_SHOWN = """NOT EXISTS (SELECT 1 FROM memory m
    WHERE m.id = f.memory_id AND m.deleted_at IS NOT NULL)"""
_OLDEST_FIRST = "f.valid_from IS NOT NULL, f.valid_from, f.created_at, f.id"
_HOLDS = """(f.valid_from IS NULL OR f.valid_from <= :at)
    AND (f.valid_to IS NULL OR f.valid_to > :at)"""


@dataclass(frozen=True, slots=True)
class Triple:
    """What is looked for: keys of the entity's names and of the predicate's (none: any), at
    which end the entity stands, and the workspaces (``None``: all)."""

    entities: tuple[str, ...]
    predicates: tuple[str, ...] = ()
    direction: str = "both"
    workspaces: tuple[int, ...] | None = None


def entity_keys(connection: Connection, key: str) -> tuple[str, ...]:
    """All canonical names of what a canonical name means in the graph, that name first."""
    found = {key: None}
    for node_type in (PERSON, TOPIC):
        meant = graph.resolved(connection, NodeKey(node_type, key))
        found |= dict.fromkeys((meant.canonical, *aliases.of(connection, meant)))
    return tuple(found)


def insert(connection: Connection, uid: str, values: Mapping[str, FieldValue]) -> int:
    """Write a fact with all of :data:`COLUMNS` and return its id."""
    return put(connection, None, uid, values)


def put(
    connection: Connection, fact_id: int | None, uid: str, values: Mapping[str, FieldValue]
) -> int:
    """Write a fact under an id of its own choice, as an undo does; return the id."""
    names = ", ".join(COLUMNS)
    marks = ", ".join(f":{name}" for name in COLUMNS)
    cursor = connection.execute(
        f"INSERT INTO fact (id, uid, {names}) VALUES (:id, :uid, {marks})",
        {"id": fact_id, "uid": uid, **values},
    )
    return int(cursor.lastrowid or 0)


def update(connection: Connection, fact_id: int, values: Mapping[str, FieldValue]) -> None:
    """Set columns of a fact."""
    chosen = [name for name in COLUMNS if name in values]
    assignments = ", ".join(f"{name} = :{name}" for name in chosen)
    connection.execute(f"UPDATE fact SET {assignments} WHERE id = :id", {**values, "id": fact_id})


def delete(connection: Connection, fact_id: int) -> None:
    """Remove a fact's row."""
    connection.execute("DELETE FROM fact WHERE id = ?", (fact_id,))


def values_of(connection: Connection, fact_id: int) -> dict[str, FieldValue] | None:
    """All of :data:`COLUMNS` of a fact as stored; ``None`` when there is no such row."""
    row = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM fact WHERE id = ?", (fact_id,)
    ).fetchone()
    return None if row is None else dict(zip(COLUMNS, row, strict=True))


def find(connection: Connection, ref: str | int) -> Fact:
    """The fact with this number, or uid; raises :class:`NotFound`."""
    wanted = str(ref).strip().lstrip("#").lower().removeprefix("f")
    by_id = wanted.isdecimal() and len(wanted) < 19
    column, value = ("f.id", int(wanted)) if by_id else ("f.uid", str(ref).strip())
    row = connection.execute(f"{_SELECT} WHERE {column} = ?", (value,)).fetchone()
    if row is None:
        raise NotFound("error.no_such_fact", ref=str(ref)[:60])
    return _fact(row)


def fetch(connection: Connection, ids: Iterable[int]) -> dict[int, Fact]:
    """Facts by id, without those whose memory lies in the trash."""
    rows = connection.execute(
        f"{_SELECT} JOIN json_each(:ids) i ON i.value = f.id WHERE {_SHOWN}",
        {"ids": json.dumps(list(ids))},
    )
    return {fact.id: fact for fact in map(_fact, rows)}


def of_entity(connection: Connection, wanted: Triple, at: float | None) -> list[Fact]:
    """Facts of an entity, oldest first; those true at a moment, or for ``None`` all."""
    clauses, parameters = _conditions(wanted)
    if at is not None:
        clauses.append(_HOLDS)
    rows = connection.execute(
        f"{_SELECT} WHERE {' AND '.join(clauses)} AND {_SHOWN} ORDER BY {_OLDEST_FIRST}",
        {**parameters, "at": at},
    )
    return [_fact(row) for row in rows]


def active_ids(connection: Connection, scope: Scope, now: float, limit: int) -> list[int]:
    """Facts true now that may be shown unasked: not those of a memory that is hidden in any
    way; those stated or changed last first."""
    rows = connection.execute(
        f"""SELECT f.id FROM fact f WHERE {_HOLDS}
        AND (:everywhere OR f.workspace_id IN (SELECT value FROM json_each(:workspaces)))
        AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = f.memory_id AND (
            m.deleted_at IS NOT NULL OR m.superseded_at IS NOT NULL OR m.archived_at IS NOT NULL
            OR m.expires_at <= :at))
        ORDER BY f.updated_at DESC, f.id DESC LIMIT :row_limit""",
        {"at": now, "row_limit": limit, **_inside(workspaces_within(connection, scope))},
    )
    return [int(row[0]) for row in rows]


def of_workspace(connection: Connection, workspace_id: int) -> list[Fact]:
    """All facts of a workspace, without those whose memory lies in the trash."""
    rows = connection.execute(
        f"{_SELECT} WHERE f.workspace_id = ? AND {_SHOWN} ORDER BY f.id", (workspace_id,)
    )
    return [_fact(row) for row in rows]


def of_memory(connection: Connection, memory_id: int) -> list[Fact]:
    """Facts that came from a memory, whatever its state."""
    rows = connection.execute(f"{_SELECT} WHERE f.memory_id = ? ORDER BY f.id", (memory_id,))
    return [_fact(row) for row in rows]


def statistics(connection: Connection, scope: Scope, now: float, listed: int) -> FactStatistics:
    """Counts of facts, and the ``listed`` commonest predicates."""
    inside = _inside(workspaces_within(connection, scope))
    where = f"""FROM fact f WHERE {_SHOWN}
        AND (:everywhere OR f.workspace_id IN (SELECT value FROM json_each(:workspaces)))"""
    row = connection.execute(
        f"""SELECT count(*), count(DISTINCT f.predicate_key),
        count(*) FILTER (WHERE {_HOLDS}),
        count(*) FILTER (WHERE f.valid_to IS NOT NULL AND f.valid_to <= :at) {where}""",
        {"at": now, **inside},
    ).fetchone()
    entities = connection.execute(
        f"SELECT count(*) FROM (SELECT f.subject_key {where} UNION SELECT f.object_key {where})",
        inside,
    ).fetchone()[0]
    common = connection.execute(
        f"""SELECT f.predicate, count(*) AS n {where} GROUP BY f.predicate_key
        ORDER BY n DESC, f.predicate_key LIMIT :listed""",
        {"listed": listed, **inside},
    ).fetchall()
    return FactStatistics(
        facts=row[0],
        entities=entities,
        predicates=row[1],
        active=row[2],
        ended=row[3],
        upcoming=row[0] - row[2] - row[3],
        by_predicate=tuple((str(name), int(count)) for name, count in common),
    )


def empty_journal(connection: Connection, memory_id: int) -> int:
    """Remove what the journal holds of facts that came from a memory; return of how many
    entries."""
    cursor = connection.execute(
        """UPDATE journal SET changes = '{}' WHERE subject_kind = :kind AND changes <> '{}'
        AND subject_id IN (SELECT subject_id FROM journal
            WHERE other_id = :memory_id AND subject_kind = :kind)""",
        {"kind": FACT, "memory_id": memory_id},
    )
    return cursor.rowcount


def count(connection: Connection) -> int:
    """Number of facts in the store."""
    return int(connection.execute("SELECT count(*) FROM fact").fetchone()[0])


def period_of(values: Mapping[str, FieldValue]) -> Period:
    """The period in the columns of a fact."""
    start, end = values["valid_from"], values["valid_to"]
    return Period(
        None if start is None else float(str(start)), None if end is None else float(str(end))
    )


def _conditions(wanted: Triple) -> tuple[list[str], dict[str, str | int]]:
    ends = {
        "subject": "f.subject_key IN (SELECT value FROM json_each(:entities))",
        "object": "f.object_key IN (SELECT value FROM json_each(:entities))",
    }
    # Two searches by index, where one condition with OR would read the whole table.
    either = " UNION ".join(
        f"SELECT f.id FROM fact f WHERE {clause}"
        for end, clause in ends.items()
        if wanted.direction in (end, "both")
    )
    clauses = [f"f.id IN ({either})"]
    if wanted.predicates:
        clauses.append("f.predicate_key IN (SELECT value FROM json_each(:predicates))")
    clauses.append("(:everywhere OR f.workspace_id IN (SELECT value FROM json_each(:workspaces)))")
    return clauses, {
        "entities": json.dumps(wanted.entities),
        "predicates": json.dumps(wanted.predicates),
        **_inside(wanted.workspaces),
    }


def _inside(workspaces: Sequence[int] | None) -> dict[str, str | int]:
    return {"everywhere": int(workspaces is None), "workspaces": json.dumps(workspaces or ())}


def _fact(row: Row) -> Fact:
    return Fact(*row)
