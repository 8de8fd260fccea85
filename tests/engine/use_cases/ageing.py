"""Looking at what ages: strengths, and use put in by hand."""

from __future__ import annotations

from collections.abc import Iterable

from engine.bootstrap import Engine
from engine.domain.memory import JournalEntry, Strength
from engine.lifecycle.curves import DAY_S
from engine.storage import strength
from engine.storage.strength import StrengthRow


def row_of(engine: Engine, memory_id: int) -> StrengthRow:
    """The stored strength of a memory with its last step."""
    with engine.context.database.read() as connection:
        return strength.fetch(connection, [memory_id])[0]


def strength_of(engine: Engine, memory_id: int) -> Strength:
    """The stored strength of a memory."""
    return row_of(engine, memory_id).strength


def used(engine: Engine, memory_id: int, accesses: int) -> None:
    """Let a memory have been used just now, so many times."""
    with engine.context.database.write() as connection:
        connection.execute(
            """UPDATE memory_strength SET last_access = ?, access_count = access_count + ?,
            access_window = access_window + ? WHERE memory_id = ?""",
            (engine.context.clock.now(), accesses, accesses, memory_id),
        )


def entries(engine: Engine, operation: str) -> list[dict[str, object]]:
    """Journal rows of one operation, oldest first."""
    with engine.context.database.read() as connection:
        rows = connection.execute(
            "SELECT * FROM journal WHERE operation = ? ORDER BY id", (operation,)
        )
        return [dict(row) for row in rows]


def operations(history: Iterable[JournalEntry]) -> list[str]:
    """What was done, oldest first."""
    return [entry.operation for entry in history]


def days(count: float) -> float:
    """So many days in seconds."""
    return count * DAY_S
