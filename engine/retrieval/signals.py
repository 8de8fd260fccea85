"""The named signals of a pool of candidates.

All lie in [0,1] but ``cosine`` ([-1,1]) and ``polarity`` (-1, 0, 1). ``relevance`` and
``proximity`` belong to a route and are not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from engine.config.presets import Recency
from engine.retrieval.facts import Facts

DAY_S = 86_400.0
MAX_SALIENCE = 2.0
# Accesses from which on frequency grows no more, and the half-life of what they count.
FULL_ACCESSES = 50
ACCESS_HALF_LIFE_DAYS = 30.0


class Columns:
    """The signals of one pool, each a list in the pool's order, worked out when asked for."""

    def __init__(self, pool: Sequence[Facts], now: float) -> None:
        self.pool = tuple(pool)
        self.now = now
        self._known: dict[str | Recency, list[float]] = {}

    def column(self, signal: str, recency: Recency) -> list[float]:
        """One signal of every candidate; ``recency`` says how age counts."""
        key: str | Recency = recency if signal == "recency" else signal
        if key not in self._known:
            self._known[key] = (
                _recency(self.pool, self.now, recency)
                if signal == "recency"
                else _SIGNALS[signal](self.pool, self.now)
            )
        return self._known[key]

    def value(self, signal: str, recency: Recency, place: int) -> float:
        """One signal of one candidate, without working out the others' where that is enough."""
        key: str | Recency = recency if signal == "recency" else signal
        if key in self._known or signal in _RELATIVE:
            return self.column(signal, recency)[place]
        return Columns(self.pool[place : place + 1], self.now).column(signal, recency)[0]


def known_cosine(facts: Facts) -> float | None:
    """The cosine, ``None`` when there is none or it is no number."""
    cosine = facts.cosine
    return cosine if cosine is not None and math.isfinite(cosine) else None


def scaled_to_best(values: Sequence[float]) -> list[float]:
    """Values divided by their greatest; all 0 when none is above 0."""
    best = max(values, default=0.0)
    return [value / best for value in values] if best > 0 else [0.0] * len(values)


def min_max(values: Sequence[float], alone: float) -> list[float]:
    """Values scaled to [0,1] between the least and the greatest; ``alone`` when all are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high <= low:
        return [alone] * len(values)
    return [(value - low) / (high - low) for value in values]


def _recency(pool: Sequence[Facts], now: float, recency: Recency) -> list[float]:
    ages = _ages_days(pool, now, recency.basis)
    if recency.shape == "half_life":
        return [0.5 ** (age / recency.days) for age in ages]
    rate = recency.rate if recency.shape == "exp_lambda" else 1.0 / recency.days
    return [math.exp(-rate * age) for age in ages]


def _ages_days(pool: Sequence[Facts], now: float, basis: str) -> list[float]:
    if basis == "created":
        begun = [facts.created_at for facts in pool]
    elif basis == "accessed":
        begun = [_accessed(facts) for facts in pool]
    elif basis == "event":
        begun = [f.created_at if f.event_time is None else f.event_time for f in pool]
    else:
        begun = [max(facts.created_at, _accessed(facts)) for facts in pool]
    return [(now - moment) / DAY_S if now > moment else 0.0 for moment in begun]


def _accessed(facts: Facts) -> float:
    return facts.created_at if facts.last_access is None else facts.last_access


def _similarity(pool: Sequence[Facts], now: float) -> list[float]:
    cosines = map(known_cosine, pool)
    return [0.0 if cosine is None else (cosine + 1.0) / 2.0 for cosine in cosines]


def _frequency(pool: Sequence[Facts], now: float) -> list[float]:
    """``min(1, ln(1+n)/ln(1+50)) * 0.5 ** (days since the last access / 30)``."""
    return [_use(facts, now) if facts.access_count > 0 else 0.0 for facts in pool]


def _use(facts: Facts, now: float) -> float:
    often = min(1.0, math.log1p(facts.access_count) / math.log1p(FULL_ACCESSES))
    idle_days = max(0.0, now - _accessed(facts)) / DAY_S
    return float(often * 0.5 ** (idle_days / ACCESS_HALF_LIFE_DAYS))


def _lexical(pool: Sequence[Facts], now: float) -> list[float]:
    """BM25 over the pool's best."""
    return scaled_to_best([facts.bm25 if math.isfinite(facts.bm25) else 0.0 for facts in pool])


# Signals that depend on the rest of the pool.
_RELATIVE = frozenset({"lexical", "graph"})

Signal = Callable[[Sequence[Facts], float], list[float]]

_SIGNALS: Mapping[str, Signal] = {
    "cosine": lambda pool, now: [known_cosine(facts) or 0.0 for facts in pool],
    "similarity": _similarity,
    "lexical": _lexical,
    "importance": lambda pool, now: [facts.importance for facts in pool],
    "frequency": _frequency,
    "salience": lambda pool, now: [facts.salience / MAX_SALIENCE for facts in pool],
    "polarity": lambda pool, now: [float(facts.polarity) for facts in pool],
    "graph": lambda pool, now: scaled_to_best([facts.graph for facts in pool]),
    "confidence": lambda pool, now: [facts.confidence for facts in pool],
    "temporal": lambda pool, now: [facts.temporal_factor for facts in pool],
    "time_match": lambda pool, now: [facts.time_match for facts in pool],
    "context": lambda pool, now: [facts.context for facts in pool],
    "speaker": lambda pool, now: [facts.speaker for facts in pool],
}
