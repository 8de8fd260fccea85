"""The full-text index and everything counted beside it stay in step, whatever is done."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.domain.errors import StoreUnavailable
from engine.domain.scope import Filters
from engine.domain.text import scrub
from engine.language.terms import Analyser, build_analyser
from engine.storage import fulltext, integrity
from engine.storage.database import Connection, Database, open_database
from engine.storage.fulltext import CHARS, WORDS, Match, Tokens
from tests.engine.storage.agreement import _terms
from tests.engine.storage.writing_rows import add

ANALYSER: Analyser = build_analyser()


def tokens(text: str) -> Tokens:
    terms = ANALYSER.index_terms(text)
    return Tokens("test", terms.words, terms.chars)


def indexed(connection: Connection, text: str, **fields: object) -> int:
    memory_id = add(connection, text, **fields)  # type: ignore[arg-type]
    fulltext.put(connection, memory_id, tokens(text))
    return memory_id


def found(connection: Connection, *matches: Match, limit: int = 100) -> list[int]:
    return fulltext.search(connection, matches, Filters(), 1.0, limit)


def wrong(connection: Connection) -> list[str]:
    verdict = integrity.fulltext_verdict(connection)
    differences = integrity.fulltext_differences(connection)
    return [*_terms(connection), *([] if verdict == "ok" else [verdict]), *["index"] * differences]


class Index(RuleBasedStateMachine):
    """Any sequence of putting, putting again, removing, rolling back and rebuilding."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self.database = open_database(Path(self.folder.name))
        self.texts: dict[int, str] = {}

    @rule(row_id=st.integers(1, 6), text=st.text(max_size=30))
    def put(self, row_id: int, text: str) -> None:
        with self.database.write() as connection:
            fulltext.put(connection, row_id, tokens(scrub(text)))
        self.texts[row_id] = scrub(text)

    @rule(
        row_id=st.integers(1, 6),
        text=st.sampled_from(["甲公司 a", "乙公司 b a", "公司公司公司", "!"]),
    )
    def put_like_texts(self, row_id: int, text: str) -> None:
        self.put(row_id, text)

    @rule(row_id=st.integers(1, 8))
    def remove(self, row_id: int) -> None:
        with self.database.write() as connection:
            fulltext.remove(connection, row_id)
        self.texts.pop(row_id, None)

    @rule(row_id=st.integers(1, 6))
    def fail_in_the_middle(self, row_id: int) -> None:
        with pytest.raises(ZeroDivisionError), self.database.write() as connection:
            fulltext.put(connection, row_id, tokens("never 从未"))
            raise ZeroDivisionError

    @precondition(lambda self: self.texts)
    @rule()
    def rebuild(self) -> None:
        with self.database.write() as connection:
            assert fulltext.rebuild(connection) == len(self.texts)

    @invariant()
    def everything_agrees(self) -> None:
        with self.database.write() as connection:
            assert wrong(connection) == []
            assert fulltext.totals(connection).row_count == len(self.texts)
            rows = fulltext.rows_of(connection, range(1, 9))
        assert {row_id: row.words.split(" ") for row_id, row in rows.items()} == {
            row_id: f" {'  '.join(tokens(text).words)} ".split(" ") if tokens(text).words else [""]
            for row_id, text in self.texts.items()
        }

    def teardown(self) -> None:
        self.database.close()
        self.folder.cleanup()


TestIndex = Index.TestCase
TestIndex.settings = settings(
    max_examples=15, stateful_step_count=12, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip


def test_a_row_that_is_put_again_no_longer_holds_its_old_tokens(database: Database) -> None:
    with database.write() as connection:
        memory_id = indexed(connection, "小雨在甲公司上班")
        fulltext.put(connection, memory_id, tokens("小雨在乙公司上班"))
        assert found(connection, Match(CHARS, "乙公")) == [memory_id]
        assert found(connection, Match(CHARS, "甲公")) == []
        fulltext.remove(connection, memory_id)
        assert found(connection, Match(CHARS, "乙公")) == []
        assert wrong(connection) == []


def test_a_prefix_finds_every_run_with_the_character(database: Database) -> None:
    with database.write() as connection:
        ids = [indexed(connection, text) for text in ("小云", "云南", "白云山")]
        indexed(connection, "天空")
        assert sorted(found(connection, Match(CHARS, "云", prefix=True))) == ids
        frequencies = fulltext.document_frequencies(
            connection, [Match(CHARS, "云", prefix=True), Match(WORDS, "天空"), Match(WORDS, "无")]
        )
        assert list(frequencies.values())[1:] == [1, 0]
        assert next(iter(frequencies.values())) >= 3


SYNTAX = [
    '"',
    "'",
    "*",
    "(",
    ")",
    "NEAR(",
    "AND",
    "OR",
    "NOT",
    "^",
    ":",
    "-",
    "+",
    "{a b}",
    "\\",
    "a*",
]


@pytest.mark.parametrize("token", SYNTAX)
def test_a_token_is_never_syntax(database: Database, token: str) -> None:
    folded = token.lower()
    with database.write() as connection:
        memory_id = add(connection, token)
        fulltext.put(connection, memory_id, Tokens("t", folded.split(" "), ()))
        for part in folded.split(" "):
            assert found(connection, Match(WORDS, part)) == [memory_id]
        assert found(connection, Match(WORDS, f"{folded.split(' ')[0]}x")) == []
        fulltext.remove(connection, memory_id)
        assert wrong(connection) == []


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(alphabet=st.characters(codec=None), max_size=200))
def test_any_text_is_found_by_every_one_of_its_tokens(database: Database, text: str) -> None:
    made = tokens(scrub(text))
    with database.write() as connection:
        memory_id = indexed(connection, scrub(text) + " x")
        fulltext.put(connection, memory_id, made)
        for column, words in ((WORDS, made.words), (CHARS, made.chars)):
            for word in dict.fromkeys(words):
                assert memory_id in found(connection, Match(column, word), limit=10_000), repr(word)
        assert wrong(connection) == []


