"""What fades and grows with use, kept apart from what was written.

Nothing here touches revision, journal, change sequence or ``updated_at``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.domain.memory import Strength
from engine.storage.database import Connection, Row

_SELECT = """SELECT s.memory_id, m.kind, m.pinned, m.created_at, s.decayed_until,
    s.importance_now, s.salience, s.last_access, s.access_count, s.access_window
    FROM memory_strength s JOIN memory m ON m.id = s.memory_id"""


@dataclass(frozen=True, slots=True)
class StrengthRow:
    """A memory's strength with what decides how it fades. ``decayed_until`` is the last daily
    step it has had (epoch seconds); 0 stands for none since it was made."""

    memory_id: int
    kind: str
    pinned: bool
    created_at: float
    decayed_until: float
    strength: Strength

    @property
    def since(self) -> float:
        """Steps later than this are still to be done."""
        return self.decayed_until or self.created_at


def due(connection: Connection, moment: float, after_id: int, limit: int) -> list[StrengthRow]:
    """Memories that have not had the step of ``moment``, by id."""
    rows = connection.execute(
        f"""{_SELECT} WHERE s.memory_id > :after_id AND s.decayed_until < :moment
        AND m.created_at < :moment ORDER BY s.memory_id LIMIT :most""",
        {"after_id": after_id, "moment": moment, "most": limit},
    )
    return [_row(row) for row in rows]


def due_since(connection: Connection, moment: float) -> float | None:
    """The earliest last step among memories that have not had the one of ``moment``; ``None``
    when all of them have had it."""
    row = connection.execute(
        """SELECT min(CASE WHEN s.decayed_until = 0 THEN m.created_at ELSE s.decayed_until END)
        FROM memory_strength s JOIN memory m ON m.id = s.memory_id
        WHERE s.decayed_until < :moment AND m.created_at < :moment""",
        {"moment": moment},
    ).fetchone()
    return None if row[0] is None else float(row[0])


def fetch(connection: Connection, memory_ids: Iterable[int]) -> list[StrengthRow]:
    """The strength of some memories, by id; those that are gone are left out."""
    rows = connection.execute(
        f"""{_SELECT} WHERE s.memory_id IN (SELECT value FROM json_each(:ids))
        ORDER BY s.memory_id""",
        {"ids": json.dumps(list(memory_ids))},
    )
    return [_row(row) for row in rows]


def put(connection: Connection, rows: Sequence[StrengthRow]) -> None:
    """Write strengths with their last step, all columns."""
    connection.executemany(
        """UPDATE memory_strength SET importance_now = ?, salience = ?, last_access = ?,
        access_count = ?, access_window = ?, decayed_until = ? WHERE memory_id = ?""",
        [
            (
                row.strength.importance_now,
                row.strength.salience,
                row.strength.last_access,
                row.strength.access_count,
                row.strength.access_window,
                row.decayed_until,
                row.memory_id,
            )
            for row in rows
        ],
    )


def _row(row: Row) -> StrengthRow:
    return StrengthRow(row[0], row[1], bool(row[2]), row[3], row[4], Strength(*row[5:]))
