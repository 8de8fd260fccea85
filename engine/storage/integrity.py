"""Do the store's tables agree with each other?

The cheap comparison counts; the deep one compares what the full-text index really holds,
since ``PRAGMA integrity_check`` says "ok" while it is broken.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TypeAlias

from engine.storage.database import Connection
from engine.storage.fulltext import TEXT_INDEXES, TextIndex

_Sums: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers that agree in a healthy store: ``live`` = ``text_rows`` = ``indexed_rows``."""

    live: int
    trash: int
    text_rows: int
    indexed_rows: int

    @property
    def agree(self) -> bool:
        """True when every memory outside the trash has its text row and nothing else has."""
        return self.live == self.text_rows and self.indexed_rows_agree

    @property
    def indexed_rows_agree(self) -> bool:
        """True when the index counts as many rows as there are text rows."""
        return self.text_rows == self.indexed_rows


def counts(connection: Connection) -> Counts:
    """Count memories and their text rows."""
    row = connection.execute(
        """SELECT (SELECT count(*) FROM memory) - (SELECT count(*) FROM memory
            WHERE deleted_at IS NOT NULL),
        (SELECT count(*) FROM memory WHERE deleted_at IS NOT NULL),
        (SELECT count(*) FROM fts_row),
        (SELECT coalesce(sum(row_count), 0) FROM fts_total WHERE name = 'memory')"""
    ).fetchone()
    return Counts(*row)


def without_text_row(connection: Connection, limit: int) -> list[int]:
    """Memories outside the trash that full-text search cannot see."""
    rows = connection.execute(
        """SELECT m.id FROM memory m LEFT JOIN fts_row f ON f.id = m.id
        WHERE m.deleted_at IS NULL AND f.id IS NULL ORDER BY m.id LIMIT ?""",
        (limit,),
    )
    return [int(row[0]) for row in rows]


def stray_text_rows(connection: Connection) -> list[int]:
    """Text rows whose memory is gone or in the trash."""
    rows = connection.execute(
        """SELECT f.id FROM fts_row f LEFT JOIN memory m ON m.id = f.id
        WHERE m.id IS NULL OR m.deleted_at IS NOT NULL ORDER BY f.id"""
    )
    return [int(row[0]) for row in rows]


def database_verdict(connection: Connection) -> str:
    """SQLite's own check of the file: ``ok`` or its first complaint."""
    return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])


def fulltext_differences(connection: Connection) -> int:
    """Number of memories, atoms and graph entries whose indexed tokens differ from their text
    row (deep, slow).

    Compares for each row how many tokens there are, how many bytes they have together,
    and their first and last characters, each summed up.
    """
    return sum(_differences(connection, index) for index in TEXT_INDEXES)


def _differences(connection: Connection, index: TextIndex) -> int:
    indexed = _indexed_sums(connection, index)
    rows = connection.execute(f"SELECT id, words, chars FROM {index.rows}")
    expected = {int(row[0]): sums for row in rows if (sums := _sums(f"{row[1]} {row[2]}"))[0]}
    return sum(
        indexed.get(row_id) != expected.get(row_id) for row_id in indexed.keys() | expected.keys()
    )


def fulltext_verdict(connection: Connection) -> str:
    """FTS5's own check of every index: ``ok`` or the first complaint; needs a write transaction."""
    for index in TEXT_INDEXES:
        try:
            connection.execute(
                f"INSERT INTO {index.table} ({index.table}, rank) VALUES ('integrity-check', 0)"
            )
        except sqlite3.DatabaseError as error:
            return str(error)
    return "ok"


def _sums(tokens: str) -> _Sums:
    parts = [part for part in tokens.split(" ") if part]
    return (
        len(parts),
        len(tokens.encode()) - tokens.count(" "),
        sum(map(ord, [part[0] for part in parts])),
        sum(map(ord, [part[-1] for part in parts])),
    )


def _indexed_sums(connection: Connection, index: TextIndex) -> dict[int, _Sums]:
    # A temporary view of the index counts as a write for the connection, not for the store.
    query_only = connection.execute("PRAGMA query_only").fetchone()[0]
    connection.execute("PRAGMA query_only=OFF")
    try:
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{index.table}_terms "
            f"USING fts5vocab(main, {index.table}, instance)"
        )
        rows = connection.execute(
            f"""SELECT doc, count(*), sum(length(CAST(term AS BLOB))), sum(unicode(term)),
            sum(unicode(substr(term, -1))) FROM temp.{index.table}_terms GROUP BY doc"""
        ).fetchall()
    finally:
        connection.execute(f"PRAGMA query_only={query_only}")
    return {int(row[0]): (int(row[1]), int(row[2]), int(row[3]), int(row[4])) for row in rows}
