"""Rows as the journal names them: all columns of a memory by name, and links; read to see what
is there now, and written back by an undo."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from engine.domain.fields import FIELDS
from engine.domain.memory import FieldValue
from engine.storage import memories
from engine.storage.database import Connection
from engine.storage.filters import SqlValue

STATES = ("review_state", "archived_at", "superseded_by", "superseded_at", "deleted_at")
STRENGTH = (
    *("importance_now", "salience", "last_access", "access_count", "access_window"),
    "decayed_until",
)
_SCOPE = (
    *("workspace_id", "session_id", "position", "persona_id", "user_id", "agent", "origin"),
    *("created_at", "updated_at", "revision", "content_hash"),
)


def columns_of(
    connection: Connection, memory_ids: Iterable[int]
) -> dict[int, dict[str, FieldValue]]:
    """Scope, states and strength of memories by the names of the columns, and their ``uid``."""
    narrow = (*_SCOPE, *STATES, "uid")
    select = ", ".join([*(f"m.{name}" for name in narrow), *(f"s.{name}" for name in STRENGTH)])
    rows = connection.execute(
        f"""SELECT m.id, {select} FROM memory m JOIN memory_strength s ON s.memory_id = m.id
        WHERE m.id IN (SELECT value FROM json_each(:ids))""",
        {"ids": json.dumps(list(memory_ids))},
    )
    return {row[0]: dict(zip((*narrow, *STRENGTH), row[1:], strict=True)) for row in rows}


def uid_is_taken(connection: Connection, uid: str) -> bool:
    """Whether a memory of this uid is there."""
    row = connection.execute("SELECT 1 FROM memory WHERE uid = ?", (uid,)).fetchone()
    return row is not None


def workspace_is_there(connection: Connection, workspace_id: FieldValue) -> bool:
    """Whether the workspace of a snapshot still exists."""
    row = connection.execute("SELECT 1 FROM workspace WHERE id = ?", (workspace_id,)).fetchone()
    return row is not None


def write(
    connection: Connection, memory_id: int, uid: str, values: Mapping[str, FieldValue]
) -> None:
    """Write the rows of a memory again, with its former id."""
    row = memories.NewRow(
        uid=uid,
        workspace_id=int(str(values["workspace_id"])),
        content_hash=str(values["content_hash"]),
        created_at=float(str(values["created_at"])),
        authored={name: values[name] for name in FIELDS},
    )
    given = memories.insert(connection, row)
    _renumber(connection, given, memory_id)
    rest = {name: values[name] for name in (*_SCOPE, *STATES) if name in values}
    memories.update(connection, memory_id, rest)
    set_strength(connection, memory_id, {n: values[n] for n in STRENGTH if n in values})


def drop_dangling(connection: Connection, memory_ids: Iterable[int]) -> None:
    """Memories written again whose successor is gone for good stay superseded, by nothing."""
    connection.execute(
        """UPDATE memory SET superseded_by = NULL
        WHERE id IN (SELECT value FROM json_each(?)) AND superseded_by IS NOT NULL
        AND superseded_by NOT IN (SELECT id FROM memory)""",
        (json.dumps(list(memory_ids)),),
    )


def set_strength(connection: Connection, memory_id: int, values: Mapping[str, FieldValue]) -> None:
    """Set some of the columns of :data:`STRENGTH`."""
    if not values:
        return
    assignments = ", ".join(f"{name} = :{name}" for name in STRENGTH if name in values)
    connection.execute(
        f"UPDATE memory_strength SET {assignments} WHERE memory_id = :row_key",
        {**values, "row_key": memory_id},
    )


def forget_tombstone(connection: Connection, uid: str) -> None:
    """A memory that is there again is no longer among those that were removed."""
    connection.execute("DELETE FROM tombstone WHERE uid = ?", (uid,))


def has_link(connection: Connection, ends: tuple[int, int], relation: str) -> bool:
    """Whether a link of this relation joins two memories (from, to)."""
    row = connection.execute(
        "SELECT 1 FROM link WHERE source_id = ? AND target_id = ? AND relation = ?",
        (*ends, relation),
    ).fetchone()
    return row is not None


def add_link(connection: Connection, ends: tuple[int, int], relation: str, at: SqlValue) -> None:
    """Write a link (from, to) that was made at a moment."""
    connection.execute(
        "INSERT INTO link (source_id, target_id, relation, created_at) VALUES (?, ?, ?, ?)",
        (*ends, relation, at),
    )


def remove_link(connection: Connection, ends: tuple[int, int], relation: str) -> None:
    """Remove a link (from, to)."""
    connection.execute(
        "DELETE FROM link WHERE source_id = ? AND target_id = ? AND relation = ?",
        (*ends, relation),
    )


def are_there(connection: Connection, memory_ids: Iterable[int]) -> bool:
    """Whether there are rows of all these memories."""
    wanted = set(memory_ids)
    row = connection.execute(
        "SELECT count(*) FROM memory WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(wanted)),),
    ).fetchone()
    return int(row[0]) == len(wanted)


def _renumber(connection: Connection, given: int, wanted: int) -> None:
    """The row was given the next number; nothing refers to it yet but its own two tables."""
    connection.execute("PRAGMA defer_foreign_keys=ON")
    for table, column in (
        ("memory", "id"),
        ("memory_body", "memory_id"),
        ("memory_strength", "memory_id"),
    ):
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (wanted, given))
