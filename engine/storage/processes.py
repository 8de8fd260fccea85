"""The processes that have the store open, as they report themselves.

Rows are information for people; nothing is ever done to a process because of one, since its
number may by now belong to another program.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from engine.storage.database import Connection

STALE_AFTER_S = 180.0
_FORGOTTEN_AFTER_S = 86_400.0


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One open process: who it serves and when it was last seen (epoch seconds)."""

    token: str
    pid: int
    host: str
    client: str
    version: str
    config_version: str
    started_at: float
    last_seen: float


def report(connection: Connection, row: ProcessRow) -> None:
    """Write or refresh a process's row, and drop rows unseen for a day."""
    connection.execute(
        """INSERT OR REPLACE INTO process
        (token, pid, host, client, version, config_version, started_at, last_seen)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        astuple(row),
    )
    connection.execute(
        "DELETE FROM process WHERE last_seen < ?", (row.last_seen - _FORGOTTEN_AFTER_S,)
    )


def remove(connection: Connection, token: str) -> None:
    """Take a process's own row away when it closes."""
    connection.execute("DELETE FROM process WHERE token = ?", (token,))


def seen_since(connection: Connection, moment: float) -> list[ProcessRow]:
    """Processes that reported themselves at or after ``moment``, oldest start first."""
    rows = connection.execute(
        """SELECT token, pid, host, client, version, config_version, started_at, last_seen
        FROM process WHERE last_seen >= ? ORDER BY started_at""",
        (moment,),
    )
    return [ProcessRow(*row) for row in rows]
