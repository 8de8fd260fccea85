"""Forecasts: how a memory or an atom will fade if nobody uses it, and what happens when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain.atom import AtomLife
from engine.domain.memory import Strength
from engine.domain.retention import Kept
from engine.lifecycle.atoms import SweepPolicy, value_now
from engine.lifecycle.curves import DAY_S
from engine.lifecycle.decay import DecayPolicy, decayed
from engine.lifecycle.retention import RetentionPolicy, retention_score
from engine.lifecycle.schedule import DailyMoment

AT_RISK = "at_risk"
FADED = "faded"
ARCHIVED = "archived"
TRASHED = "trashed"
EXPIRES = "expires"
FORGOTTEN = "forgotten"
PURGED = "purged"


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """A memory ``day`` days from now: importance (0-1), salience and retention score then."""

    day: int
    at: float
    importance_now: float
    salience: float
    retention: float


@dataclass(frozen=True, slots=True)
class AtomPoint:
    """What an atom is worth (0-1) ``day`` days from now."""

    day: int
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that happens at a moment (epoch seconds).

    ``at_risk``: the retention score falls below ``below``; ``faded``: importance now falls
    below it; ``archived``, ``trashed``, ``expires``, ``forgotten``, ``purged``.
    """

    kind: str
    at: float
    below: float | None = None


@dataclass(frozen=True, slots=True)
class Ageing:
    """A memory and the rules it ages by. ``decayed_until`` is the last step it has had."""

    kept: Kept
    strength: Strength
    decayed_until: float
    immune: bool
    decay: DecayPolicy
    daily: DailyMoment
    retention: RetentionPolicy


def memory_curve(ageing: Ageing, now: float, days: int) -> tuple[MemoryPoint, ...]:
    """One point for each day from now to ``days`` days on: what a run on that day leaves."""
    moments = ageing.daily.between(ageing.decayed_until, now + days * DAY_S)
    strength, done = ageing.strength, 0
    points = []
    for day in range(days + 1):
        at = now + day * DAY_S
        due = done
        while due < len(moments) and moments[due] <= at:
            due += 1
        strength = _after(ageing, strength, moments[done:due])
        done = due
        score = retention_score(ageing.kept, at, ageing.retention)
        points.append(MemoryPoint(day, at, strength.importance_now, strength.salience, score))
    return tuple(points)


def faded_at(ageing: Ageing, below: float, until: float) -> float | None:
    """The step (by ``until``) with which importance falls below a value; ``None``: not by then,
    or it is below already."""
    strength = ageing.strength
    if ageing.immune or strength.importance_now < below:
        return None
    for moment in ageing.daily.between(ageing.decayed_until, until):
        strength = _after(ageing, strength, (moment,))
        if strength.importance_now < below:
            return moment
    return None


def atom_curve(life: AtomLife, now: float, days: int) -> tuple[AtomPoint, ...]:
    """One point for each day from now to ``days`` days on."""
    moments = ((day, now + day * DAY_S) for day in range(days + 1))
    return tuple(AtomPoint(day, at, value_now(life, at)) for day, at in moments)


def atom_turns(life: AtomLife, policy: SweepPolicy) -> tuple[Turn, ...]:
    """When an atom expires, is forgotten and is gone, in order; what has been is left out."""
    if life.expires_at is None or life.state not in ("active", "expired", FORGOTTEN):
        return ()
    forgotten_at = life.expires_at + policy.forget_after_days * DAY_S
    turns = (
        Turn(EXPIRES, life.expires_at),
        Turn(FORGOTTEN, forgotten_at),
        Turn(PURGED, forgotten_at + policy.purge_after_days * DAY_S),
    )
    past = {"active": 0, "expired": 1, FORGOTTEN: 2}[life.state]
    return turns[past:]


def _after(ageing: Ageing, strength: Strength, moments: Sequence[float]) -> Strength:
    return decayed(strength, ageing.kept.created_at, moments, ageing.decay, immune=ageing.immune)
