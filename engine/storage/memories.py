"""The memory tables: rows in, rows out, domain values at the border."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from engine.domain.errors import NotFound
from engine.domain.ids import MAX_ID, MemoryRef
from engine.domain.memory import FieldValue, Memory, Strength
from engine.domain.scope import Filters
from engine.storage.database import Connection, Row
from engine.storage.filters import SqlValue, condition

_BODY_COLUMNS = (
    "text",
    "summary",
    "persona_summary",
    "topics",
    "participants",
    "key_facts",
    "tags",
    "source_ref",
    "details",
)
_LIST_COLUMNS = frozenset({"topics", "participants", "key_facts", "tags"})
_BOOL_COLUMNS = frozenset({"pinned", "private"})
_FIELD_NAMES = tuple(field.name for field in fields(Memory))
_SELECT = "SELECT {} FROM memory m JOIN memory_body b ON b.memory_id = m.id".format(
    ", ".join(
        "(SELECT name FROM workspace w WHERE w.id = m.workspace_id)"
        if name == "workspace"
        else f"{'b' if name in _BODY_COLUMNS else 'm'}.{name}"
        for name in _FIELD_NAMES
    )
)
# A statement takes a bounded number of parameters; ids are looked up in runs of this length.
_IDS_PER_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class NewRow:
    """What :func:`insert` writes: authored fields plus where and when."""

    uid: str
    workspace_id: int
    content_hash: str
    created_at: float
    authored: Mapping[str, FieldValue]
    session_id: str | None = None
    position: int | None = None
    persona_id: str | None = None
    user_id: str | None = None
    agent: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class RankRow:
    """What ranking reads of a memory: nothing of its text."""

    id: int
    workspace_id: int
    created_at: float
    event_time: float | None
    expires_at: float | None
    pinned: bool
    archived: bool
    polarity: int
    source: str
    session_id: str | None
    position: int | None
    strength: Strength


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list and the cursor of the next one (``None`` on the last)."""

    memories: tuple[Memory, ...]
    next_cursor: str | None
    total: int


def insert(connection: Connection, row: NewRow) -> int:
    """Write a new memory's rows and return its id."""
    scope = {name: getattr(row, name) for name in _SCOPE_COLUMNS}
    narrow = {name: _stored(name, row.authored[name]) for name in _AUTHORED_NARROW}
    memory_id = _insert_row(connection, "memory", narrow | scope | _life(row))
    body = {name: _stored(name, row.authored[name]) for name in _BODY_COLUMNS}
    _insert_row(connection, "memory_body", {"memory_id": memory_id} | body)
    importance = row.authored["importance"]
    connection.execute(
        """INSERT INTO memory_strength
        (memory_id, importance_now, salience, access_count, access_window)
        VALUES (?, ?, 1.0, 0, 0.0)""",
        (memory_id, importance),
    )
    return memory_id


def update(connection: Connection, memory_id: int, values: Mapping[str, FieldValue]) -> None:
    """Set columns of a memory, whichever of its two tables they are in."""
    body = {name: value for name, value in values.items() if name in _BODY_COLUMNS}
    narrow = {name: value for name, value in values.items() if name not in _BODY_COLUMNS}
    _update_row(connection, ("memory", "id"), memory_id, narrow)
    _update_row(connection, ("memory_body", "memory_id"), memory_id, body)
    if "importance" in values:
        connection.execute(
            "UPDATE memory_strength SET importance_now = ? WHERE memory_id = ?",
            (values["importance"], memory_id),
        )


def copy_strength(connection: Connection, memory_id: int, copy_id: int) -> None:
    """Give a copy of a memory what use made of the original."""
    connection.execute(
        """UPDATE memory_strength SET (importance_now, salience, last_access, access_count,
        access_window, decayed_until) = (SELECT importance_now, salience, last_access,
        access_count, access_window, decayed_until FROM memory_strength
        WHERE memory_id = :memory_id)
        WHERE memory_id = :copy_id""",
        {"memory_id": memory_id, "copy_id": copy_id},
    )


def workspace_id(connection: Connection, memory_id: int) -> int:
    """The workspace that a memory belongs to."""
    row = connection.execute("SELECT workspace_id FROM memory WHERE id = ?", (memory_id,))
    return int(row.fetchone()[0])


def replace_labels(
    connection: Connection, memory_id: int, folded: Mapping[str, Sequence[str]]
) -> None:
    """Set the folded label values that filters match, by field."""
    connection.execute("DELETE FROM memory_label WHERE memory_id = ?", (memory_id,))
    connection.executemany(
        "INSERT OR IGNORE INTO memory_label (field, folded, memory_id) VALUES (?, ?, ?)",
        [(name, value, memory_id) for name, values in folded.items() for value in values],
    )


