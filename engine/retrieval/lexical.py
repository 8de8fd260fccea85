"""Score indexed rows against a query exactly: BM25 and the share of the query they cover.

FTS5 finds candidates without length normalisation; here each gets its exact score from its
indexed tokens, wherever it came from, so that every member of the pool is comparable.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.retrieval.analysis import AnalysedQuery, Unit
from engine.storage.fulltext import WORDS, TextRow


@dataclass(frozen=True, slots=True)
class Saturation:
    """Parameters of BM25 (Robertson/Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond", 2009): ``k1`` damps repetition, ``b`` how much a long text must hold more."""

    k1: float
    b: float


# Turns of a conversation and facts say a thing once, and their length says nothing; measured
# on sets of short and of long texts.
_SHORT, _SHORT_WORDS = Saturation(0.9, 0.4), 40.0
_LONG, _LONG_WORDS = Saturation(1.2, 0.6), 70.0


@dataclass(frozen=True, slots=True)
class LexicalScore:
    """``bm25`` is not bounded; ``coverage`` in [0,1] is the share of the query's inverse
    document frequency that the row holds; ``rare_words`` the same mass counted in words that
    stand in one memory only; ``matched`` are the words it holds."""

    bm25: float
    coverage: float
    rare_words: float
    matched: tuple[str, ...]


def saturation(mean_words: float) -> Saturation:
    """The parameters for texts of this mean length, between those of short and of long ones."""
    share = min(1.0, max(0.0, (mean_words - _SHORT_WORDS) / (_LONG_WORDS - _SHORT_WORDS)))
    return Saturation(
        _SHORT.k1 + share * (_LONG.k1 - _SHORT.k1), _SHORT.b + share * (_LONG.b - _SHORT.b)
    )


class LexicalScorer:
    """Scores rows against one query. What does not depend on the row is worked out once."""

    def __init__(self, query: AnalysedQuery) -> None:
        self._mean_words = query.totals.mean_words
        self._mass = query.mass
        self._rarest_mass = query.rarest_mass
        self._saturation = saturation(query.totals.mean_words)
        gain = self._saturation.k1 + 1
        self._in_words = [
            (f" {match.match.token} ", match.weight * gain)
            for match in query.matches
            if match.match.column == WORDS
        ]
        self._in_chars = [
            (f" {match.match.token}{'' if match.match.prefix else ' '}", match.weight * gain)
            for match in query.matches
            if match.match.column != WORDS
        ]
        self._units = [(unit, f" {unit.text} ", _inside(unit)) for unit in query.units]

    def score(self, row: TextRow) -> LexicalScore:
        """The lexical score of one row."""
        k1, b = self._saturation.k1, self._saturation.b
        damping = k1 * (1 - b + b * row.word_count / self._mean_words)
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
        mass = sum(unit.mass for unit in held)
        covered = min(1.0, mass / self._mass) if self._mass > 0 else 0.0
        rare_words = min(mass, self._mass) / self._rarest_mass
        return LexicalScore(bm25, covered, rare_words, tuple(unit.text for unit in held))


_NOTHING = LexicalScore(0.0, 0.0, 0.0, ())


def _inside(unit: Unit) -> str:
    """What stands in a row's pairs when the word is part of a longer run: its own pairs one
    after the other, or, for a single character, the beginning of any pair."""
    if len(unit.text) == 1:
        return f" {unit.text}"
    pairs = (unit.text[i : i + 2] for i in range(len(unit.text) - 1))
    return f" {'  '.join(pairs)} "
