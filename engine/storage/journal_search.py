"""Entries of the journal by number, by group, by actor and by time."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

from engine.domain.errors import NotFound
from engine.domain.memory import JournalEntry
from engine.domain.trail import TailFilters
from engine.storage.database import Connection
from engine.storage.journal import COLUMNS, MEMORY, entry_of


def find(connection: Connection, entry_id: int) -> JournalEntry:
    """One entry; raises :class:`NotFound`."""
    row = connection.execute(f"SELECT {COLUMNS} FROM journal WHERE id = ?", (entry_id,)).fetchone()
    if row is None:
        raise NotFound("error.no_such_entry", entry=entry_id)
    return entry_of(row)


def of_group(connection: Connection, group_uid: str) -> list[JournalEntry]:
    """The entries of one group, oldest first."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM journal WHERE group_uid = ? ORDER BY id", (group_uid,)
    )
    return [entry_of(row) for row in rows]


def group_named(connection: Connection, name: str) -> str:
    """The group that a uid or its last eight digits name; raises :class:`NotFound`."""
    rows = connection.execute(
        """SELECT DISTINCT group_uid FROM journal
        WHERE group_uid = :name OR (length(:name) = 8 AND group_uid LIKE '%' || :name) LIMIT 2""",
        {"name": name},
    ).fetchall()
    if len(rows) != 1:
        raise NotFound("error.no_such_group", group=name[:60])
    return str(rows[0][0])


def group_uids(
    connection: Connection, actor: str | None, memory_id: int | None = None
) -> Iterator[str]:
    """Groups that an actor (``None``: anybody) wrote, of one memory or of all, the one written
    last first."""
    subject = "subject_kind = 'memory' AND subject_id = :memory_id AND"
    rows = connection.execute(
        f"""SELECT group_uid FROM journal WHERE {subject if memory_id is not None else ""}
        (:actor IS NULL OR actor = :actor) ORDER BY id DESC""",
        {"actor": actor, "memory_id": memory_id},
    )
    seen: set[str] = set()
    for (group_uid,) in rows:
        if group_uid not in seen:
            seen.add(group_uid)
            yield group_uid


def undone(connection: Connection, ids: Collection[int]) -> set[int]:
    """Those of the entries that are taken back now: undone, and that undo not undone in turn."""
    takers = connection.execute(
        "SELECT id, undoes FROM journal WHERE undoes IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(ids)),),
    ).fetchall()
    if not takers:
        return set()
    void = undone(connection, [row[0] for row in takers])
    return {int(row[1]) for row in takers if row[0] not in void}


def of_memory_after(connection: Connection, memory_id: int, entry_id: int) -> list[JournalEntry]:
    """Entries about one memory that were written after an entry, oldest first."""
    rows = connection.execute(
        f"""SELECT {COLUMNS} FROM journal WHERE subject_kind = :kind AND subject_id = :memory_id
        AND id > :entry_id ORDER BY id""",
        {"kind": MEMORY, "memory_id": memory_id, "entry_id": entry_id},
    )
    return [entry_of(row) for row in rows]


def tail(connection: Connection, count: int, filters: TailFilters) -> list[JournalEntry]:
    """Up to ``count`` entries, newest first."""
    rows = connection.execute(
        f"""SELECT {COLUMNS} FROM journal WHERE (:operation IS NULL OR operation = :operation)
        AND (:actor IS NULL OR actor = :actor) AND (:since IS NULL OR at >= :since)
        AND (:before_id IS NULL OR id < :before_id) ORDER BY id DESC LIMIT :row_limit""",
        {
            "operation": filters.operation,
            "actor": filters.actor,
            "since": filters.since,
            "before_id": filters.before_id,
            "row_limit": count,
        },
    )
    return [entry_of(row) for row in rows]


def memory_changes_after(
    connection: Connection, moment: float, memory_id: int | None = None
) -> Iterator[JournalEntry]:
    """What happened to memories (or to one) after a moment, newest first."""
    one = "AND subject_id = :memory_id" if memory_id is not None else ""
    rows = connection.execute(
        f"""SELECT {COLUMNS} FROM journal WHERE subject_kind = 'memory' {one} AND at > :moment
        ORDER BY id DESC""",
        {"moment": moment, "memory_id": memory_id},
    )
    return map(entry_of, rows)


def last_changes_by(
    connection: Connection, moment: float, memory_ids: Iterable[int]
) -> dict[int, float]:
    """When each memory was changed last, up to a moment."""
    rows = connection.execute(
        """SELECT subject_id, max(at) FROM journal WHERE subject_kind = 'memory'
        AND subject_id IN (SELECT value FROM json_each(:ids)) AND at <= :moment
        AND operation <> 'reinforce' GROUP BY subject_id""",
        {"ids": json.dumps(list(memory_ids)), "moment": moment},
    )
    return {int(row[0]): float(row[1]) for row in rows}


def reaches_back_to(connection: Connection) -> float | None:
    """The moment before which entries are missing; ``None`` when none ever were removed.

    Numbers have no gaps but where old entries were removed; of those only whole groups go, so
    that a few older ones may be left before a gap.
    """
    first, last, count = connection.execute(
        """SELECT coalesce(min(id), 1), coalesce(max(id),
        (SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0), count(*) FROM journal"""
    ).fetchone()
    if first == 1 and count == last:
        return None
    row = connection.execute(
        """SELECT at FROM journal j WHERE NOT EXISTS (SELECT 1 FROM journal p
        WHERE p.id = j.id - 1) ORDER BY id DESC LIMIT 1"""
    ).fetchone()
    return float("inf") if row is None else float(row[0])


def memory_once_called(connection: Connection, uid: str) -> int | None:
    """The id of a memory that the journal knows by this uid, or by its last eight digits."""
    row = connection.execute(
        """SELECT subject_id FROM journal WHERE subject_kind = 'memory'
        AND (subject_uid = :uid OR (length(:uid) = 8 AND subject_uid LIKE '%' || :uid))
        ORDER BY id DESC LIMIT 1""",
        {"uid": uid},
    ).fetchone()
    return int(row[0]) if row else None