def erase(connection: Connection, memory_id: int) -> None:
    """Remove a memory's rows for good (body, labels and strength go with it)."""
    connection.execute("DELETE FROM memory WHERE id = ?", (memory_id,))


def find(connection: Connection, ref: MemoryRef) -> Memory:
    """The memory a reference names, in whatever state; raises :class:`NotFound`."""
    attempts: list[tuple[str, SqlValue]] = []
    if ref.id is not None:
        attempts.append(("m.id = ?", ref.id))
    if ref.uid is not None:
        attempts.append(("m.uid = ?", ref.uid))
    if ref.short_uid is not None:
        attempts.append(("substr(m.uid, -8) = ?", ref.short_uid))
    for clause, value in attempts:
        rows = connection.execute(f"{_SELECT} WHERE {clause} LIMIT 2", (value,)).fetchall()
        if len(rows) == 1:
            return _memory(rows[0])
        if rows:
            raise NotFound("error.ambiguous_ref", ref=str(ref))
    raise NotFound("error.no_such_memory", ref=str(ref))


def fetch(connection: Connection, ids: Iterable[int]) -> dict[int, Memory]:
    """Memories by id, in any state; missing ids are left out."""
    found = (_memory(row) for run in _runs(ids) for row in _select_ids(connection, _SELECT, run))
    return {memory.id: memory for memory in found}


def rank_rows(
    connection: Connection, ids: Iterable[int], filters: Filters, now: float
) -> dict[int, RankRow]:
    """Ranking rows of those of ``ids`` that pass the filters."""
    where = condition(filters, now)
    select = """SELECT m.id, m.workspace_id, m.created_at, m.event_time, m.expires_at, m.pinned,
        m.archived_at IS NOT NULL, m.polarity, m.source, m.session_id, m.position,
        s.importance_now, s.salience, s.last_access, s.access_count, s.access_window
        FROM memory m JOIN memory_strength s ON s.memory_id = m.id"""
    found: dict[int, RankRow] = {}
    for run in _runs(ids):
        keys = ",".join(map(str, run))
        for row in connection.execute(
            f"{select} WHERE m.id IN ({keys}) AND {where.sql}", where.parameters
        ):
            found[row[0]] = _rank_row(row)
    return found


def neighbours(connection: Connection, ids: Iterable[int]) -> list[int]:
    """Memories right before and after these in their sessions."""
    rows = connection.execute(
        """SELECT n.id FROM json_each(:ids) i JOIN memory m ON m.id = i.value
        JOIN memory n ON n.session_id = m.session_id AND n.workspace_id = m.workspace_id
        AND n.position IN (m.position - 1, m.position + 1)""",
        {"ids": json.dumps(list(ids))},
    )
    return [int(row[0]) for row in rows]


def ids_within(connection: Connection, filters: Filters, now: float, limit: int) -> list[int]:
    """Up to ``limit`` ids of memories that pass the filters, in no order."""
    where = condition(filters, now)
    rows = connection.execute(
        f"SELECT m.id FROM memory m WHERE {where.sql} LIMIT :row_limit",
        {**where.parameters, "row_limit": limit},
    )
    return [int(row[0]) for row in rows]


def page(
    connection: Connection, filters: Filters, now: float, limit: int, cursor: str | None
) -> Page:
    """Newest first (by creation, then id); the cursor keeps pages from repeating or skipping
    while others write."""
    where = condition(filters, now)
    total = connection.execute(
        f"SELECT count(*) FROM memory m WHERE {where.sql}", where.parameters
    ).fetchone()[0]
    if cursor is not None:
        created_at, memory_id = read_cursor(cursor)
        where.add(
            "(m.created_at, m.id) < (:cursor_time, :cursor_id)",
            cursor_time=created_at,
            cursor_id=memory_id,
        )
    rows = connection.execute(
        f"{_SELECT} WHERE {where.sql} ORDER BY m.created_at DESC, m.id DESC LIMIT :row_limit",
        {**where.parameters, "row_limit": limit + 1},
    ).fetchall()
    memories = tuple(_memory(row) for row in rows[:limit])
    more = len(rows) > limit
    next_cursor = write_cursor(memories[-1]) if more else None
    return Page(memories, next_cursor, int(total))


def write_cursor(memory: Memory) -> str:
    """The place of a memory in the list, as an opaque text."""
    return f"{memory.created_at!r}-{memory.id}"


