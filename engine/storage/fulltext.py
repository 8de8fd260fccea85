"""The full-text indexes: written with their tokens, so that a row can always be taken back.

There is one for memories, one for atoms and one for the entries of the graph. Each FTS5 table
is contentless and holds two columns of tokens made by our own segmenters: ``words`` and
``chars`` (character bigrams of unspaced scripts). SQLite can only remove such a row by its
exact old tokens, so a row table keeps them and one function here writes both, in the caller's
transaction. ``term`` counts in how many rows of each workspace a token stands: FTS5's own count
costs milliseconds for a common one, and what is rare in one project may be common in another.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from engine.domain.errors import StorageDamaged
from engine.domain.scope import Filters
from engine.storage.database import Connection
from engine.storage.filters import condition

WORDS = "words"
CHARS = "chars"
# FTS5 ranks candidates before the exact scoring in Python; a word says more than a bigram.
_COLUMN_WEIGHTS = "1.0, 0.5"
_WEIGHTS = {WORDS: 1.0, CHARS: 0.5}
# That of a token which stands in half of the rows or more, as in FTS5.
_LEAST_WEIGHT = 1e-6
# Two spaces keep neighbours apart, so that " token " can be counted by str.count without
# overlaps, and "ab  bc" is a test for adjacency.
_GAP = "  "
_IDS_PER_STATEMENT = 500
_MALFORMED = "malformed"
_ROW = "id, workspace_id, word_count, words, chars"


@dataclass(frozen=True, slots=True)
class TextIndex:
    """One full-text index: its FTS5 table, the table of its rows, and the table whose
    ``workspace_id`` its rows belong to (none: they are counted together, as workspace 0)."""

    name: str
    table: str
    rows: str
    owner: str | None

    def field(self, column: str) -> str:
        """The name under which ``term`` counts the tokens of a column."""
        return f"{self.name}.{column}"


MEMORIES = TextIndex("memory", "memory_fts", "fts_row", "memory")
ATOMS = TextIndex("atom", "atom_fts", "atom_fts_row", "atom")
ENTRIES = TextIndex("entry", "entry_fts", "entry_fts_row", None)
TEXT_INDEXES = (MEMORIES, ATOMS, ENTRIES)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one memory, atom or entry in text order, with repetitions."""

    segmenter_id: str
    words: Sequence[str]
    chars: Sequence[str]


@dataclass(frozen=True, slots=True)
class TextRow:
    """Tokens as indexed: each token stands between two spaces on either side."""

    id: int
    workspace_id: int
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


def put(connection: Connection, row_id: int, tokens: Tokens, index: TextIndex = MEMORIES) -> None:
    """Index a text, replacing what was indexed for its row before."""
    remove(connection, row_id, index)
    workspace_id = _workspace_of(connection, row_id, index)
    words, chars = _joined(tokens.words), _joined(tokens.chars)
    row = TextRow(row_id, workspace_id, len(tokens.words), words, chars)
    _insert(connection, row, index)
    connection.execute(
        f"""INSERT INTO {index.rows} (id, workspace_id, segmenter_id, word_count, words, chars)
        VALUES (?, ?, ?, ?, ?, ?)""",
        (row.id, workspace_id, tokens.segmenter_id, row.word_count, row.words, row.chars),
    )
    _count(connection, row, 1, index)


def remove(connection: Connection, row_id: int, index: TextIndex = MEMORIES) -> None:
    """Take a row out of the index; one that is not in it is no error.

    If the index does not hold what its row table says, SQLite calls the database malformed;
    then the whole index is built again from the row table and the removal still succeeds.
    """
    row = connection.execute(f"SELECT {_ROW} FROM {index.rows} WHERE id = ?", (row_id,)).fetchone()
    if row is None:
        return
    old = TextRow(*row)
    connection.execute("SAVEPOINT fts_removal")
    try:
        connection.execute(
            f"""INSERT INTO {index.table} ({index.table}, rowid, words, chars)
            VALUES ('delete', ?, ?, ?)""",
            (old.id, old.words, old.chars),
        )
        _forget(connection, old, index)
    except sqlite3.DatabaseError as error:
        if _MALFORMED not in str(error):
            raise
        connection.execute("ROLLBACK TO fts_removal")
        _forget(connection, old, index)
        rebuild(connection, index)
    connection.execute("RELEASE fts_removal")


def remove_for_good(connection: Connection, row_id: int, index: TextIndex = MEMORIES) -> None:
    """Take a row out so that its tokens are not left in the index's files either: a plain
    removal only marks them. The whole index is merged into one piece (0.15 s for 10,000
    memories)."""
    remove(connection, row_id, index)
    merge(connection, index)


