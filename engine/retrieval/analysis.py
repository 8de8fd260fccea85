"""Analyse a query: its terms, how rare they are, and what to ask the full-text index."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.domain.errors import InvalidInput
from engine.domain.text import scrub
from engine.language.terms import Analyser, QueryTerms
from engine.retrieval.lookups import affordable, matches_of
from engine.retrieval.reach import Reach
from engine.retrieval.understanding import Understanding
from engine.storage import fulltext
from engine.storage.database import Connection
from engine.storage.fulltext import CHARS, WORDS, Match, Totals

MAX_QUERY_CHARS = 20_000
WORD_WEIGHT = 1.0
BIGRAM_WEIGHT = 0.5
# Words of a query that one memory can be expected to hold (measured: 5 to 6 are best for queries
# of whole dialogues, and short questions do not have more).
EXPECTED_UNITS = 6
# A date in the query is a window already; its words still count where a memory repeats them.
DATE_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class WeightedMatch:
    """A token to count, with its inverse document frequency times its column's weight."""

    match: Match
    weight: float


@dataclass(frozen=True, slots=True)
class Unit:
    """One word of the query as a person thinks of it. ``mass`` is its inverse document
    frequency: its share of the whole says how much of the query a memory covers."""

    text: str
    mass: float


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """A query ready for the channels."""

    understood: Understanding
    terms: QueryTerms
    matches: tuple[WeightedMatch, ...]
    units: tuple[Unit, ...]
    lookups: tuple[Match, ...]
    totals: Totals

    @property
    def mass(self) -> float:
        """What a memory can be expected to hold of the query: the inverse document frequency of
        its rarest units together. No memory repeats a whole dialogue that is asked about."""
        rarest = sorted((unit.mass for unit in self.units), reverse=True)
        return sum(rarest[:EXPECTED_UNITS])

    @property
    def rarest_mass(self) -> float:
        """The inverse document frequency of a word that stands in one memory only: the measure
        of how many rare words' worth of a query was matched."""
        return inverse_document_frequency(1, self.totals.row_count)


def checked_query(text: str) -> str:
    """The query as it may be searched; raises :class:`InvalidInput` for a blank or endless one."""
    query = scrub(text).strip()
    if not query:
        raise InvalidInput("error.empty_query")
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidInput("error.too_long", name="query", length=len(query), limit=MAX_QUERY_CHARS)
    return query


def analyse(
    connection: Connection, analyser: Analyser, query: Understanding, within: Reach
) -> AnalysedQuery:
    """Cut the query into terms and weigh them by how rare they are among the memories in reach
    (for narrow sets of a workspace that is rarity in the workspace)."""
    terms = analyser.query_terms(query.words)
    matches = matches_of(terms)
    dates = [] if not query.dates else matches_of(analyser.query_terms(query.dates))
    rarity = _Rarity(connection, (*matches, *dates), within)
    weighed = {match: _column_weight(match) for match in matches}
    for match in dates:
        weighed.setdefault(match, _column_weight(match) * DATE_WEIGHT)
    return AnalysedQuery(
        understood=query,
        terms=terms,
        matches=tuple(
            WeightedMatch(match, weight * rarity.of(match)) for match, weight in weighed.items()
        ),
        units=tuple(Unit(text, rarity.of_unit(text)) for text in _unit_texts(terms)),
        lookups=tuple(affordable({match: rarity.frequencies[match] for match in weighed})),
        totals=rarity.totals,
    )


class _Rarity:
    """How rare each token of a query is among the memories in reach."""

    def __init__(self, connection: Connection, matches: Sequence[Match], within: Reach) -> None:
        inside = within.workspaces
        self.totals = fulltext.totals(connection, workspaces=inside)
        self.frequencies = fulltext.document_frequencies(connection, matches, workspaces=inside)

    def of(self, match: Match) -> float:
        return inverse_document_frequency(self.frequencies[match], self.totals.row_count)

    def of_unit(self, text: str) -> float:
        frequency = _unit_frequency(text, self.frequencies)
        return inverse_document_frequency(frequency, self.totals.row_count)


def inverse_document_frequency(document_frequency: int, row_count: int) -> float:
    """``ln(1 + (N - df + 0.5) / (df + 0.5))``, the form of BM25 that is never negative."""
    bounded = min(document_frequency, row_count)
    return math.log1p((row_count - bounded + 0.5) / (bounded + 0.5))


def _column_weight(match: Match) -> float:
    return WORD_WEIGHT if match.column == WORDS else BIGRAM_WEIGHT


def _unit_texts(terms: QueryTerms) -> Sequence[str]:
    return terms.words or (*terms.bigrams, *terms.singles)


def _unit_frequency(text: str, frequencies: Mapping[Match, int]) -> int:
    """A word that segmentation hid is as frequent as the rarest of its character pairs."""
    as_word = frequencies.get(Match(WORDS, text), 0)
    pairs = [
        frequencies[match]
        for match in (Match(CHARS, text[i : i + 2]) for i in range(len(text) - 1))
        if match in frequencies
    ]
    single = frequencies.get(Match(CHARS, text, prefix=True), 0)
    return max(as_word, min(pairs, default=0), single)