def read_cursor(cursor: str) -> tuple[float, int]:
    """The place a cursor names; raises :class:`NotFound` for one that is not ours."""
    created_at, _, memory_id = cursor.strip().rpartition("-")
    try:
        place = float(created_at), int(memory_id)
    except ValueError:
        place = math.nan, 0
    if not (math.isfinite(place[0]) and 0 < place[1] <= MAX_ID):
        raise NotFound("error.bad_cursor", value=cursor[:60])
    return place


def twins(
    connection: Connection, content_hash: str, workspace_id: int, now: float, *, but: int = 0
) -> list[int]:
    """Ids of live memories with the same text in the same workspace."""
    rows = connection.execute(
        """SELECT id FROM memory WHERE content_hash = :hash AND workspace_id = :workspace_id
        AND id <> :but AND deleted_at IS NULL AND superseded_at IS NULL
        AND (expires_at IS NULL OR expires_at > :now) ORDER BY id LIMIT 5""",
        {"hash": content_hash, "workspace_id": workspace_id, "but": but, "now": now},
    )
    return [int(row[0]) for row in rows]


def count_live(connection: Connection, *, but_private: bool = False) -> int:
    """Number of memories outside the trash, on request without private ones."""
    if but_private:
        sql = "SELECT count(*) FROM memory WHERE deleted_at IS NULL AND NOT private"
    else:
        sql = """SELECT (SELECT count(*) FROM memory)
            - (SELECT count(*) FROM memory WHERE deleted_at IS NOT NULL)"""
    return int(connection.execute(sql).fetchone()[0])


def next_position(connection: Connection, session_id: str) -> int:
    """The place of the next memory within a session, from 0."""
    row = connection.execute(
        "SELECT max(position) FROM memory WHERE session_id = ?", (session_id,)
    ).fetchone()
    return 0 if row[0] is None else int(row[0]) + 1


_SCOPE_COLUMNS = (
    "uid",
    "workspace_id",
    "content_hash",
    "created_at",
    "session_id",
    "position",
    "persona_id",
    "user_id",
    "agent",
    "origin",
)
_AUTHORED_NARROW = (
    "kind",
    "importance",
    "pinned",
    "private",
    "sentiment",
    "polarity",
    "source",
    "trust",
    "event_time",
    "expires_at",
)


def _life(row: NewRow) -> dict[str, SqlValue]:
    return {"updated_at": row.created_at, "revision": 1}


def _stored(name: str, value: FieldValue) -> SqlValue:
    if name in _LIST_COLUMNS:
        return json.dumps(value, ensure_ascii=False) if value else "[]"
    if isinstance(value, tuple):
        raise TypeError(f"{name} does not hold a list")
    return int(value) if name in _BOOL_COLUMNS else value  # type: ignore[arg-type]


def _insert_row(connection: Connection, table: str, values: Mapping[str, SqlValue]) -> int:
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    cursor = connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
    return int(cursor.lastrowid or 0)


def _update_row(
    connection: Connection, target: tuple[str, str], key: int, values: Mapping[str, FieldValue]
) -> None:
    if not values:
        return
    table, key_column = target
    assignments = ", ".join(f"{name} = :{name}" for name in values)
    stored = {name: _stored(name, value) for name, value in values.items()}
    connection.execute(
        f"UPDATE {table} SET {assignments} WHERE {key_column} = :row_key",
        {**stored, "row_key": key},
    )


def _select_ids(connection: Connection, select: str, ids: Sequence[int]) -> Iterable[Row]:
    marks = ",".join("?" * len(ids))
    return connection.execute(f"{select} WHERE m.id IN ({marks})", ids)


def _runs(ids: Iterable[int]) -> Iterable[list[int]]:
    ordered = list(ids)
    for start in range(0, len(ordered), _IDS_PER_STATEMENT):
        yield ordered[start : start + _IDS_PER_STATEMENT]


def _rank_row(row: Row) -> RankRow:
    return RankRow(
        id=row[0],
        workspace_id=row[1],
        created_at=row[2],
        event_time=row[3],
        expires_at=row[4],
        pinned=bool(row[5]),
        archived=bool(row[6]),
        polarity=row[7],
        source=row[8],
        session_id=row[9],
        position=row[10],
        strength=Strength(*row[11:]),
    )


def _memory(row: Row) -> Memory:
    values = dict(zip(_FIELD_NAMES, row, strict=True))
    for name in _LIST_COLUMNS:
        # Most lists are empty; a briefing reads hundreds of them.
        values[name] = () if values[name] == "[]" else tuple(json.loads(values[name]))
    for name in _BOOL_COLUMNS:
        values[name] = bool(values[name])
    return Memory(**values)