def merge(connection: Connection, index: TextIndex = MEMORIES) -> None:
    """Merge the index into one piece, so that nothing of removed rows is left in the file; one
    that is damaged is built again instead, which leaves nothing either."""
    try:
        connection.execute(f"INSERT INTO {index.table} ({index.table}) VALUES ('optimize')")
    except sqlite3.DatabaseError as error:
        if _MALFORMED not in str(error):
            raise
        rebuild(connection, index)


def rebuild(connection: Connection, index: TextIndex = MEMORIES) -> int:
    """Build the index and its counts again from its row table; return the number of rows."""
    connection.execute(f"INSERT INTO {index.table} ({index.table}) VALUES ('delete-all')")
    connection.execute(
        "DELETE FROM term WHERE field IN (?, ?)", (index.field(WORDS), index.field(CHARS))
    )
    connection.execute("DELETE FROM fts_total WHERE name = ?", (index.name,))
    rows = connection.execute(f"SELECT {_ROW} FROM {index.rows} ORDER BY id")
    done = 0
    for values in rows.fetchall():
        row = TextRow(*values)
        _insert(connection, row, index)
        _count(connection, row, 1, index)
        done += 1
    return done


@contextmanager
def asking() -> Iterator[None]:
    """Asking a damaged index raises :class:`StorageDamaged` of the index alone, since SQLite
    calls the whole database malformed then."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if _MALFORMED not in str(error):
            raise
        raise StorageDamaged("error.text_index_damaged") from error


@asking()
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
        ORDER BY bm25(memory_fts, {_COLUMN_WEIGHTS}) NULLS LAST LIMIT :row_limit""",
        {
            **where.parameters,
            "query": any_of(matches),
            "row_limit": limit,
        },
    )
    return [int(row[0]) for row in rows]


@asking()
def hits(
    connection: Connection, matches: Sequence[Match], limit: int, index: TextIndex
) -> list[tuple[int, float]]:
    """Up to ``limit`` rows that hold any of the tokens, best first, with their BM25 (larger is
    better, no length normalisation). Rows are not filtered: the caller maps them to memories."""
    if not matches:
        return []
    found = connection.execute(
        f"""SELECT rowid, -bm25({index.table}, {_COLUMN_WEIGHTS}) FROM {index.table}
        WHERE {index.table} MATCH :query
        ORDER BY bm25({index.table}, {_COLUMN_WEIGHTS}) LIMIT :row_limit""",
        {"query": any_of(matches), "row_limit": limit},
    ).fetchall()
    if all(is_sound(row[1]) for row in found):
        return [(int(row[0]), float(row[1])) for row in found]
    scores = plain_scores(connection, matches, index)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]


def is_sound(bm25: float | None) -> bool:
    """Whether FTS5 could work out a BM25 (larger is better).

    It takes the length of a row without a column of sizes for -2, so its damping
    ``0.3 - 1.8 / mean`` vanishes where rows have 6 tokens on average, and a token that a row
    lacks gives 0/0; with fewer than 2.25 it turns what is held into a loss.
    """
    return bm25 is not None and 0.0 < bm25 < math.inf


@asking()
def plain_scores(
    connection: Connection, matches: Sequence[Match], index: TextIndex
) -> dict[int, float]:
    """The weighted inverse document frequencies that a row holds, by row id: for indexes in
    which FTS5 has no sound BM25. Every row with any of the tokens is read."""
    row_count = connection.execute(f"SELECT count(*) FROM {index.rows}").fetchone()[0]
    scores: dict[int, float] = defaultdict(float)
    for match in matches:
        rows = connection.execute(
            f"SELECT rowid FROM {index.table} WHERE {index.table} MATCH ?", (match.expression,)
        ).fetchall()
        share = (row_count - len(rows) + 0.5) / (len(rows) + 0.5)
        weight = _WEIGHTS[match.column] * max(_LEAST_WEIGHT, math.log(share) if share > 0 else 0.0)
        for row in rows:
            scores[int(row[0])] += weight
    return dict(scores)


def any_of(matches: Sequence[Match]) -> str:
    """The FTS5 query for rows that hold any of the tokens."""
    return " OR ".join(match.expression for match in matches)


def all_in_order(matches: Sequence[Match]) -> str:
    """The FTS5 query for rows that hold the tokens, all of one column, one after the other."""
    tokens = " ".join(match.token.replace('"', '""') for match in matches)
    return f'{matches[0].column}:"{tokens}"'


def rows_of(
    connection: Connection, ids: Iterable[int], index: TextIndex = MEMORIES
) -> dict[int, TextRow]:
    """Indexed tokens by row id; rows that are not indexed are left out."""
    ordered = list(ids)
    found: dict[int, TextRow] = {}
    for start in range(0, len(ordered), _IDS_PER_STATEMENT):
        run = ordered[start : start + _IDS_PER_STATEMENT]
        rows = connection.execute(
            f"""SELECT {_ROW} FROM {index.rows}
            WHERE id IN ({",".join("?" * len(run))})""",
            run,
        )
        found.update((row[0], TextRow(*row)) for row in rows)
    return found


