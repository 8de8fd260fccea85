"""Counts for people: by kind, source, state, workspace and tag."""

from __future__ import annotations

from dataclasses import dataclass

from engine.storage.database import Connection


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the store holds. Facets count memories outside the trash."""

    total: int
    by_state: dict[str, int]
    by_kind: dict[str, int]
    by_source: dict[str, int]
    by_workspace: dict[str, int]
    by_tag: dict[str, int]
    pinned: int
    vectors: int
    journal_entries: int


_FACETS = {
    "kind": "SELECT kind, count(*) FROM memory WHERE deleted_at IS NULL GROUP BY 1",
    "source": "SELECT source, count(*) FROM memory WHERE deleted_at IS NULL GROUP BY 1",
    "workspace": """SELECT w.name, count(*) FROM memory m JOIN workspace w ON w.id = m.workspace_id
        WHERE m.deleted_at IS NULL GROUP BY 1""",
    "tag": """SELECT l.folded, count(*) FROM memory_label l JOIN memory m ON m.id = l.memory_id
        WHERE l.field = 'tags' AND m.deleted_at IS NULL GROUP BY 1""",
    "state": """SELECT CASE WHEN deleted_at IS NOT NULL THEN 'deleted'
        WHEN superseded_at IS NOT NULL THEN 'superseded' WHEN archived_at IS NOT NULL
        THEN 'archived' WHEN expires_at <= :now THEN 'expired' ELSE 'live' END, count(*)
        FROM memory GROUP BY 1""",
}


def collect(connection: Connection, now: float) -> Statistics:
    """Count everything; facets in falling order of their counts."""
    by_state = _facet(connection, "state", now)
    return Statistics(
        total=sum(count for state, count in by_state.items() if state != "deleted"),
        by_state=by_state,
        by_kind=_facet(connection, "kind", now),
        by_source=_facet(connection, "source", now),
        by_workspace=_facet(connection, "workspace", now),
        by_tag=_facet(connection, "tag", now),
        pinned=_number(
            connection, "SELECT count(*) FROM memory WHERE pinned AND deleted_at IS NULL"
        ),
        vectors=_number(connection, "SELECT count(*) FROM piece"),
        journal_entries=_number(connection, "SELECT count(*) FROM journal"),
    )


def _facet(connection: Connection, name: str, now: float) -> dict[str, int]:
    rows = connection.execute(f"{_FACETS[name]} ORDER BY 2 DESC, 1", {"now": now})
    return {str(row[0]): int(row[1]) for row in rows}


def _number(connection: Connection, sql: str) -> int:
    return int(connection.execute(sql).fetchone()[0])
