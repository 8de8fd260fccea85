"""What evaluation asks of the stores that it makes."""

from __future__ import annotations

from engine.storage.database import Connection


def memory_ids(connection: Connection, workspace: str) -> list[int]:
    """The memories of a workspace in the order in which they were written."""
    rows = connection.execute(
        """SELECT m.id FROM memory m JOIN workspace w ON w.id = m.workspace_id
        WHERE w.name = ? ORDER BY m.id""",
        (workspace,),
    )
    return [int(row[0]) for row in rows]
