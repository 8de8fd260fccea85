"""Memories by when they were made: what the store's past is built upon."""

from __future__ import annotations

from dataclasses import dataclass

from engine.storage.database import Connection


@dataclass(frozen=True, slots=True)
class Listed:
    """A memory with when it was made and when it went to the trash (epoch seconds), and its
    workspace."""

    id: int
    created_at: float
    deleted_at: float | None
    workspace_id: int


def ids_by_age(connection: Connection, memory_id: int | None = None) -> list[Listed]:
    """All memories that are there, or the one asked for."""
    rows = connection.execute(
        """SELECT id, created_at, deleted_at, workspace_id FROM memory
        WHERE :memory_id IS NULL OR id = :memory_id""",
        {"memory_id": memory_id},
    )
    return [Listed(*row) for row in rows]


def workspace_names(connection: Connection) -> dict[int, str]:
    """The name of every workspace by its row id."""
    rows = connection.execute("SELECT id, name FROM workspace")
    return {int(row[0]): str(row[1]) for row in rows}
