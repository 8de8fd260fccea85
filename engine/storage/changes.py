"""The change sequence: how every process of a store notices what another one wrote.

Each write marks its subject with the next number. Only a subject's last mark is kept, so the
table is bounded by the number of subjects, not by the number of edits.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.storage.database import Connection

MEMORY = "memory"
WORKSPACE = "workspace"


def mark(connection: Connection, subject_kind: str, subject_ids: Iterable[int]) -> None:
    """Give each subject the next number of the sequence."""
    connection.executemany(
        "INSERT OR REPLACE INTO change (subject_kind, subject_id) VALUES (?, ?)",
        [(subject_kind, subject_id) for subject_id in subject_ids],
    )


def last(connection: Connection) -> int:
    """The highest number given so far; 0 in a store that was never written."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'change'").fetchone()
    return int(row[0]) if row else 0


def subjects_after(connection: Connection, seq: int, subject_kind: str) -> list[int]:
    """Subjects of one kind marked after ``seq``, in the order of their marks."""
    rows = connection.execute(
        "SELECT subject_id FROM change WHERE seq > ? AND subject_kind = ? ORDER BY seq",
        (seq, subject_kind),
    )
    return [int(row[0]) for row in rows]


def history_uid(connection: Connection) -> str:
    """Names the history that the numbers count in: a restored backup starts another one."""
    return str(connection.execute("SELECT history_uid FROM store").fetchone()[0])
