"""Lists of any length: the order of all matching memories, and how they spread over facets."""

from __future__ import annotations

from array import array

from engine.domain.listing import FacetCount, Facets
from engine.domain.memory import Strength
from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import Condition, condition

_ORDERS = {
    "newest": "m.created_at DESC, m.id DESC",
    "oldest": "m.created_at, m.id",
    "updated": "m.updated_at DESC, m.id DESC",
    "happened": "coalesce(m.event_time, m.created_at) DESC, m.id DESC",
    "important": "s.importance_now DESC, m.id DESC",
    "used": "s.last_access IS NULL, s.last_access DESC, m.id DESC",
    "fading": "s.importance_now, m.id",
}
_STRENGTH = " JOIN memory_strength s ON s.memory_id = m.id"
_STATE = """CASE WHEN m.deleted_at IS NOT NULL THEN 'deleted'
    WHEN m.superseded_at IS NOT NULL THEN 'superseded'
    WHEN m.archived_at IS NOT NULL THEN 'archived'
    WHEN m.expires_at IS NOT NULL AND m.expires_at <= :facet_now THEN 'expired'
    ELSE 'live' END"""
_WORKSPACE = "(SELECT name FROM workspace w WHERE w.id = m.workspace_id)"
_MONTH = "strftime('%Y-%m', m.created_at, 'unixepoch')"


def ordered_ids(connection: Connection, filters: Filters, now: float, order: str) -> array[int]:
    """Ids of all memories that pass the filters, in one of :data:`engine.domain.listing.ORDERS`."""
    where = condition(filters, now)
    strength = _STRENGTH if "s." in _ORDERS[order] else ""
    rows = connection.execute(
        f"SELECT m.id FROM memory m{strength} WHERE {where.sql} ORDER BY {_ORDERS[order]}",
        where.parameters,
    )
    return array("q", (row[0] for row in rows))


def strength(connection: Connection, memory_id: int) -> Strength | None:
    """What fades and grows with use of one memory."""
    row = connection.execute(
        """SELECT importance_now, salience, last_access, access_count, access_window
        FROM memory_strength WHERE memory_id = ?""",
        (memory_id,),
    ).fetchone()
    return Strength(*row) if row else None


def facets(connection: Connection, filters: Filters, now: float, tag_limit: int) -> Facets:
    """How the memories that pass the filters spread over kind, workspace, source, state, month
    of writing and their most frequent tags; each falling by number."""
    where = condition(filters, now)
    where.parameters["facet_now"] = now
    return Facets(
        kinds=_counted(connection, "m.kind", where),
        workspaces=_counted(connection, _WORKSPACE, where),
        sources=_counted(connection, "m.source", where),
        states=_counted(connection, _STATE, where),
        months=tuple(sorted(_counted(connection, _MONTH, where), key=_value, reverse=True)),
        tags=_tags(connection, where, tag_limit),
    )


def _counted(connection: Connection, column: str, where: Condition) -> tuple[FacetCount, ...]:
    rows = connection.execute(
        f"""SELECT {column} AS value, count(*) AS number FROM memory m WHERE {where.sql}
        GROUP BY value ORDER BY number DESC, value""",
        where.parameters,
    )
    return tuple(FacetCount(row[0], row[1]) for row in rows)


def _tags(connection: Connection, where: Condition, limit: int) -> tuple[FacetCount, ...]:
    rows = connection.execute(
        f"""SELECT l.folded, count(*) AS number FROM memory m
        JOIN memory_label l ON l.memory_id = m.id AND l.field = 'tags' WHERE {where.sql}
        GROUP BY l.folded ORDER BY number DESC, l.folded LIMIT :tag_limit""",
        {**where.parameters, "tag_limit": limit},
    )
    return tuple(FacetCount(row[0], row[1]) for row in rows)


def _value(count: FacetCount) -> str:
    return count.value
