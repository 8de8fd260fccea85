"""Decay: what one daily step takes from a memory's strength.

A run that comes late does the steps it missed one after another, each with the numbers of its
own moment, so that the result is bit for bit that of daily runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.domain.memory import Strength
from engine.lifecycle import salience
from engine.lifecycle.curves import DAY_S

IMPORTANCE_FLOOR = 0.05
LEAST_SHARE = 0.3
"""What use leaves of the rate at least."""


@dataclass(frozen=True, slots=True)
class DecayPolicy:
    """``rate`` is what a day takes of an unused memory's importance (0-1). Accesses count for
    ``access_window_days`` after the last one, and each step leaves ``access_multiplier`` of
    their number."""

    rate: float = 0.01
    access_window_days: float = 30.0
    access_multiplier: float = 0.5


def daily_rate(rate: float, accesses: float) -> float:
    """The rate of a day: ``rate * max(0.3, 1 - 0.1 * min(accesses, 10))``."""
    return rate * max(LEAST_SHARE, 1.0 - 0.1 * min(accesses, 10.0))


def faded(importance_now: float, rate: float) -> float:
    """Importance after a day: ``max(0.05, importance * (1 - rate))``; what was below that floor
    from the start stays as it is."""
    return max(min(IMPORTANCE_FLOOR, importance_now), importance_now * (1.0 - rate))


def decayed(
    strength: Strength,
    created_at: float,
    moments: Sequence[float],
    policy: DecayPolicy,
    *,
    immune: bool = False,
) -> Strength:
    """A memory's strength after a step at each of ``moments`` (epoch seconds, in order).

    An ``immune`` one keeps importance and salience; only its accesses grow old. Memories that
    were never used rest since ``created_at``.
    """
    importance, salient, window = strength.importance_now, strength.salience, strength.access_window
    accessed = strength.last_access
    counts_until = 0.0 if accessed is None else accessed + policy.access_window_days * DAY_S
    rests_from = (created_at if accessed is None else accessed) + salience.REST_DAYS * DAY_S
    for moment in moments:
        recent = window if moment <= counts_until else 0.0
        window = recent * policy.access_multiplier
        if immune:
            continue
        importance = faded(importance, daily_rate(policy.rate, recent))
        if moment > rests_from:
            salient = salience.after_rest(salient)
        if moment > counts_until and _is_spent(importance, salient):
            # Nothing moves any more, however many steps are left.
            break
    return replace(strength, importance_now=importance, salience=salient, access_window=window)


def _is_spent(importance: float, salient: float) -> bool:
    return importance <= IMPORTANCE_FLOOR and salient <= salience.FLOOR
