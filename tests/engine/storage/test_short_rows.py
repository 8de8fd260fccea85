"""Rows so short that FTS5's own BM25 has no value: six tokens on average, or fewer than 2.25."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import open_engine
from engine.storage import fulltext
from engine.storage.database import Connection, Database
from engine.storage.fulltext import ATOMS, ENTRIES, WORDS, Match, Tokens
from engine.use_cases.atoms import AtomQuery
from tests.engine.use_cases.shortcuts import HASHING, found, remember

SIX = ["tea in the old red pot", "tea on the new oak desk", "ten cats sat by our door"]
MATCHES = [Match(WORDS, "tea"), Match(WORDS, "red"), Match(WORDS, "pot")]


def index(connection: Connection, texts: list[str]) -> None:
    for row_id, text in enumerate(texts, 1):
        fulltext.put(connection, row_id, Tokens("test", text.split(), ()), ENTRIES)


def test_six_tokens_on_average_have_no_bm25_and_are_ranked_all_the_same(database: Database) -> None:
    with database.write() as connection:
        index(connection, SIX)
        raw = connection.execute(
            "SELECT bm25(entry_fts) FROM entry_fts WHERE entry_fts MATCH ?",
            (fulltext.any_of(MATCHES),),
        ).fetchall()
        assert [row[0] is None for row in raw] == [False, True]
        ranked = fulltext.hits(connection, MATCHES, 10, ENTRIES)
        assert [row_id for row_id, _ in ranked] == [1, 2]
        assert ranked[0][1] > ranked[1][1] > 0


@pytest.mark.parametrize("texts", [["tea", "red pot", "cat"], ["tea", "cat", "red", "x y z"]])
def test_hardly_any_tokens_do_not_turn_a_hit_into_a_loss(
    database: Database, texts: list[str]
) -> None:
    with database.write() as connection:
        index(connection, texts)
        assert all(score > 0 for _, score in fulltext.hits(connection, MATCHES, 10, ENTRIES))


def test_a_limit_keeps_the_best(database: Database) -> None:
    with database.write() as connection:
        index(connection, SIX)
        assert [row_id for row_id, _ in fulltext.hits(connection, MATCHES, 1, ENTRIES)] == [1]


def test_recall_answers_where_atoms_have_six_tokens_on_average(home: Path) -> None:
    with open_engine(home, environ=HASHING) as engine:
        first = remember(engine, "Ada keeps the old red kettle")
        remember(engine, "Ben keeps the new oak desk")
        with engine.context.database.write() as connection:
            rows = connection.execute("SELECT id FROM atom ORDER BY id").fetchall()
            for row, text in zip(rows, SIX, strict=False):
                fulltext.put(connection, row[0], Tokens("test", text.split(), ()), ATOMS)
        assert found(engine, "old red tea kettle")[0] == first
        facts = engine.search_atoms(AtomQuery("red tea"))
        assert facts[0].atom.text == "Ada keeps the old red kettle"
