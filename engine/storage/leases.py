"""Leases: work that one process of a store does at a time.

A lease ends by itself, so a killed holder blocks nobody for longer than its length. One that
reaches much further ahead than that was taken before the clock was set back, and has ended.
"""

from __future__ import annotations

from engine.storage.database import Connection

_UNLIKELY = 3.0


def take(connection: Connection, name: str, holder: str, now: float, seconds: float) -> bool:
    """Take or renew the lease; False when another holder's has not ended."""
    cursor = connection.execute(
        """INSERT INTO lease (name, holder, expires_at) VALUES (:name, :holder, :until)
        ON CONFLICT (name) DO UPDATE SET holder = :holder, expires_at = :until
        WHERE holder = :holder OR expires_at <= :now OR expires_at > :unlikely""",
        {
            "name": name,
            "holder": holder,
            "until": now + seconds,
            "now": now,
            "unlikely": now + _UNLIKELY * seconds,
        },
    )
    return cursor.rowcount == 1


def release(connection: Connection, name: str, holder: str) -> None:
    """Give the lease back, if it is still ours."""
    connection.execute("DELETE FROM lease WHERE name = ? AND holder = ?", (name, holder))
