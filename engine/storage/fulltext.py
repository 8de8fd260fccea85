"""The full-text index: written with its tokens, so that it can always be taken back.

The FTS5 table is contentless and holds two columns of tokens made by our own segmenters:
``words`` and ``chars`` (character bigrams of unspaced scripts). SQLite can only remove such a
row by its exact old tokens, so ``fts_row`` keeps them and one function here writes both, in
the caller's transaction. ``term`` counts in how many rows a token stands: FTS5's own count
costs milliseconds for a common one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import condition

WORDS = "words"
CHARS = "chars"
# FTS5 ranks candidates before the exact scoring in Python; a word says more than a bigram.
_COLUMN_WEIGHTS = "1.0, 0.5"
# Two spaces keep neighbours apart, so that " token " can be counted by str.count without
# overlaps, and "ab  bc" is a test for adjacency.
_GAP = "  "
_IDS_PER_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one memory in text order, with repetitions."""

    segmenter_id: str
    words: Sequence[str]
    chars: Sequence[str]


@dataclass(frozen=True, slots=True)
class TextRow:
    """Tokens as indexed: each token stands between two spaces on either side."""

    id: int
    word_count: int
    words: str
    chars: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Number of indexed rows and of words in them."""

    row_count: int
    word_count: int

    @property
    def mean_words(self) -> float:
        """Words per row, at least 1."""
        return max(1.0, self.word_count / max(1, self.row_count))


@dataclass(frozen=True, slots=True)
class Match:
    """One alternative of a query: a token (or, with ``prefix``, its beginning) in a column."""

    column: str
    token: str
    prefix: bool = False

    @property
    def expression(self) -> str:
        """The FTS5 form; a token is a quoted string and never syntax."""
        quoted = self.token.replace('"', '""')
        return f'{self.column}:"{quoted}"{"*" if self.prefix else ""}'


def put(connection: Connection, row_id: int, tokens: Tokens) -> None:
    """Index a memory, replacing what was indexed for it before."""
    remove(connection, row_id)
    row = TextRow(row_id, len(tokens.words), _joined(tokens.words), _joined(tokens.chars))
    _insert(connection, row)
    connection.execute(
        "INSERT INTO fts_row (id, segmenter_id, word_count, words, chars) VALUES (?, ?, ?, ?, ?)",
        (row.id, tokens.segmenter_id, row.word_count, row.words, row.chars),
    )
    _count(connection, row, 1)


def remove(connection: Connection, row_id: int) -> None:
    """Take a memory out of the index; one that is not in it is no error.

    If the index does not hold what ``fts_row`` says, SQLite calls the database malformed; then
    the whole index is built again from ``fts_row`` and the removal still succeeds.
    """
    row = connection.execute(
        "SELECT id, word_count, words, chars FROM fts_row WHERE id = ?", (row_id,)
    ).fetchone()
    if row is None:
        return
    old = TextRow(*row)
    connection.execute("SAVEPOINT fts_removal")
    try:
        connection.execute(
            "INSERT INTO memory_fts (memory_fts, rowid, words, chars) VALUES ('delete', ?, ?, ?)",
            (old.id, old.words, old.chars),
        )
        _forget(connection, old)
    except sqlite3.DatabaseError as error:
        if "malformed" not in str(error):
            raise
        connection.execute("ROLLBACK TO fts_removal")
        _forget(connection, old)
        rebuild(connection)
    connection.execute("RELEASE fts_removal")


def remove_for_good(connection: Connection, row_id: int) -> None:
    """Take a memory out so that its tokens are not left in the index's files either: a plain
    removal only marks them. The whole index is merged into one piece (0.15 s for 10,000
    memories)."""
    remove(connection, row_id)
    connection.execute("INSERT INTO memory_fts (memory_fts) VALUES ('optimize')")


def rebuild(connection: Connection) -> int:
    """Build the index and all counts again from ``fts_row``; return the number of rows."""
    connection.execute("INSERT INTO memory_fts (memory_fts) VALUES ('delete-all')")
    connection.execute("DELETE FROM term")
    connection.execute("UPDATE fts_total SET row_count = 0, word_count = 0")
    rows = connection.execute("SELECT id, word_count, words, chars FROM fts_row ORDER BY id")
    done = 0
    for values in rows.fetchall():
        row = TextRow(*values)
        _insert(connection, row)
        _count(connection, row, 1)
        done += 1
    return done


def search(
    connection: Connection,
    matches: Sequence[Match],
    filters: Filters,
    now: float,
    limit: int,
) -> list[int]:
    """Ids of up to ``limit`` memories that hold any of the tokens and pass the filters,
    the most promising first by BM25 without length normalisation."""
    if not matches:
        return []
    where = condition(filters, now)
    rows = connection.execute(
        f"""SELECT m.id FROM memory_fts JOIN memory m ON m.id = memory_fts.rowid
        WHERE memory_fts MATCH :query AND {where.sql}
        ORDER BY bm25(memory_fts, {_COLUMN_WEIGHTS}) LIMIT :row_limit""",
        {
            **where.parameters,
            "query": " OR ".join(match.expression for match in matches),
            "row_limit": limit,
        },
    )
    return [int(row[0]) for row in rows]


def rows_of(connection: Connection, ids: Iterable[int]) -> dict[int, TextRow]:
    """Indexed tokens by memory id; memories that are not indexed are left out."""
    ordered = list(ids)
    found: dict[int, TextRow] = {}
    for start in range(0, len(ordered), _IDS_PER_STATEMENT):
        run = ordered[start : start + _IDS_PER_STATEMENT]
        rows = connection.execute(
            f"""SELECT id, word_count, words, chars FROM fts_row
            WHERE id IN ({",".join("?" * len(run))})""",
            run,
        )
        found.update((row[0], TextRow(*row)) for row in rows)
    return found


def document_frequencies(connection: Connection, matches: Sequence[Match]) -> dict[Match, int]:
    """In how many rows each token stands (a prefix counts the rows of all its tokens, at most
    once for each of them, so it can exceed the number of rows)."""
    return {match: _document_frequency(connection, match) for match in matches}


def totals(connection: Connection) -> Totals:
    """Size of the index."""
    return Totals(*connection.execute("SELECT row_count, word_count FROM fts_total").fetchone())


def _document_frequency(connection: Connection, match: Match) -> int:
    if not match.prefix:
        row = connection.execute(
            "SELECT document_frequency FROM term WHERE field = ? AND term = ?",
            (match.column, match.token),
        ).fetchone()
        return int(row[0]) if row else 0
    total = connection.execute(
        """SELECT sum(document_frequency) FROM term
        WHERE field = ? AND term >= ? AND term < ?""",
        (match.column, match.token, match.token + "\U0010ffff"),
    ).fetchone()[0]
    return int(total or 0)


def _joined(tokens: Sequence[str]) -> str:
    return f" {_GAP.join(tokens)} " if tokens else ""


def _insert(connection: Connection, row: TextRow) -> None:
    connection.execute(
        "INSERT INTO memory_fts (rowid, words, chars) VALUES (?, ?, ?)",
        (row.id, row.words, row.chars),
    )


def _forget(connection: Connection, row: TextRow) -> None:
    connection.execute("DELETE FROM fts_row WHERE id = ?", (row.id,))
    _count(connection, row, -1)


def _count(connection: Connection, row: TextRow, step: int) -> None:
    columns = ((WORDS, row.words), (CHARS, row.chars))
    terms = [(token, name) for name, text in columns for token in set(text.split(" ")) if token]
    if step > 0:
        connection.executemany(
            """INSERT INTO term (term, field, document_frequency) VALUES (?, ?, 1)
            ON CONFLICT (field, term) DO UPDATE SET document_frequency = document_frequency + 1""",
            terms,
        )
    else:
        connection.executemany(
            """UPDATE term SET document_frequency = document_frequency - 1
            WHERE term = ? AND field = ?""",
            terms,
        )
        connection.executemany(
            "DELETE FROM term WHERE term = ? AND field = ? AND document_frequency <= 0", terms
        )
    connection.execute(
        "UPDATE fts_total SET row_count = row_count + ?, word_count = word_count + ?",
        (step, step * row.word_count),
    )
