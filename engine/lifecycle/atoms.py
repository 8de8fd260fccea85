"""Rules of an atom's life: when it expires, which state it is in, what it is worth now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.domain.atom import AtomLife
from engine.lifecycle.curves import DAY_S, curve_value

FACTOR_FLOOR = 0.05
"""The least a lapsed plan leaves of a memory."""

PURGED = "purged"
_OUT = ("superseded", "forgotten")


@dataclass(frozen=True, slots=True)
class SweepPolicy:
    """Days from expired to forgotten, and from forgotten to gone."""

    forget_after_days: float = 7.0
    purge_after_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Transition:
    """The state that an atom has come to, and since when (epoch seconds)."""

    state: str
    since: float


def expires_at(refreshed_at: float, ttl_days: float, deadline: float | None) -> float:
    """The end of an atom's life: its deadline, or its shelf life after it was last stated."""
    return deadline if deadline is not None else refreshed_at + ttl_days * DAY_S


def living_state(expires_at: float | None, now: float) -> str:
    """``active`` or ``expired``."""
    return "expired" if expires_at is not None and expires_at <= now else "active"


def value_now(life: AtomLife, now: float) -> float:
    """What an atom is worth in [0,1]: its curve; 0 once expired, superseded or forgotten.

    With a deadline it holds until that.
    """
    if life.state in ("expired", *_OUT) or living_state(life.expires_at, now) == "expired":
        return 0.0
    if life.deadline is not None:
        return 1.0
    return curve_value(life.curve, (now - life.refreshed_at) / DAY_S, life.ttl_days)


def temporal_factor(lives: Iterable[AtomLife], now: float) -> float:
    """What its atoms leave of a memory: the mean value of those that are neither superseded nor
    forgotten; 1 when it has none, at least 0.05."""
    values = [value_now(life, now) for life in lives if life.state not in _OUT]
    return max(FACTOR_FLOOR, sum(values) / len(values)) if values else 1.0


def due_transition(life: AtomLife, now: float, policy: SweepPolicy) -> Transition | None:
    """Where a sweep at ``now`` takes an atom, ``None`` when it stays.

    Every step is dated by the moment it was due, not by the sweep: one sweep after a month
    leaves what daily ones would have left.
    """
    if life.expires_at is None or life.state not in ("active", "expired", "forgotten"):
        return None
    forgotten_at = life.expires_at + policy.forget_after_days * DAY_S
    purged_at = forgotten_at + policy.purge_after_days * DAY_S
    steps = (
        Transition(PURGED, purged_at),
        Transition("forgotten", forgotten_at),
        Transition("expired", life.expires_at),
    )
    reached = next((step for step in steps if step.since <= now), None)
    return reached if reached is not None and reached.state != life.state else None