def test_as_many_tokens_as_a_query_may_have_are_searched(database: Database) -> None:
    with database.write() as connection:
        memory_id = indexed(connection, "针")
        matches = [Match(CHARS, f"字{number}") for number in range(400)]
        assert found(connection, *matches, Match(CHARS, "针")) == [memory_id]


def test_filters_act_before_the_limit(database: Database) -> None:
    with database.write() as connection:
        for _ in range(50):
            indexed(connection, "same words same words", workspace="other")
        wanted = indexed(connection, "same words in a longer text", tags=["mine"])
        ids = fulltext.search(
            connection, [Match(WORDS, "same")], Filters(tags_all=("mine",)), 1.0, 1
        )
    assert ids == [wanted]


def test_a_lost_index_entry_does_not_stop_removing_or_editing(database: Database) -> None:
    with database.write() as connection:
        ids = [indexed(connection, f"记忆 {number}") for number in range(3)]
    lose_entry(database, ids[0], "记忆 0")
    lose_entry(database, ids[1], "记忆 1")
    with database.write() as connection:
        assert integrity.fulltext_differences(connection) == 2
        assert integrity.database_verdict(connection) == "ok"
        fulltext.remove(connection, ids[0])
        fulltext.put(connection, ids[1], tokens("新的 1"))
        assert found(connection, Match(WORDS, "新")) == [ids[1]]
        assert ids[0] not in found(connection, Match(WORDS, "记忆"))
        fulltext.rebuild(connection)
        assert wrong(connection) == []


def test_an_index_that_lost_everything_is_built_again_by_a_removal(database: Database) -> None:
    with database.write() as connection:
        ids = [indexed(connection, f"记忆 {number}") for number in range(5)]
    with database.write() as connection:
        connection.execute("INSERT INTO memory_fts (memory_fts) VALUES ('delete-all')")
    for memory_id in ids[:3]:
        with database.write() as connection:
            fulltext.remove(connection, memory_id)
    with database.write() as connection:
        fulltext.rebuild(connection)
        assert sorted(found(connection, Match(WORDS, "记忆"))) == ids[3:]
        assert wrong(connection) == []


def lose_entry(database: Database, memory_id: int, text: str) -> None:
    made = tokens(text)
    with database.write() as connection:
        connection.execute(
            "INSERT INTO memory_fts (memory_fts, rowid, words, chars) VALUES ('delete', ?, ?, ?)",
            (memory_id, joined(made.words), joined(made.chars)),
        )


def joined(words: Sequence[str]) -> str:
    return f" {'  '.join(words)} " if words else ""


def test_an_entry_with_other_tokens_is_a_difference(database: Database) -> None:
    with database.write() as connection:
        memory_id = indexed(connection, "小雨在甲公司上班")
        other = tokens("小雨在乙公司上班")
        connection.execute(
            "UPDATE fts_row SET words = ?, chars = ? WHERE id = ?",
            (joined(other.words), joined(other.chars), memory_id),
        )
        assert integrity.fulltext_differences(connection) == 1


def test_an_entry_without_a_text_row_is_a_difference(database: Database) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO memory_fts (rowid, words, chars) VALUES (9, ' a ', '')")
        assert integrity.fulltext_differences(connection) == 1


def test_missing_and_stray_text_rows_are_found(database: Database) -> None:
    with database.write() as connection:
        ids = [indexed(connection, f"记忆 {number}") for number in range(3)]
        assert integrity.counts(connection).agree
        fulltext.remove(connection, ids[0])
        connection.execute("UPDATE memory SET deleted_at = 1 WHERE id = ?", (ids[1],))
        assert integrity.without_text_row(connection, 10) == [ids[0]]
        assert integrity.stray_text_rows(connection) == [ids[1]]
        connection.execute("UPDATE memory SET deleted_at = 1 WHERE id = ?", (ids[0],))
        counts = integrity.counts(connection)
    assert (counts.live, counts.trash, counts.text_rows, counts.agree) == (1, 2, 2, False)


def test_looking_deep_leaves_readers_unable_to_write(database: Database) -> None:
    with database.read() as connection:
        integrity.fulltext_differences(connection)
    with pytest.raises(StoreUnavailable), database.read() as connection:
        connection.execute("DELETE FROM fts_row")


def test_a_hundred_rounds_of_leaving_and_coming_back_leave_no_trace(database: Database) -> None:
    with database.write() as connection:
        other = indexed(connection, "另一条 other")
        memory_id = indexed(connection, "往返 round trip")
    for turn in itertools.chain(["remove", "put"] * 50, ["remove"]):
        with database.write() as connection:
            if turn == "put":
                fulltext.put(connection, memory_id, tokens("往返 round trip"))
            else:
                fulltext.remove(connection, memory_id)
    with database.write() as connection:
        assert found(connection, Match(WORDS, "往返")) == []
        assert found(connection, Match(WORDS, "other")) == [other]
        assert wrong(connection) == []
