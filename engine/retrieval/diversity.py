"""Choosing results that do not repeat each other: near-duplicates dropped, the rest by MMR."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# Only the head of the candidates competes; the next ones enter when near-duplicates used it up.
# What stands further behind has too little relevance for its novelty to matter.
_HEAD, _HEAD_PER_RESULT = 50, 4

Similarity = Callable[[int, Sequence[int]], Sequence[float]]
"""How much a memory is like each of several others, by their ids; larger is more alike."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How results are kept apart.

    ``mmr_lambda`` in [0,1]: 1 keeps the order, less prefers what is new beside what was chosen.
    From ``dedup_threshold`` on a candidate is too much like a chosen one and dropped (``None``:
    never). ``protected`` ids are never dropped.
    """

    mmr_lambda: float = 1.0
    dedup_threshold: float | None = None
    protected: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Picked:
    """A chosen candidate, and the chosen one before it that it is most like."""

    id: int
    similarity: float
    nearest: int | None


@dataclass(frozen=True, slots=True)
class Diverse:
    """The chosen ones in order, and for each dropped one the chosen one it repeats."""

    picked: tuple[Picked, ...]
    duplicates: Mapping[int, int]


def diversify(
    candidates: Sequence[tuple[int, float]], k: int, spread: Spread, similarity: Similarity | None
) -> Diverse:
    """Up to ``k`` of the candidates (id and relevance, the best first).

    Maximal marginal relevance (Carbonell/Goldstein 1998): the next is the one with the most
    ``lambda * relevance - (1 - lambda) * greatest similarity to a chosen one``; the first
    ``max(50, 4 * k)`` candidates compete. Among equals the earlier one is chosen.
    """
    if similarity is None or (spread.mmr_lambda >= 1.0 and spread.dedup_threshold is None):
        picked = tuple(Picked(memory_id, 0.0, None) for memory_id, _ in candidates[:k])
        return Diverse(picked, {})
    return _Choosing(candidates, spread, similarity).until(k)


class _Choosing:
    """Candidates that are left, and what they are most like among the chosen."""

    def __init__(
        self, candidates: Sequence[tuple[int, float]], spread: Spread, similarity: Similarity
    ) -> None:
        self._waiting = list(candidates)
        self._left: dict[int, float] = {}
        self._spread = spread
        self._similarity = similarity
        self._picked: list[Picked] = []
        self._like: dict[int, tuple[float, int | None]] = {}
        self._duplicates: dict[int, int] = {}

    def until(self, k: int) -> Diverse:
        head = max(_HEAD, _HEAD_PER_RESULT * k)
        while len(self._picked) < k and (self._left or self._waiting):
            if not self._left:
                self._admit(head)
                continue
            chosen = self._next()
            similarity, nearest = self._like[chosen]
            self._picked.append(Picked(chosen, similarity, nearest))
            del self._left[chosen]
            self._compare(chosen)
        return Diverse(tuple(self._picked), self._duplicates)

    def _admit(self, count: int) -> None:
        """The next best candidates, compared with what is chosen already."""
        entering, self._waiting = self._waiting[:count], self._waiting[count:]
        self._left.update(entering)
        self._like.update(dict.fromkeys(self._left, (0.0, None)))
        for item in self._picked:
            self._compare(item.id)

    def _next(self) -> int:
        share = self._spread.mmr_lambda
        if share >= 1.0:
            return next(iter(self._left))
        rest, like = 1.0 - share, self._like
        return max(self._left, key=lambda i: share * self._left[i] - rest * like[i][0])

    def _compare(self, chosen: int) -> None:
        """Note who is like the chosen one, and drop who repeats it."""
        others = list(self._left)
        threshold = self._spread.dedup_threshold
        for other, similarity in zip(others, self._similarity(chosen, others), strict=True):
            known, nearest = self._like[other]
            if nearest is None or similarity > known:
                self._like[other] = (similarity, chosen)
            too_like = threshold is not None and similarity >= threshold
            if too_like and other not in self._spread.protected:
                self._duplicates[other] = chosen
                del self._left[other]


def words_similarity(words: Mapping[int, Collection[str]]) -> Similarity:
    """Jaccard similarity of bags of words, each word counted once; no words, no similarity."""
    bags = {memory_id: frozenset(held) for memory_id, held in words.items()}
    nothing: frozenset[str] = frozenset()

    def similarity(memory_id: int, others: Sequence[int]) -> list[float]:
        own = bags.get(memory_id, nothing)
        return [_jaccard(own, bags.get(other, nothing)) for other in others]

    return similarity


def vector_similarity(vectors: Mapping[int, np.ndarray]) -> Similarity:
    """Cosine of vectors of unit length by memory, 0 where one has none."""
    import numpy as np

    places = {memory_id: place for place, memory_id in enumerate(vectors)}
    rows = np.stack(list(vectors.values())) if vectors else np.zeros((0, 1), np.float32)

    def similarity(memory_id: int, others: Sequence[int]) -> list[float]:
        if memory_id not in places:
            return [0.0] * len(others)
        known = [places[other] for other in others if other in places]
        cosines = iter((rows[known] @ rows[places[memory_id]]).tolist())
        return [next(cosines) if other in places else 0.0 for other in others]

    return similarity


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0
