"""Does everything that a store holds about its memories agree? Looked at from outside."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

from engine.storage import fulltext, integrity
from engine.storage.database import connect

EVERY_MEMORY_HAS = {
    "body": "SELECT memory_id FROM memory_body",
    "strength": "SELECT memory_id FROM memory_strength",
    "journal": """SELECT subject_id FROM journal
        WHERE operation IN ('memorize', 'import', 'reflect')""",
    "change": "SELECT subject_id FROM change WHERE subject_kind = 'memory'",
}


def disagreements(database: Path) -> list[str]:
    """What is wrong in a store, in words; empty when all is well."""
    connection = connect(database, 30.0)
    try:
        connection.execute("BEGIN IMMEDIATE")
        found = [*_file(connection), *_rows(connection), *_text(connection), *_pieces(connection)]
        found += _atoms(connection)
        connection.execute("ROLLBACK")
        return found
    finally:
        connection.close()


def _file(connection: sqlite3.Connection) -> list[str]:
    checks = {
        "file": str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0]),
        "fulltext": integrity.fulltext_verdict(connection),
    }
    dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
    found = [f"{name}: {verdict}" for name, verdict in checks.items() if verdict != "ok"]
    return found + [f"dangling: {tuple(row)}" for row in dangling]


def _rows(connection: sqlite3.Connection) -> list[str]:
    everything = _ids(connection, "SELECT id FROM memory")
    found = []
    for name, query in EVERY_MEMORY_HAS.items():
        missing = everything - _ids(connection, query)
        found += [f"no {name}: {sorted(missing)[:5]}"] if missing else []
    return found


def _text(connection: sqlite3.Connection) -> list[str]:
    live = _ids(connection, "SELECT id FROM memory WHERE deleted_at IS NULL")
    rows = _ids(connection, "SELECT id FROM fts_row")
    found = [f"text rows differ: {sorted(live ^ rows)[:5]}"] if live != rows else []
    if not integrity.counts(connection).agree:
        found.append(f"counts differ: {integrity.counts(connection)}")
    if differences := integrity.fulltext_differences(connection):
        found.append(f"index differs in {differences}")
    return found + _terms(connection)


def _terms(connection: sqlite3.Connection) -> list[str]:
    expected: Counter[tuple[str, str, int]] = Counter()
    found = []
    for index in fulltext.TEXT_INDEXES:
        words = 0
        for row in connection.execute(f"SELECT * FROM {index.rows}"):
            words += row["word_count"]
            for column in ("words", "chars"):
                tokens = set(row[column].split(" ")) - {""}
                place = row["workspace_id"]
                expected.update((index.field(column), token, place) for token in tokens)
        counted = fulltext.totals(connection, index).word_count
        found += [f"{index.table}: {counted} words, are {words}"] if counted != words else []
    stored = connection.execute("SELECT field, term, workspace_id, document_frequency FROM term")
    if {tuple(row)[:3]: row[3] for row in stored} != dict(expected):
        found.append("term counts differ")
    moved = connection.execute(
        """SELECT count(*) FROM fts_row f JOIN memory m ON m.id = f.id
        WHERE m.workspace_id <> f.workspace_id"""
    ).fetchone()[0]
    return found + ([f"{moved} text rows count in another workspace"] if moved else [])


def _atoms(connection: sqlite3.Connection) -> list[str]:
    atoms = _ids(connection, "SELECT id FROM atom WHERE state <> 'forgotten'")
    rows = _ids(connection, "SELECT id FROM atom_fts_row")
    found = [f"atom text rows differ: {sorted(atoms ^ rows)[:5]}"] if atoms != rows else []
    stated = _ids(connection, "SELECT atom_id FROM atom_mention")
    unstated = _ids(connection, "SELECT id FROM atom") - stated
    found += [f"atoms that nobody states: {sorted(unstated)[:5]}"] if unstated else []
    hidden = _ids(
        connection,
        """SELECT id FROM atom a WHERE state = 'active' AND NOT EXISTS (SELECT 1
        FROM atom_mention n JOIN memory m ON m.id = n.memory_id WHERE n.atom_id = a.id
        AND m.deleted_at IS NULL AND m.archived_at IS NULL)""",
    )
    return found + ([f"active without a live memory: {sorted(hidden)[:5]}"] if hidden else [])


def _pieces(connection: sqlite3.Connection) -> list[str]:
    everything = _ids(connection, "SELECT id FROM memory")
    owners = _ids(connection, "SELECT owner_id FROM piece WHERE owner_kind = 'memory'")
    waiting = _ids(connection, "SELECT owner_id FROM pending_embedding")
    found = []
    if everything != owners | waiting:
        found.append(f"neither vectors nor waiting: {sorted(everything ^ (owners | waiting))[:5]}")
    stale = connection.execute(
        """SELECT count(*) FROM piece p JOIN space s ON s.id = p.space_id
        JOIN memory_body b ON b.memory_id = p.owner_id
        WHERE length(p.vector) <> 2 * s.dims OR p.end_offset > length(b.text)
        OR p.start_offset >= p.end_offset
        OR (p.start_offset = 0 AND p.end_offset = length(b.text) AND p.content_hash <>
            (SELECT content_hash FROM memory m WHERE m.id = p.owner_id))"""
    ).fetchone()[0]
    return found + ([f"{stale} pieces do not fit their text"] if stale else [])


def _ids(connection: sqlite3.Connection, query: str) -> set[int]:
    return {int(row[0]) for row in connection.execute(query)}
