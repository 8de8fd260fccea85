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

CHECKED_ROWS = 20_000
"""Above, FTS5's own check would keep others from writing for seconds; it is made of each backup."""

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


def count_without_text_row(connection: Connection) -> int:
    """How many memories outside the trash full-text search cannot see."""
    row = connection.execute(
        """SELECT count(*) FROM memory m LEFT JOIN fts_row f ON f.id = m.id
        WHERE m.deleted_at IS NULL AND f.id IS NULL"""
    ).fetchone()
    return int(row[0])


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
    try:
        indexed = _indexed_sums(connection, index)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        # The index itself is damaged, and SQLite says so of the whole file.
        indexed = {}
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


def live_after(connection: Connection, last_id: int, limit: int) -> list[int]:
    """The next memories outside the trash, by id."""
    rows = connection.execute(
        "SELECT id FROM memory WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?",
        (last_id, limit),
    )
    return [int(row[0]) for row in rows]


def in_use_for_s(connection: Connection, now: float) -> float:
    """Seconds since the oldest entry of the journal; 0 without any, never negative."""
    row = connection.execute("SELECT at FROM journal ORDER BY id LIMIT 1").fetchone()
    return max(0.0, now - float(row[0])) if row else 0.0


def journal_size(connection: Connection) -> tuple[int, int]:
    """Entries of the journal, and the bytes of their changes."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum(length(CAST(changes AS BLOB))), 0) FROM journal"
    ).fetchone()
    return int(row[0]), int(row[1])


def dangling(connection: Connection) -> int:
    """Rows that point at a row that is gone."""
    return len(connection.execute("PRAGMA foreign_key_check").fetchall())


def drop_dangling(connection: Connection) -> int:
    """Do to rows whose owner is gone what would have been done when it went: remove them, or
    let go of it. Returns how many were changed; the connection enforces no references."""
    changed, before = 0, -1
    while changed != before:
        before = changed
        tables = {str(row[0]) for row in connection.execute("PRAGMA foreign_key_check")}
        for table in sorted(tables):
            changed += _drop_dangling_of(connection, table)
    return changed


def _drop_dangling_of(connection: Connection, table: str) -> int:
    changed = 0
    for reference in connection.execute(f"PRAGMA foreign_key_list({table})").fetchall():
        parent, column, target, action = (
            reference["table"],
            reference["from"],
            reference["to"] or "id",
            reference["on_delete"],
        )
        lost = (
            f"{column} IS NOT NULL AND NOT EXISTS "
            f"(SELECT 1 FROM {parent} WHERE {parent}.{target} = {table}.{column})"
        )
        if action == "CASCADE":
            changed += connection.execute(f"DELETE FROM {table} WHERE {lost}").rowcount
        elif action == "SET NULL":
            changed += connection.execute(
                f"UPDATE {table} SET {column} = NULL WHERE {lost}"
            ).rowcount
    return changed


def ownerless_vectors(connection: Connection) -> int:
    """Vectors, and marks that wait for some, of memories that are gone."""
    row = connection.execute(
        """SELECT (SELECT count(*) FROM piece WHERE owner_kind = 'memory'
            AND owner_id NOT IN (SELECT id FROM memory))
        + (SELECT count(*) FROM pending_embedding WHERE owner_kind = 'memory'
            AND owner_id NOT IN (SELECT id FROM memory))"""
    ).fetchone()
    return int(row[0])


def drop_ownerless_vectors(connection: Connection) -> int:
    """Remove what :func:`ownerless_vectors` counts."""
    pieces = connection.execute(
        """DELETE FROM piece WHERE owner_kind = 'memory'
        AND owner_id NOT IN (SELECT id FROM memory)"""
    )
    return pieces.rowcount + _drop_ownerless_marks(connection)


def _drop_ownerless_marks(connection: Connection) -> int:
    cursor = connection.execute(
        """DELETE FROM pending_embedding WHERE owner_kind = 'memory'
        AND owner_id NOT IN (SELECT id FROM memory)"""
    )
    return cursor.rowcount


def without_vectors(
    connection: Connection, space_id: int | None, *, but_private: bool = False
) -> int:
    """Memories outside the trash that have no vectors in a space and do not wait for any; on
    request private ones are not counted."""
    row = connection.execute(
        """SELECT count(*) FROM memory m WHERE m.deleted_at IS NULL AND NOT EXISTS
        (SELECT 1 FROM piece p WHERE p.owner_kind = 'memory' AND p.owner_id = m.id
         AND p.space_id = :space_id) AND NOT EXISTS (SELECT 1 FROM pending_embedding e
         WHERE e.owner_kind = 'memory' AND e.owner_id = m.id)
        AND NOT (m.private AND :but_private)""",
        {"space_id": space_id, "but_private": but_private},
    ).fetchone()
    return int(row[0])
