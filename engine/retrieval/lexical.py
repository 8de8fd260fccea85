"""Score indexed rows against a query exactly: BM25 and the share of the query they cover.

FTS5 finds candidates without length normalisation; here each gets its exact score from its
indexed tokens, wherever it came from, so that every member of the pool is comparable.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.retrieval.analysis import AnalysedQuery, Unit
from engine.storage.fulltext import WORDS, TextRow

# Robertson/Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
K1 = 1.2
B = 0.6


@dataclass(frozen=True, slots=True)
class LexicalScore:
    """``bm25`` is not bounded; ``coverage`` in [0,1] is the share of the query's inverse
    document frequency that the row holds; ``matched`` are the words it holds."""

    bm25: float
    coverage: float
    matched: tuple[str, ...]


class LexicalScorer:
    """Scores rows against one query. What does not depend on the row is worked out once."""

    def __init__(self, query: AnalysedQuery) -> None:
        self._mean_words = query.totals.mean_words
        self._mass = query.mass
        self._in_words = [
            (f" {match.match.token} ", match.weight * (K1 + 1))
            for match in query.matches
            if match.match.column == WORDS
        ]
        self._in_chars = [
            (f" {match.match.token}{'' if match.match.prefix else ' '}", match.weight * (K1 + 1))
            for match in query.matches
            if match.match.column != WORDS
        ]
        self._units = [(unit, f" {unit.text} ", _inside(unit)) for unit in query.units]

    def score(self, row: TextRow) -> LexicalScore:
        """The lexical score of one row."""
        damping = K1 * (1 - B + B * row.word_count / self._mean_words)
        words, chars = row.words, row.chars
        bm25 = 0.0
        for needle, weight in self._in_words:
            if frequency := words.count(needle):
                bm25 += weight * frequency / (frequency + damping)
        for needle, weight in self._in_chars:
            if frequency := chars.count(needle):
                bm25 += weight * frequency / (frequency + damping)
        if bm25 == 0.0:
            return _NOTHING
        held = [unit for unit, word, inside in self._units if word in words or inside in chars]
        covered = sum(unit.mass for unit in held) / self._mass if self._mass > 0 else 0.0
        return LexicalScore(bm25, min(1.0, covered), tuple(unit.text for unit in held))


_NOTHING = LexicalScore(0.0, 0.0, ())


def _inside(unit: Unit) -> str:
    """What stands in a row's pairs when the word is part of a longer run: its own pairs one
    after the other, or, for a single character, the beginning of any pair."""
    if len(unit.text) == 1:
        return f" {unit.text}"
    pairs = (unit.text[i : i + 2] for i in range(len(unit.text) - 1))
    return f" {'  '.join(pairs)} "
