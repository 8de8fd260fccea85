"""Signals and the one scorer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config.presets import Recency, Weights
from engine.storage.memories import RankRow

_DAY_S = 86_400.0
MAX_SALIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Signal:
    """One named signal in [0,1] and what it adds to the score: ``weight * value``."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """Its part of the score."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class Scorer:
    """The weighted sum of signals at one moment (``now``, epoch seconds)."""

    weights: Weights
    recency: Recency
    now: float

    def ranked(
        self, relevance: Mapping[int, float], rows: Mapping[int, RankRow]
    ) -> list[tuple[int, float]]:
        """Ids with their scores, best first; equal scores keep one order everywhere, the
        newer memory first."""
        scored = [(i, self.score(relevance[i], row)) for i, row in rows.items()]
        return sorted(scored, key=lambda item: (-item[1], -item[0]))

    def score(self, relevance: float, row: RankRow) -> float:
        """The sum of all contributions, in the order of :meth:`signals`."""
        weights = self.weights
        return (
            weights.relevance * relevance
            + weights.importance * row.strength.importance_now
            + weights.recency * self._recency(row)
            + weights.salience * (row.strength.salience / MAX_SALIENCE)
        )

    def signals(self, relevance: float, row: RankRow) -> tuple[Signal, ...]:
        """Every signal with its weight, for the explanation."""
        weights = self.weights
        return (
            Signal("relevance", relevance, weights.relevance),
            Signal("importance", row.strength.importance_now, weights.importance),
            Signal("recency", self._recency(row), weights.recency),
            Signal("salience", row.strength.salience / MAX_SALIENCE, weights.salience),
        )

    def _recency(self, row: RankRow) -> float:
        """``0.5 ** (age_days / days)``: 1 when new, a half after ``days``."""
        age_days = max(0.0, self.now - row.created_at) / _DAY_S
        return float(0.5 ** (age_days / self.recency.days))
