"""Which memories a briefing shows: ids by what makes them worth showing."""

from __future__ import annotations

from engine.domain.briefing import SessionNote
from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import condition


def newest(connection: Connection, filters: Filters, now: float, limit: int) -> list[int]:
    """Memories that pass the filters, newest first."""
    where = condition(filters, now)
    rows = connection.execute(
        f"""SELECT m.id FROM memory m WHERE {where.sql}
        ORDER BY m.created_at DESC, m.id DESC LIMIT :row_limit""",
        {**where.parameters, "row_limit": limit},
    )
    return [int(row[0]) for row in rows]


def most_important(connection: Connection, filters: Filters, now: float, limit: int) -> list[int]:
    """Memories that pass the filters, the most important first, then the newest."""
    where = condition(filters, now)
    rows = connection.execute(
        f"""SELECT m.id FROM memory m WHERE {where.sql}
        ORDER BY m.importance DESC, m.created_at DESC, m.id DESC LIMIT :row_limit""",
        {**where.parameters, "row_limit": limit},
    )
    return [int(row[0]) for row in rows]


def open_questions(connection: Connection, filters: Filters, now: float, limit: int) -> list[int]:
    """Questions that are neither answered nor dropped, the newest first."""
    where = condition(filters, now)
    rows = connection.execute(
        f"""SELECT m.id FROM memory m JOIN memory_body b ON b.memory_id = m.id
        WHERE {where.sql} AND m.kind = 'question'
        AND COALESCE(json_extract(b.details, '$.status'), 'open') = 'open'
        ORDER BY m.created_at DESC, m.id DESC LIMIT :row_limit""",
        {**where.parameters, "row_limit": limit},
    )
    return [int(row[0]) for row in rows]


def with_atoms(
    connection: Connection, atom_type: str, filters: Filters, now: float, limit: int
) -> list[int]:
    """Memories that state an active atom of one type, those with the surest and latest first."""
    where = condition(filters, now)
    rows = connection.execute(
        f"""SELECT m.id FROM atom a
        JOIN atom_mention n ON n.atom_id = a.id
        JOIN memory m ON m.id = n.memory_id
        WHERE a.state = 'active' AND a.type = :atom_type
        AND (a.expires_at IS NULL OR a.expires_at > :atoms_now) AND {where.sql}
        GROUP BY m.id ORDER BY max(a.confidence) DESC, max(a.refreshed_at) DESC, m.id DESC
        LIMIT :row_limit""",
        {**where.parameters, "atom_type": atom_type, "atoms_now": now, "row_limit": limit},
    )
    return [int(row[0]) for row in rows]


def sessions(connection: Connection, filters: Filters, now: float, limit: int) -> list[SessionNote]:
    """Conversations among the memories that pass the filters, the latest first."""
    where = condition(filters, now)
    rows = connection.execute(
        f"""SELECT m.session_id, min(m.created_at), min(m.id), count(*) FROM memory m
        WHERE m.session_id IS NOT NULL AND {where.sql}
        GROUP BY m.session_id ORDER BY max(m.created_at) DESC LIMIT :row_limit""",
        {**where.parameters, "row_limit": limit},
    )
    return [SessionNote(str(row[0]), float(row[1]), int(row[2]), int(row[3])) for row in rows]


def changed_standing(connection: Connection, change: int, looked_at: int) -> list[int]:
    """Directives and pinned memories among the ``looked_at`` latest changed ones after number
    ``change``, the latest first; hidden ones too."""
    rows = connection.execute(
        """SELECT m.id FROM (
            SELECT seq, subject_id FROM change WHERE seq > :change AND subject_kind = 'memory'
            ORDER BY seq DESC LIMIT :looked_at
        ) c CROSS JOIN memory m ON m.id = c.subject_id
        WHERE m.pinned OR m.kind = 'directive' ORDER BY c.seq DESC""",
        {"change": change, "looked_at": looked_at},
    )
    return [int(row[0]) for row in rows]
