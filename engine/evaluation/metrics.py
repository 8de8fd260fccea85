"""Measures of one answer: how much of what is relevant stands how high.

An answer is a sequence of references, best first; gold maps each relevant reference to its
grade (above 0; 1 where nobody graded). What gold does not name is not relevant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.domain.errors import InvalidInput

MAX_DEPTH = 100
Gold = Mapping[str, float]

_NAME = re.compile(r"(recall|precision|ndcg|mrr)(?:@([1-9]\d{0,2}))?")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure by its name, such as ``recall@10``; ``depth`` is how many results it reads."""

    name: str
    depth: int
    of: Callable[[Sequence[str], Gold, int], float]

    def __call__(self, ranked: Sequence[str], gold: Gold) -> float:
        """The value in [0,1] for one answer."""
        return self.of(ranked, gold, self.depth)


def measure_named(name: str) -> Measure:
    """The measure called ``name``: ``recall``, ``precision``, ``ndcg`` or ``mrr`` with ``@k``,
    k up to 100; ``mrr`` alone reads ten results. Raises :class:`InvalidInput`."""
    match = _NAME.fullmatch(name.strip().lower())
    if match is None or (match[2] is None and match[1] != "mrr"):
        raise InvalidInput("error.eval_measure", value=name[:40])
    depth = int(match[2] or 10)
    if depth > MAX_DEPTH:
        raise InvalidInput("error.eval_measure", value=name[:40])
    return Measure(match[0], depth, _MEASURES[match[1]])


def recall_at(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The share of gold among the first ``k``; 0 when there is no gold."""
    return len(gold.keys() & set(ranked[:k])) / len(gold) if gold else 0.0


def precision_at(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """The share of the first ``k`` places that hold gold; an empty place holds none."""
    return len(gold.keys() & set(ranked[:k])) / k


def reciprocal_rank(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """1 over the rank (from 1) of the first gold one among the first ``k``, else 0."""
    ranks = (rank for rank, ref in enumerate(ranked[:k], start=1) if ref in gold)
    return 1.0 / next(ranks, math.inf)


def ndcg_at(ranked: Sequence[str], gold: Gold, k: int) -> float:
    """Normalised discounted cumulative gain of the first ``k``, 1 for the best order possible.

    A result of grade ``g`` gains ``2**g - 1`` (1 where nobody graded), divided by
    ``log2(rank + 1)`` (Burges et al. 2005). A reference that comes twice gains once.
    """
    seen: set[str] = set()
    gains: list[float] = []
    for ref in ranked[:k]:
        gains.append(0.0 if ref in seen else _gain(gold.get(ref, 0.0)))
        seen.add(ref)
    best = _discounted(sorted(map(_gain, gold.values()), reverse=True)[:k])
    return _discounted(gains) / best if best > 0 else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` of all do not exceed (nearest rank); 0 when there are none."""
    if not values:
        return 0.0
    place = math.ceil(share * len(values)) - 1
    return sorted(values)[max(0, place)]


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 when there are none."""
    return math.fsum(values) / len(values) if values else 0.0


def _gain(grade: float) -> float:
    return float(2.0**grade - 1.0)


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


_MEASURES: Mapping[str, Callable[[Sequence[str], Gold, int], float]] = {
    "recall": recall_at,
    "precision": precision_at,
    "ndcg": ndcg_at,
    "mrr": reciprocal_rank,
}

MEASURES = tuple(
    measure_named(name) for name in ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr")
)
"""What every run measures."""
