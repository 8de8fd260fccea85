"""A workspace's row taken back and written again, as an undo does."""

from __future__ import annotations

from engine.domain.memory import FieldValue
from engine.storage.database import Connection


def value_of(connection: Connection, workspace_id: int, name: str) -> str | None:
    """The ``name`` or ``domain`` of a workspace, ``None`` when there is no such row."""
    column = {"name": "name", "domain": "domain"}[name]
    row = connection.execute(
        f"SELECT {column} FROM workspace WHERE id = ?", (workspace_id,)
    ).fetchone()
    return None if row is None else str(row[0])


def holds(connection: Connection, workspace_id: int) -> tuple[int, int]:
    """How many memories outside the trash a workspace has, and how much else it owns."""
    row = connection.execute(
        """SELECT (SELECT count(*) FROM memory WHERE workspace_id = :id AND deleted_at IS NULL),
        (SELECT count(*) FROM memory WHERE workspace_id = :id AND deleted_at IS NOT NULL)
        + (SELECT count(*) FROM atom WHERE workspace_id = :id)
        + (SELECT count(*) FROM fact WHERE workspace_id = :id)""",
        {"id": workspace_id},
    ).fetchone()
    return int(row[0]), int(row[1])


def remove(connection: Connection, workspace_id: int) -> None:
    """Remove a workspace that owns nothing."""
    connection.execute("DELETE FROM workspace WHERE id = ?", (workspace_id,))


def put(connection: Connection, workspace_id: int, uid: str, values: dict[str, FieldValue]) -> None:
    """Write a workspace with its former id; ``values`` are name, domain and created_at."""
    connection.execute(
        """INSERT INTO workspace (id, uid, name, domain, created_at)
        VALUES (:id, :uid, :name, :domain, :created_at)""",
        {"id": workspace_id, "uid": uid, **values},
    )


def created_at(connection: Connection, workspace_id: int) -> float:
    """When a workspace was made (epoch seconds)."""
    row = connection.execute("SELECT created_at FROM workspace WHERE id = ?", (workspace_id,))
    return float(row.fetchone()[0])