def document_frequencies(
    connection: Connection,
    matches: Sequence[Match],
    index: TextIndex = MEMORIES,
    workspaces: Sequence[int] | None = None,
) -> dict[Match, int]:
    """In how many rows each token stands, in some workspaces (``None``: in all). A prefix counts
    the rows of all its tokens, at most once for each of them, so it can exceed the rows."""
    where = _within(workspaces)
    found = dict.fromkeys(matches, 0)
    for column in (WORDS, CHARS):
        tokens = [match.token for match in found if match.column == column and not match.prefix]
        if tokens:
            field = index.field(column)
            for token, frequency in _frequencies(connection, field, tokens, where):
                found[Match(column, token)] = frequency
    for match in found:
        if match.prefix:
            found[match] = _prefix_frequency(connection, match, index, where)
    return found


def totals(
    connection: Connection,
    index: TextIndex = MEMORIES,
    workspaces: Sequence[int] | None = None,
) -> Totals:
    """Size of the index, in some workspaces (``None``: in all)."""
    row = connection.execute(
        f"""SELECT coalesce(sum(row_count), 0), coalesce(sum(word_count), 0) FROM fts_total
        WHERE name = ? {_within(workspaces)}""",
        (index.name,),
    ).fetchone()
    return Totals(*row)


def _within(workspaces: Sequence[int] | None) -> str:
    if workspaces is None:
        return ""
    return f"AND workspace_id IN ({','.join(str(int(number)) for number in workspaces)})"


def _frequencies(
    connection: Connection, field: str, tokens: Sequence[str], where: str
) -> list[tuple[str, int]]:
    # One statement for all: for thirty tokens a sixth of the time of one each.
    rows = connection.execute(
        f"""SELECT term, sum(document_frequency) FROM term
        WHERE field = :field AND term IN (SELECT value FROM json_each(:tokens)) {where}
        GROUP BY term""",
        {"field": field, "tokens": json.dumps(tokens)},
    )
    return [(str(row[0]), int(row[1])) for row in rows]


def _prefix_frequency(connection: Connection, match: Match, index: TextIndex, where: str) -> int:
    total = connection.execute(
        f"""SELECT sum(document_frequency) FROM term
        WHERE field = ? AND term >= ? AND term <= ? {where}""",
        (index.field(match.column), match.token, match.token + "\U0010ffff"),
    ).fetchone()[0]
    return int(total or 0)


def _workspace_of(connection: Connection, row_id: int, index: TextIndex) -> int:
    if index.owner is None:
        return 0
    row = connection.execute(
        f"SELECT workspace_id FROM {index.owner} WHERE id = ?", (row_id,)
    ).fetchone()
    return int(row[0]) if row else 0


def _joined(tokens: Sequence[str]) -> str:
    return f" {_GAP.join(tokens)} " if tokens else ""


def _insert(connection: Connection, row: TextRow, index: TextIndex) -> None:
    connection.execute(
        f"INSERT INTO {index.table} (rowid, words, chars) VALUES (?, ?, ?)",
        (row.id, row.words, row.chars),
    )


def _forget(connection: Connection, row: TextRow, index: TextIndex) -> None:
    connection.execute(f"DELETE FROM {index.rows} WHERE id = ?", (row.id,))
    _count(connection, row, -1, index)


def _count(connection: Connection, row: TextRow, step: int, index: TextIndex) -> None:
    columns = ((index.field(WORDS), row.words), (index.field(CHARS), row.chars))
    terms = [
        (token, name, row.workspace_id)
        for name, text in columns
        for token in set(text.split(" "))
        if token
    ]
    if step > 0:
        connection.executemany(
            """INSERT INTO term (term, field, workspace_id, document_frequency)
            VALUES (?, ?, ?, 1) ON CONFLICT (field, term, workspace_id)
            DO UPDATE SET document_frequency = document_frequency + 1""",
            terms,
        )
    else:
        connection.executemany(
            """UPDATE term SET document_frequency = document_frequency - 1
            WHERE term = ? AND field = ? AND workspace_id = ?""",
            terms,
        )
        connection.executemany(
            """DELETE FROM term WHERE term = ? AND field = ? AND workspace_id = ?
            AND document_frequency <= 0""",
            terms,
        )
    connection.execute(
        """INSERT INTO fts_total (name, workspace_id, row_count, word_count)
        VALUES (:name, :workspace_id, :rows, :words) ON CONFLICT (name, workspace_id)
        DO UPDATE SET row_count = row_count + :rows, word_count = word_count + :words""",
        {
            "name": index.name,
            "workspace_id": row.workspace_id,
            "rows": step,
            "words": step * row.word_count,
        },
    )
