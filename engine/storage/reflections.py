"""What there is to be summed up, and what a summary was made of."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.reflection import SOURCE
from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import condition

# Those in the trash count as well: a summary that somebody threw away is not made again.
_SUMMED_UP = f"""EXISTS (SELECT 1 FROM link l JOIN memory r ON r.id = l.source_id
    WHERE l.target_id = m.id AND l.relation = 'derived_from' AND r.source = '{SOURCE}')"""


@dataclass(frozen=True, slots=True)
class Due:
    """Memories that no summary was made of: the newest ``ids``, and how many there are."""

    ids: tuple[int, ...]
    total: int


def due(connection: Connection, filters: Filters, now: float, limit: int) -> Due:
    """Memories that pass the filters and that no summary was made of."""
    where = condition(filters, now)
    from_where = f"FROM memory m WHERE {where.sql} AND NOT {_SUMMED_UP}"
    total = connection.execute(f"SELECT count(*) {from_where}", where.parameters).fetchone()[0]
    rows = connection.execute(
        f"SELECT m.id {from_where} ORDER BY m.created_at DESC, m.id DESC LIMIT :row_limit",
        {**where.parameters, "row_limit": limit},
    )
    return Due(tuple(int(row[0]) for row in rows), int(total))


def made_of(connection: Connection, memory_id: int) -> list[int]:
    """The summaries that were made of a memory and may quote it, those in the trash too."""
    rows = connection.execute(
        f"""SELECT r.id FROM link l JOIN memory r ON r.id = l.source_id
        WHERE l.target_id = ? AND l.relation = 'derived_from' AND r.source = '{SOURCE}'
        ORDER BY r.id""",
        (memory_id,),
    )
    return [int(row[0]) for row in rows]
