"""Retention: how much a memory is still worth keeping, and when it will not be."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.domain.retention import Kept
from engine.lifecycle.curves import DAY_S


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """``rate`` is λ for each day without access, ``frequency_weight`` is f; what scores below
    ``min_score`` may go."""

    rate: float = 0.01
    frequency_weight: float = 0.0
    min_score: float = 0.05


def retention_score(kept: Kept, now: float, policy: RetentionPolicy) -> float:
    """``importance * exp(-λ * days since last access) * (1 + f * ln(1 + access_count))``."""
    days = max(0.0, (now - kept.used_at) / DAY_S)
    return _fresh_score(kept, policy) * math.exp(-policy.rate * days)


def at_risk_from(kept: Kept, policy: RetentionPolicy) -> float | None:
    """The moment after which the score is below ``min_score``; ``None`` when it never will be."""
    fresh = _fresh_score(kept, policy)
    if policy.min_score <= 0.0:
        return None
    if fresh < policy.min_score:
        return kept.used_at
    if policy.rate <= 0.0:
        return None
    return kept.used_at + math.log(fresh / policy.min_score) / policy.rate * DAY_S


def half_life_days(rate: float) -> float | None:
    """Days until the score is half: ``ln 2 / λ``; ``None`` where it never is."""
    return math.log(2.0) / rate if rate > 0.0 else None


def _fresh_score(kept: Kept, policy: RetentionPolicy) -> float:
    return kept.importance * (1.0 + policy.frequency_weight * math.log1p(kept.access_count))
