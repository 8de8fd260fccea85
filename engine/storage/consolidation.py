"""What merging repeated memories reads and writes."""

from __future__ import annotations

import json
from collections.abc import Iterable

from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import condition


def ids_by_worth(connection: Connection, filters: Filters, now: float) -> list[int]:
    """The memories that pass the filters, those first that are to stay: pinned ones, then the
    most important, then the oldest."""
    where = condition(filters, now)
    rows = connection.execute(
        f"""SELECT m.id FROM memory m WHERE {where.sql}
        ORDER BY m.pinned DESC, m.importance DESC, m.created_at, m.id""",
        where.parameters,
    )
    return [int(row[0]) for row in rows]


def same_text(connection: Connection, content_hash: str) -> list[int]:
    """Every memory outside the trash with the very same text."""
    rows = connection.execute(
        """SELECT id FROM memory WHERE content_hash = :content_hash AND deleted_at IS NULL
        ORDER BY id""",
        {"content_hash": content_hash},
    )
    return [int(row[0]) for row in rows]


def superseded_by(connection: Connection, memory_ids: Iterable[int]) -> list[int]:
    """The memories that any of these superseded."""
    rows = connection.execute(
        """SELECT m.id FROM json_each(:ids) i JOIN memory m ON m.superseded_by = i.value
        ORDER BY m.id""",
        {"ids": json.dumps(list(memory_ids))},
    )
    return [int(row[0]) for row in rows]


def add_strength(connection: Connection, memory_id: int, others: Iterable[int]) -> None:
    """Add to a memory the uses of others, and note the last of all; what fades goes on fading
    from where it is."""
    connection.execute(
        """UPDATE memory_strength SET
        access_count = access_count + (SELECT coalesce(sum(o.access_count), 0)
            FROM json_each(:others) i JOIN memory_strength o ON o.memory_id = i.value),
        last_access = (SELECT max(o.last_access) FROM json_each(:everyone) i
            JOIN memory_strength o ON o.memory_id = i.value),
        decayed_until = max(decayed_until,
            (SELECT created_at FROM memory WHERE id = :memory_id))
        WHERE memory_id = :memory_id""",
        {
            "memory_id": memory_id,
            "others": json.dumps(list(others)),
            "everyone": json.dumps([memory_id, *others]),
        },
    )
