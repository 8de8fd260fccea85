"""Which memories may be put aside, moved to the trash or reclaimed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain.retention import Doomed, Kept
from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import SqlValue, condition


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A memory and what its retention score is worked out from."""

    memory_id: int
    kept: Kept


@dataclass(frozen=True, slots=True)
class PurgeBounds:
    """Reclaimable is what expired or was deleted by these moments (epoch seconds)."""

    expired_by: float
    deleted_by: float


def scored_rows(
    connection: Connection,
    filters: Filters,
    protected_kinds: Sequence[str],
    now: float,
    among: Sequence[int] | None = None,
) -> list[ScoredRow]:
    """Memories that pass the filters at ``now``, neither pinned nor of a protected kind, by
    id; only those of ``among`` if given."""
    where = condition(filters, now)
    where.add("NOT m.pinned")
    where.add("m.kind NOT IN (SELECT value FROM json_each(:kinds))", kinds=_list(protected_kinds))
    if among is not None:
        where.add("m.id IN (SELECT value FROM json_each(:ids))", ids=_list(among))
    rows = connection.execute(
        f"""SELECT m.id, m.importance, m.created_at, s.last_access, s.access_count
        FROM memory m JOIN memory_strength s ON s.memory_id = m.id
        WHERE {where.sql} ORDER BY m.id""",
        where.parameters,
    )
    return [ScoredRow(row[0], Kept(row[1], row[2], row[3], row[4])) for row in rows]


def doomed(
    connection: Connection, bounds: PurgeBounds, after_id: int = 0, limit: int = -1
) -> list[Doomed]:
    """Memories that can be reclaimed, by id. Pinned ones never are; one in the trash goes by
    when it was put there, whatever its deadline."""
    parameters: dict[str, SqlValue] = {
        "expired_by": bounds.expired_by,
        "deleted_by": bounds.deleted_by,
        "after_id": after_id,
        "most": limit,
    }
    rows = connection.execute(
        """SELECT id, uid, why, since FROM (
            SELECT id, uid, 'expired' AS why, expires_at AS since FROM memory
            WHERE expires_at <= :expired_by AND deleted_at IS NULL AND NOT pinned
            UNION ALL
            SELECT id, uid, 'trash', deleted_at FROM memory
            WHERE deleted_at <= :deleted_by AND NOT pinned)
        WHERE id > :after_id ORDER BY id LIMIT :most""",
        parameters,
    )
    return [Doomed(row[0], row[1], row[2], row[3]) for row in rows]


def superseded_by(connection: Connection, memory_id: int) -> list[int]:
    """Memories whose successor this one is."""
    rows = connection.execute(
        "SELECT id FROM memory WHERE superseded_by = :memory_id ORDER BY id",
        {"memory_id": memory_id},
    )
    return [int(row[0]) for row in rows]


def same_texts(connection: Connection, now: float) -> tuple[int, int]:
    """How many live memories say word for word what another one of their workspace says, and
    how many such groups there are."""
    row = connection.execute(
        """SELECT coalesce(sum(number), 0), count(*) FROM (
            SELECT count(*) AS number FROM memory WHERE deleted_at IS NULL
            AND superseded_at IS NULL AND archived_at IS NULL
            AND (expires_at IS NULL OR expires_at > :now)
            GROUP BY workspace_id, content_hash HAVING count(*) > 1)""",
        {"now": now},
    ).fetchone()
    return int(row[0]), int(row[1])


def count_unused(connection: Connection, used_before: float, now: float) -> tuple[int, int]:
    """How many memories are live, and how many of them nobody used since a moment (those never
    used: which were made before it)."""
    row = connection.execute(
        """SELECT count(*), coalesce(sum(coalesce(s.last_access, m.created_at) < :before), 0)
        FROM memory m JOIN memory_strength s ON s.memory_id = m.id
        WHERE m.deleted_at IS NULL AND m.superseded_at IS NULL AND m.archived_at IS NULL
        AND (m.expires_at IS NULL OR m.expires_at > :now)""",
        {"before": used_before, "now": now},
    ).fetchone()
    return int(row[0]), int(row[1])


def _list(values: Sequence[str] | Sequence[int]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
