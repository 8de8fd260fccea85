"""Counts of the layers that are derived from memories."""

from __future__ import annotations

from engine.storage.database import Connection


def atoms_by_state(connection: Connection) -> dict[str, int]:
    """How many atoms are in each state."""
    rows = connection.execute("SELECT state, count(*) FROM atom GROUP BY state ORDER BY 2 DESC, 1")
    return {str(state): int(count) for state, count in rows}


def live_memories(connection: Connection) -> int:
    """How many memories are outside the trash and not superseded."""
    row = connection.execute(
        "SELECT count(*) FROM memory WHERE deleted_at IS NULL AND superseded_at IS NULL"
    ).fetchone()
    return int(row[0])
