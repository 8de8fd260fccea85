"""Tombstones: uids of erased memories, so that a later import or sync does not revive them."""

from __future__ import annotations

from engine.storage.database import Connection


def put(connection: Connection, uid: str, at: float, origin: str | None) -> None:
    """Note that the memory with this uid was erased."""
    connection.execute(
        "INSERT OR IGNORE INTO tombstone (uid, at, origin) VALUES (?, ?, ?)", (uid, at, origin)
    )
