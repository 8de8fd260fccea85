"""Strength that is behind: the daily steps that memories have not had yet.

Runs inside the caller's write transaction. What changes a memory's strength for another reason
(use, for instance) catches up first, so that late steps do not count what came after them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.config.upkeep import DecaySettings
from engine.context import EngineContext
from engine.lifecycle.decay import DecayPolicy, decayed
from engine.lifecycle.schedule import DailyMoment
from engine.storage import strength
from engine.storage.database import Connection
from engine.storage.strength import StrengthRow


@dataclass(frozen=True, slots=True)
class DecayPlan:
    """The steps that are due by ``now`` (epoch seconds) under the settings in force;
    ``last_moment`` is the latest of them, 0 when there is none.

    Pinned memories and those of ``protected_kinds`` keep what they have. While decay is not
    ``enabled``, days pass without taking anything.
    """

    policy: DecayPolicy
    daily: DailyMoment
    protected_kinds: tuple[str, ...]
    enabled: bool
    now: float
    last_moment: float

    def is_immune(self, row: StrengthRow) -> bool:
        """Whether nothing is taken from a memory."""
        return row.pinned or row.kind in self.protected_kinds or not self.enabled


def decay_plan(context: EngineContext, now: float) -> DecayPlan:
    """The plan of the settings in force."""
    settings = context.settings.decay
    daily = DailyMoment(settings.hour, settings.minute, context.zone)
    return DecayPlan(
        policy=decay_policy(settings),
        daily=daily,
        protected_kinds=settings.protected_kinds,
        enabled=settings.enabled,
        now=now,
        last_moment=daily.last_before(now),
    )


def decay_policy(settings: DecaySettings) -> DecayPolicy:
    """The rule of one step, as set."""
    return DecayPolicy(settings.rate, settings.access_window_days, settings.access_multiplier)


def after_steps(plan: DecayPlan, rows: Sequence[StrengthRow]) -> list[tuple[StrengthRow, int]]:
    """Each of the rows after the steps it had not had, and how many those were."""
    if not rows:
        return []
    moments = plan.daily.between(min(row.since for row in rows), plan.now)
    return [_after(plan, row, moments) for row in rows]


def catch_up(connection: Connection, plan: DecayPlan, memory_ids: Iterable[int]) -> None:
    """Give memories the steps that they have not had."""
    caught = after_steps(plan, strength.fetch(connection, memory_ids))
    strength.put(connection, [row for row, steps in caught if steps])


def _after(plan: DecayPlan, row: StrengthRow, moments: Sequence[float]) -> tuple[StrengthRow, int]:
    due = moments[bisect_right(moments, row.since) :]
    if not due:
        return row, 0
    left = decayed(row.strength, row.created_at, due, plan.policy, immune=plan.is_immune(row))
    return replace(row, strength=left, decayed_until=due[-1]), len(due)
