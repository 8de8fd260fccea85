"""The journal: one row for every change of the store, in the change's own transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from engine.domain.memory import FieldValue, JournalEntry
from engine.domain.text import scrub
from engine.storage.database import Connection, Row

MEMORY = "memory"
ATOM = "atom"
NODE = "node"
WORKSPACE = "workspace"
LINK = "link"
FACT = "fact"
STORE = "store"

UNDO = "undo"
REDO = "redo"
CREATIONS = ("memorize", "import", "reflect")
"""Operations whose entry without changes stands for a memory that is new."""

Changes = Mapping[str, tuple[FieldValue, FieldValue]]

COLUMNS = """id, group_uid, at, operation, actor, subject_kind, subject_id, subject_uid, changes,
    other_id, undoes"""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who changes something, when, and as part of which group (a bulk change is one).

    ``undoes`` is the entry that a change takes back.
    """

    actor: str
    at: float
    group_uid: str
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What an entry is about. Of a link it is the memory it starts from; ``other_id`` is the
    memory at the other end of a link, a successor, or the memory that a fact came from."""

    id: int
    uid: str
    kind: str = MEMORY
    other_id: int | None = None


def append(
    connection: Connection,
    stamp: Stamp,
    operation: str,
    subject: Subject,
    changes: Changes,
) -> int:
    """Write one entry for the ``subject`` and return the entry's id.

    ``changes`` maps each changed field to its value before and after; empty for a new memory.
    """
    cursor = connection.execute(
        """INSERT INTO journal
        (group_uid, at, operation, actor, subject_kind, subject_id, subject_uid, changes,
        other_id, undoes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            stamp.group_uid,
            stamp.at,
            operation,
            scrub(stamp.actor),
            subject.kind,
            subject.id,
            subject.uid,
            json.dumps(changes, ensure_ascii=False),
            subject.other_id,
            stamp.undoes,
        ),
    )
    return int(cursor.lastrowid or 0)


def history(connection: Connection, memory_id: int) -> list[JournalEntry]:
    """Entries of one memory, oldest first, with those of which it is only the other end: its
    links, what it took the place of, the facts that came from it."""
    rows = connection.execute(
        f"""SELECT {COLUMNS} FROM journal WHERE id IN (
            SELECT id FROM journal WHERE subject_kind = 'memory' AND subject_id = :memory_id
            UNION SELECT id FROM journal WHERE subject_kind = 'link' AND subject_id = :memory_id
            UNION SELECT id FROM journal WHERE other_id = :memory_id)
        ORDER BY id""",
        {"memory_id": memory_id},
    )
    return [entry_of(row) for row in rows]


def erase_snapshots(connection: Connection, memory_id: int) -> None:
    """Remove what the journal holds of a memory's content; that it existed stays."""
    connection.execute(
        "UPDATE journal SET changes = '{}' WHERE subject_kind = ? AND subject_id = ?",
        (MEMORY, memory_id),
    )


def entry_of(row: Row) -> JournalEntry:
    """The entry that a row of :data:`COLUMNS` holds."""
    return JournalEntry(
        id=row["id"],
        group_uid=row["group_uid"],
        at=row["at"],
        operation=row["operation"],
        actor=row["actor"],
        subject_kind=row["subject_kind"],
        subject_id=row["subject_id"],
        subject_uid=row["subject_uid"],
        changes=parsed(row["changes"]),
        other_id=row["other_id"],
        undoes=row["undoes"],
    )


def parsed(text: str) -> dict[str, tuple[FieldValue, FieldValue]]:
    """The changes that a row holds, lists as tuples."""
    return {
        name: (_value(before), _value(after)) for name, (before, after) in json.loads(text).items()
    }


def _value(value: FieldValue | list[str]) -> FieldValue:
    return tuple(value) if isinstance(value, list) else value
