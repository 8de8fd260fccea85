"""Vectors lent from one store to another, so that equal texts are not embedded again.

They belong to no memory: no search sees them, and whoever embeds finds them by the text's hash.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.storage.database import Connection, Row

_OWNER = "spare"


def lent(connection: Connection) -> Iterable[Row]:
    """The space and its size, hash and vector of every embedded piece that a memory has."""
    return connection.execute(
        """SELECT s.key, s.dims, p.content_hash, p.vector FROM piece p
        JOIN space s ON s.id = p.space_id WHERE p.owner_kind = 'memory'"""
    )


def borrow(connection: Connection, rows: Iterable[Row], now: float) -> None:
    """Put lent vectors beside the store's own, each space made where there is none."""
    spaces: dict[str, int] = {}
    for key, dims, content_hash, vector in rows:
        if key not in spaces:
            spaces[key] = _space(connection, key, dims, now)
        connection.execute(
            """INSERT INTO piece (owner_kind, owner_id, start_offset, end_offset,
            space_id, content_hash, vector) VALUES (?, 0, 0, 0, ?, ?, ?)""",
            (_OWNER, spaces[key], content_hash, vector),
        )


def give_back(connection: Connection) -> None:
    """Remove what was borrowed."""
    connection.execute("DELETE FROM piece WHERE owner_kind = ?", (_OWNER,))


def _space(connection: Connection, key: str, dims: int, now: float) -> int:
    """A borrowed space is not complete: it may not serve before the memories have its vectors."""
    connection.execute(
        """INSERT INTO space (key, dims, created_at, completed_at) VALUES (?, ?, ?, NULL)
        ON CONFLICT (key) DO NOTHING""",
        (key, dims, now),
    )
    row = connection.execute("SELECT id FROM space WHERE key = ?", (key,)).fetchone()
    return int(row[0])
