"""Texts of the store by the row, for whoever has to look at all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.storage.database import Connection


@dataclass(frozen=True, slots=True)
class JournalText:
    """What one entry of the journal holds: its changes as JSON."""

    id: int
    changes: str


def memory_ids(connection: Connection, after: int, limit: int) -> list[int]:
    """Ids of memories of every state beyond one, in their order."""
    rows = connection.execute(
        "SELECT id FROM memory WHERE id > :after ORDER BY id LIMIT :limit",
        {"after": after, "limit": limit},
    )
    return [row[0] for row in rows]


def journal_texts(connection: Connection, after: int, limit: int) -> list[JournalText]:
    """Entries beyond one that hold any change, in their order."""
    rows = connection.execute(
        """SELECT id, changes FROM journal WHERE id > :after AND changes <> '{}'
        ORDER BY id LIMIT :limit""",
        {"after": after, "limit": limit},
    )
    return [JournalText(row[0], row[1]) for row in rows]


def set_journal_text(connection: Connection, text: JournalText) -> None:
    """Put other changes into an entry of the journal."""
    connection.execute(
        "UPDATE journal SET changes = :changes WHERE id = :id",
        {"id": text.id, "changes": text.changes},
    )


def fact_terms(connection: Connection) -> list[tuple[int, Mapping[str, str]]]:
    """Every fact's subject, predicate and object as shown."""
    rows = connection.execute("SELECT id, subject, predicate, object FROM fact ORDER BY id")
    return [(row[0], {"subject": row[1], "predicate": row[2], "object": row[3]}) for row in rows]


def begin_wiping(connection: Connection) -> None:
    """Let this connection overwrite what it deletes or replaces."""
    connection.execute("PRAGMA secure_delete=ON")
