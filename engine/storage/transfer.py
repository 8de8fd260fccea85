"""What leaves a store for a file and comes back from one: rows by uid instead of by id.

Lists are in an order that depends on the memories alone, so that two stores of the same memories
give the same file.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import condition

Value = str | float | int | None
_IDS_PER_STATEMENT = 10_000

STRENGTH = (
    *("importance_now", "salience", "last_access", "access_count", "access_window"),
    "decayed_until",
)
"""The columns of a memory's strength."""

ATOM = (
    *("type", "text", "content_hash", "confidence", "importance", "polarity", "event_time"),
    *("deadline", "created_at", "refreshed_at", "ttl_days", "expires_at", "curve", "state"),
    *("state_changed_at", "reinforced", "rule", "needs_repair"),
)
"""The columns of an atom that mean the same in every store."""


@dataclass(frozen=True, slots=True)
class PieceRow:
    """A stored stretch of a memory's text with its vector."""

    memory_id: int
    start: int
    end: int
    content_hash: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link by the ids and uids of its ends."""

    source_id: int
    target_id: int
    source: str
    target: str
    relation: str
    created_at: float


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact with the name of its workspace, and the id and uid of its memory."""

    uid: str
    workspace: str
    subject: str
    predicate: str
    object: str
    valid_from: float | None
    valid_to: float | None
    confidence: float
    created_at: float
    updated_at: float
    memory_id: int | None
    memory: str | None


@dataclass(frozen=True, slots=True)
class AtomRow:
    """An atom by its id, with its columns by name and the name of its workspace."""

    id: int
    workspace: str
    superseded_by: int | None
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class AliasRow:
    """A name that means another node, and how that node is shown."""

    node_type: str
    alias: str
    canonical: str
    origin: str
    name: str


def ids_in_order(
    connection: Connection, filters: Filters, now: float, *, with_trash: bool
) -> array[int]:
    """Ids of the memories that pass the filters, oldest first; with or without those in the trash
    that pass them as well."""
    live = condition(replace(filters, deleted_only=False), now)
    parts = [f"SELECT m.id, m.created_at, m.uid FROM memory m WHERE {live.sql}"]
    if with_trash:
        trash = condition(replace(filters, deleted_only=True), now)
        parts.append(f"SELECT m.id, m.created_at, m.uid FROM memory m WHERE {trash.sql}")
    rows = connection.execute(
        f"SELECT id FROM ({' UNION ALL '.join(parts)}) ORDER BY created_at, uid", live.parameters
    )
    return array("q", (row[0] for row in rows))


def strengths(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, Value]]:
    """The strength of memories, by id and column."""
    rows = connection.execute(
        f"""SELECT memory_id, {", ".join(STRENGTH)} FROM memory_strength
        WHERE memory_id IN (SELECT value FROM json_each(:ids))""",
        {"ids": json.dumps(list(ids))},
    )
    return {int(row[0]): dict(zip(STRENGTH, row[1:], strict=True)) for row in rows}


def set_strength(connection: Connection, memory_id: int, values: Mapping[str, Value]) -> None:
    """Set the strength of a memory, all of :data:`STRENGTH`."""
    assignments = ", ".join(f"{name} = :{name}" for name in STRENGTH)
    connection.execute(
        f"UPDATE memory_strength SET {assignments} WHERE memory_id = :memory_id",
        {**values, "memory_id": memory_id},
    )


def pieces(connection: Connection, space_id: int, ids: Sequence[int]) -> list[PieceRow]:
    """The pieces of memories in one space, in the order of their text."""
    rows = connection.execute(
        """SELECT owner_id, start_offset, end_offset, content_hash, vector FROM piece
        WHERE owner_kind = 'memory' AND space_id = :space_id
        AND owner_id IN (SELECT value FROM json_each(:ids))
        ORDER BY owner_id, start_offset, end_offset, id""",
        {"space_id": space_id, "ids": json.dumps(list(ids))},
    )
    return [PieceRow(*row) for row in rows]


def ids_by_uid(connection: Connection, uids: Iterable[str]) -> dict[str, int]:
    """The ids of the memories with these uids, as far as there are any."""
    rows = connection.execute(
        "SELECT uid, id FROM memory WHERE uid IN (SELECT value FROM json_each(:uids))",
        {"uids": json.dumps(list(uids))},
    )
    return {str(row[0]): int(row[1]) for row in rows}


def erased(connection: Connection, uids: Iterable[str]) -> set[str]:
    """Those of the uids whose memory was removed for good."""
    rows = connection.execute(
        "SELECT uid FROM tombstone WHERE uid IN (SELECT value FROM json_each(:uids))",
        {"uids": json.dumps(list(uids))},
    )
    return {str(row[0]) for row in rows}


def forget_tombstone(connection: Connection, uid: str) -> None:
    """A memory that was removed for good is wanted again."""
    connection.execute("DELETE FROM tombstone WHERE uid = ?", (uid,))


def present(connection: Connection, ids: Sequence[int]) -> list[int]:
    """Those of the ids that memories have."""
    found: list[int] = []
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        rows = connection.execute(
            "SELECT id FROM memory WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id",
            {"ids": json.dumps(list(ids[start : start + _IDS_PER_STATEMENT]))},
        )
        found.extend(int(row[0]) for row in rows)
    return found


def last_memory_id(connection: Connection) -> int:
    """The highest id that a memory has or had."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memory'").fetchone()
    return int(row[0]) if row else 0


def last_atom_id(connection: Connection) -> int:
    """The highest id that an atom has or had."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'atom'").fetchone()
    return int(row[0]) if row else 0


