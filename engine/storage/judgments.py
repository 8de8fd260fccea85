"""What people judged: which memory answers which query, and how well."""

from __future__ import annotations

from collections.abc import Iterable

from engine.domain.judgment import Judgment
from engine.storage.database import Connection

_COLUMNS = "query, memory_uid, relevant, grade, category, workspace, at, actor"


def put(connection: Connection, judgment: Judgment, folded_query: str) -> None:
    """Keep a judgment; a later one on the same query, workspace and memory takes its place."""
    connection.execute(
        """INSERT INTO judgment (query, folded_query, memory_uid, relevant, grade, category,
        workspace, at, actor) VALUES (:query, :folded_query, :memory_uid, :relevant, :grade,
        :category, :workspace, :at, :actor)
        ON CONFLICT (folded_query, workspace, memory_uid) DO UPDATE SET query = :query,
        relevant = :relevant, grade = :grade, category = :category, at = :at, actor = :actor""",
        {
            "query": judgment.query,
            "folded_query": folded_query,
            "memory_uid": judgment.memory_uid,
            "relevant": int(judgment.relevant),
            "grade": judgment.grade,
            "category": judgment.category,
            "workspace": judgment.workspace,
            "at": judgment.at,
            "actor": judgment.actor,
        },
    )


def listed(connection: Connection, folded_query: str | None = None) -> list[Judgment]:
    """All judgments, or those on one query, in the order in which queries were first judged.

    Spellings of a query that fold to the same count as one and come under the first.
    """
    rows = connection.execute(
        f"""SELECT min(id) OVER same, first_value(query) OVER same, {_COLUMNS} FROM judgment
        WHERE :folded_query IS NULL OR folded_query = :folded_query
        WINDOW same AS (PARTITION BY folded_query, workspace ORDER BY id
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
        ORDER BY 1, id""",
        {"folded_query": folded_query},
    )
    return [
        Judgment(
            query=row[1],
            memory_uid=row["memory_uid"],
            relevant=bool(row["relevant"]),
            grade=row["grade"],
            category=row["category"],
            workspace=row["workspace"],
            at=row["at"],
            actor=row["actor"],
        )
        for row in rows
    ]


def remove(
    connection: Connection, folded_query: str, workspace: str, memory_uids: Iterable[str] | None
) -> int:
    """Remove the judgments on a query, or only those on these memories; return how many."""
    if memory_uids is None:
        cursor = connection.execute(
            "DELETE FROM judgment WHERE folded_query = ? AND workspace = ?",
            (folded_query, workspace),
        )
        return cursor.rowcount
    return sum(_remove_one(connection, folded_query, workspace, uid) for uid in memory_uids)


def _remove_one(connection: Connection, folded_query: str, workspace: str, memory_uid: str) -> int:
    cursor = connection.execute(
        "DELETE FROM judgment WHERE folded_query = ? AND workspace = ? AND memory_uid = ?",
        (folded_query, workspace, memory_uid),
    )
    return cursor.rowcount
