"""Which rules derived a memory's atoms and graph; no row means that they are to be derived."""

from __future__ import annotations

from collections.abc import Iterable

from engine.storage.database import Connection


def put(connection: Connection, memory_id: int, rules_version: str) -> None:
    """Note that the layers of a memory were derived by these rules."""
    connection.execute(
        """INSERT INTO memory_layers (memory_id, rules_version) VALUES (?, ?)
        ON CONFLICT (memory_id) DO UPDATE SET rules_version = excluded.rules_version""",
        (memory_id, rules_version),
    )


def remove(connection: Connection, memory_ids: Iterable[int]) -> None:
    """Have the layers of memories derived again."""
    connection.executemany(
        "DELETE FROM memory_layers WHERE memory_id = ?", [(memory_id,) for memory_id in memory_ids]
    )


def any_missing(connection: Connection) -> bool:
    """Whether there are memories whose layers were never derived: compares two counts."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM memory) > (SELECT count(*) FROM memory_layers)"
    ).fetchone()
    return bool(row[0])


def missing(connection: Connection, limit: int) -> list[int]:
    """The oldest memories whose layers were never derived."""
    rows = connection.execute(
        """SELECT m.id FROM memory m LEFT JOIN memory_layers l ON l.memory_id = m.id
        WHERE l.memory_id IS NULL ORDER BY m.id LIMIT ?""",
        (limit,),
    )
    return [int(row[0]) for row in rows]


def any_made_with(connection: Connection, part: str) -> bool:
    """Whether layers were derived by rules whose name holds this part."""
    row = connection.execute(
        "SELECT 1 FROM memory_layers WHERE instr(rules_version, ?) > 0 LIMIT 1", (part,)
    ).fetchone()
    return row is not None


def forget_made_with(connection: Connection, part: str) -> None:
    """Have layers that such rules derived made again."""
    connection.execute("DELETE FROM memory_layers WHERE instr(rules_version, ?) > 0", (part,))
