"""The links between memories: rows in, rows out. Links of memories in the trash stay, unseen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from engine.domain.links import Link
from engine.storage.database import Connection, Row

_COLUMNS = "l.source_id, l.target_id, l.relation, l.created_at"


def put(connection: Connection, link: Link) -> bool:
    """Write a link; false when it was there."""
    cursor = connection.execute(
        """INSERT OR IGNORE INTO link (source_id, target_id, relation, created_at)
        VALUES (:source_id, :target_id, :relation, :created_at)""",
        {
            "source_id": link.source_id,
            "target_id": link.target_id,
            "relation": link.relation,
            "created_at": link.created_at,
        },
    )
    return cursor.rowcount > 0


def remove(connection: Connection, link: Link) -> bool:
    """Remove a link; false when it was not there."""
    cursor = connection.execute(
        """DELETE FROM link WHERE source_id = :source_id AND target_id = :target_id
        AND relation = :relation""",
        {"source_id": link.source_id, "target_id": link.target_id, "relation": link.relation},
    )
    return cursor.rowcount > 0


def between(connection: Connection, source_id: int, target_id: int) -> list[Link]:
    """The links from one memory to another, in the order of their relations."""
    rows = connection.execute(
        f"""SELECT {_COLUMNS} FROM link l WHERE l.source_id = :source_id
        AND l.target_id = :target_id ORDER BY l.relation""",
        {"source_id": source_id, "target_id": target_id},
    )
    return [_link(row) for row in rows]


def of_memory(connection: Connection, memory_id: int) -> list[Link]:
    """Every link that starts or ends at a memory, whatever state the other end is in."""
    rows = connection.execute(
        f"""SELECT {_COLUMNS} FROM link l WHERE l.source_id = :memory_id
        UNION ALL SELECT {_COLUMNS} FROM link l WHERE l.target_id = :memory_id
        ORDER BY 1, 2, 3""",
        {"memory_id": memory_id},
    )
    return [_link(row) for row in rows]


def touching(
    connection: Connection, ids: Iterable[int], relations: Sequence[str] = ()
) -> list[Link]:
    """Links that start or end at one of ``ids`` (of some relations, or of all), both ends
    outside the trash; the oldest first."""
    rows = connection.execute(
        f"""SELECT DISTINCT {_COLUMNS} FROM json_each(:ids) i
        JOIN link l ON l.source_id = i.value OR l.target_id = i.value
        JOIN memory s ON s.id = l.source_id AND s.deleted_at IS NULL
        JOIN memory t ON t.id = l.target_id AND t.deleted_at IS NULL
        WHERE :relations = '[]' OR l.relation IN (SELECT value FROM json_each(:relations))
        ORDER BY l.created_at, l.source_id, l.target_id, l.relation""",
        {"ids": json.dumps(list(ids)), "relations": json.dumps(list(relations))},
    )
    return [_link(row) for row in rows]


def among(connection: Connection, ids: Iterable[int]) -> dict[int, set[int]]:
    """For each of ``ids`` those of the others that it leads to."""
    found: dict[int, set[int]] = {}
    rows = connection.execute(
        """SELECT l.source_id, l.target_id FROM json_each(:ids) i
        JOIN link l ON l.source_id = i.value
        WHERE l.target_id IN (SELECT value FROM json_each(:ids))""",
        {"ids": json.dumps(list(ids))},
    )
    for source_id, target_id in rows:
        found.setdefault(int(source_id), set()).add(int(target_id))
    return found


def supersedes(connection: Connection, successor_id: int, former_id: int) -> bool:
    """Whether one memory supersedes another, over any number of steps."""
    row = connection.execute(
        """WITH RECURSIVE former(id) AS (
            SELECT target_id FROM link WHERE source_id = :start AND relation = 'supersedes'
            UNION SELECT l.target_id FROM link l JOIN former f ON l.source_id = f.id
            WHERE l.relation = 'supersedes')
        SELECT 1 FROM former WHERE id = :goal LIMIT 1""",
        {"start": successor_id, "goal": former_id},
    ).fetchone()
    return row is not None


def count(connection: Connection) -> int:
    """How many links there are, those of the trash included."""
    return int(connection.execute("SELECT count(*) FROM link").fetchone()[0])


def _link(row: Row) -> Link:
    return Link(int(row[0]), int(row[1]), str(row[2]), float(row[3]))
