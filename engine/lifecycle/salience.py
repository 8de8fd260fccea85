"""How salience moves with use: up with each access, down while nobody asks."""

from __future__ import annotations

from dataclasses import replace

from engine.domain.memory import Strength
from engine.lifecycle.curves import DAY_S

CAP = 2.0
FLOOR = 0.01
ACCESS_FACTOR = 1.05
REINFORCE_FACTOR = 1.20
REST_FACTOR = 0.95
REST_DAYS = 30.0
"""Days without access from which salience falls, each day by :data:`REST_FACTOR`."""


def after_access(salience: float) -> float:
    """Salience after one access."""
    return min(CAP, salience * ACCESS_FACTOR)


def after_reinforcement(salience: float) -> float:
    """Salience after somebody said that this matters."""
    return min(CAP, salience * REINFORCE_FACTOR)


def without_reinforcement(salience: float, before: float, after: float) -> float:
    """Salience as if a reinforcement that took it from ``before`` to ``after`` had not been:
    the growth is taken back, and what use and rest did since stays."""
    if salience == after:
        return before
    return min(CAP, salience * before / after)


def after_rest(salience: float) -> float:
    """Salience after one more day of rest; never raised to the floor from below it."""
    return max(min(FLOOR, salience), salience * REST_FACTOR)


def accessed(strength: Strength, now: float, window_days: float) -> Strength:
    """A memory's strength after it was used at ``now``.

    Accesses older than ``window_days`` no longer count in the window. A clock that was set
    back does not move the last access back.
    """
    last = strength.last_access
    is_recent = last is not None and now - last <= window_days * DAY_S
    return replace(
        strength,
        salience=after_access(strength.salience),
        last_access=now if last is None else max(last, now),
        access_count=strength.access_count + 1,
        access_window=(strength.access_window if is_recent else 0.0) + 1.0,
    )