def links(connection: Connection) -> Iterator[LinkRow]:
    """Every link, oldest first."""
    rows = connection.execute(
        """SELECT l.source_id, l.target_id, s.uid, t.uid, l.relation, l.created_at FROM link l
        JOIN memory s ON s.id = l.source_id JOIN memory t ON t.id = l.target_id
        ORDER BY l.created_at, s.uid, t.uid, l.relation"""
    )
    return (LinkRow(*row) for row in rows)


def links_from(connection: Connection, ids: Sequence[int]) -> list[LinkRow]:
    """The links that start from these memories, oldest first."""
    rows = connection.execute(
        """SELECT l.source_id, l.target_id, s.uid, t.uid, l.relation, l.created_at
        FROM json_each(:ids) i JOIN link l ON l.source_id = i.value
        JOIN memory s ON s.id = l.source_id JOIN memory t ON t.id = l.target_id
        ORDER BY l.created_at, s.uid, t.uid, l.relation""",
        {"ids": json.dumps(list(ids))},
    )
    return [LinkRow(*row) for row in rows]


def workspaces_of(connection: Connection, ids: Sequence[int]) -> set[int]:
    """The workspaces that these memories belong to."""
    found: set[int] = set()
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        run = json.dumps(list(ids[start : start + _IDS_PER_STATEMENT]))
        rows = connection.execute(
            """SELECT DISTINCT workspace_id FROM memory
            WHERE id IN (SELECT value FROM json_each(:ids))""",
            {"ids": run},
        )
        found.update(int(row[0]) for row in rows)
    return found


def put_link(
    connection: Connection, source_id: int, target_id: int, relation: str, created_at: float
) -> bool:
    """Write a link unless it is there; tell whether it is new."""
    cursor = connection.execute(
        """INSERT OR IGNORE INTO link (source_id, target_id, relation, created_at)
        VALUES (:source_id, :target_id, :relation, :created_at)""",
        {
            "source_id": source_id,
            "target_id": target_id,
            "relation": relation,
            "created_at": created_at,
        },
    )
    return cursor.rowcount == 1


def has_link(connection: Connection, source_id: int, target_id: int, relation: str) -> bool:
    """Whether there is this link."""
    row = connection.execute(
        "SELECT 1 FROM link WHERE source_id = ? AND target_id = ? AND relation = ?",
        (source_id, target_id, relation),
    ).fetchone()
    return row is not None


def facts(connection: Connection) -> Iterator[FactRow]:
    """Every temporal fact, oldest first."""
    rows = connection.execute(
        """SELECT f.uid, w.name, f.subject, f.predicate, f.object, f.valid_from, f.valid_to,
        f.confidence, f.created_at, f.updated_at, f.memory_id, m.uid FROM fact f
        JOIN workspace w ON w.id = f.workspace_id LEFT JOIN memory m ON m.id = f.memory_id
        ORDER BY f.created_at, f.uid"""
    )
    return (FactRow(*row) for row in rows)


def fact_ids(connection: Connection, uids: Iterable[str]) -> dict[str, int]:
    """The ids of the facts with these uids, as far as there are any."""
    rows = connection.execute(
        "SELECT uid, id FROM fact WHERE uid IN (SELECT value FROM json_each(:uids))",
        {"uids": json.dumps(list(uids))},
    )
    return {str(row[0]): int(row[1]) for row in rows}


def atoms(connection: Connection) -> Iterator[AtomRow]:
    """Every atom, oldest first."""
    rows = connection.execute(
        f"""SELECT a.id, w.name, a.superseded_by, {", ".join(f"a.{name}" for name in ATOM)}
        FROM atom a JOIN workspace w ON w.id = a.workspace_id ORDER BY a.created_at, a.id"""
    )
    return (AtomRow(row[0], row[1], row[2], dict(zip(ATOM, row[3:], strict=True))) for row in rows)


def mentions(connection: Connection, atom_id: int) -> list[tuple[int, str, float]]:
    """The memories that state an atom, by id and uid, and when each does."""
    rows = connection.execute(
        """SELECT n.memory_id, m.uid, n.at FROM atom_mention n JOIN memory m ON m.id = n.memory_id
        WHERE n.atom_id = ? ORDER BY n.at, m.uid""",
        (atom_id,),
    )
    return [(int(row[0]), str(row[1]), float(row[2])) for row in rows]


def aliases(connection: Connection) -> list[AliasRow]:
    """Names that mean another node by a merge or a rename."""
    rows = connection.execute(
        """SELECT a.type, a.alias, a.canonical, a.origin, coalesce(n.name, a.canonical)
        FROM graph_alias a LEFT JOIN graph_node n ON n.type = a.type AND n.canonical = a.canonical
        WHERE a.origin <> 'config' ORDER BY a.type, a.alias"""
    )
    return [AliasRow(*row) for row in rows]


def journal_rows(
    connection: Connection, ids: Sequence[int]
) -> Iterator[tuple[str, float, str, str, str]]:
    """Journal entries of memories as (uid, at, operation, actor, changes), oldest first."""
    rows = connection.execute(
        """SELECT subject_uid, at, operation, actor, changes FROM journal
        WHERE subject_kind = 'memory' AND subject_id IN (SELECT value FROM json_each(:ids))
        ORDER BY id""",
        {"ids": json.dumps(list(ids))},
    )
    return (tuple(row) for row in rows)
