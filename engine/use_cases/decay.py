"""Decay: let importance and salience fade, once for each day since the last time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.storage import journal, strength
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import STORE, Stamp, Subject
from engine.storage.strength import StrengthRow
from engine.writing.strength import DecayPlan, after_steps, decay_plan

_MAINTENANCE = Caller("maintenance")
_MOST_ROWS = 1_000
_LEAST_ROWS = 10
# Steps of one transaction: a fraction of a second, so that nobody waits for a long absence.
_MOST_STEPS = 50_000


@dataclass(frozen=True, slots=True)
class Decayed:
    """What a run does: ``memories`` had ``steps`` daily steps at most.

    ``faded`` of them lost importance or salience; ``importance_lost`` and ``salience_lost``
    are sums over all of them.
    """

    memories: int = 0
    steps: int = 0
    faded: int = 0
    importance_lost: float = 0.0
    salience_lost: float = 0.0


def apply_decay(context: EngineContext, caller: Caller = _MAINTENANCE) -> Decayed:
    """Do every step that is due. Twice is harmless; a killed run is taken up where it ended.

    One journal entry a run; the memories' own journal and revision stay as they are.
    """
    plan = decay_plan(context, context.clock.now())
    size = _batch_size(context, plan)
    total, after_id = Decayed(), 0
    while size:
        with context.database.write() as connection:
            rows = strength.due(connection, plan.last_moment, after_id, size)
            done, caught = _stepped(plan, rows, total)
            strength.put(connection, caught)
            total = done
            if len(rows) < size:
                _note(connection, plan, total, caller)
                return total
        after_id = rows[-1].memory_id
    return total


def preview_decay(context: EngineContext, now: float | None = None) -> Decayed:
    """What :func:`apply_decay` would do at ``now`` (epoch seconds; the clock's by default)."""
    plan = decay_plan(context, context.clock.now() if now is None else now)
    total, after_id = Decayed(), 0
    size = _batch_size(context, plan)
    while size:
        with context.database.read() as connection:
            rows = strength.due(connection, plan.last_moment, after_id, size)
        total, _ = _stepped(plan, rows, total)
        if len(rows) < size:
            return total
        after_id = rows[-1].memory_id
    return total


def _batch_size(context: EngineContext, plan: DecayPlan) -> int:
    """How many memories fit one transaction; 0 when nothing is due, so that nobody's lock is
    taken for nothing."""
    with context.database.read() as connection:
        since = strength.due_since(connection, plan.last_moment)
    if since is None:
        return 0
    steps = len(plan.daily.between(since, plan.now))
    return max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_STEPS // max(1, steps)))


def _stepped(
    plan: DecayPlan, rows: Sequence[StrengthRow], total: Decayed
) -> tuple[Decayed, list[StrengthRow]]:
    """The tally with these rows added, and those that had a step."""
    caught = []
    memories, steps, faded = total.memories, total.steps, total.faded
    importance_lost, salience_lost = total.importance_lost, total.salience_lost
    for row, (after, count) in zip(rows, after_steps(plan, rows), strict=True):
        if not count:
            continue
        caught.append(after)
        importance = row.strength.importance_now - after.strength.importance_now
        salience = row.strength.salience - after.strength.salience
        memories, steps = memories + 1, max(steps, count)
        faded += importance > 0.0 or salience > 0.0
        importance_lost, salience_lost = importance_lost + importance, salience_lost + salience
    return Decayed(memories, steps, faded, importance_lost, salience_lost), caught


def _note(connection: Connection, plan: DecayPlan, total: Decayed, caller: Caller) -> None:
    """A run that only let time pass, decay being off, is none."""
    if not (total.memories and plan.enabled):
        return
    changes = {"memories": (None, total.memories), "steps": (None, total.steps)}
    stamp = Stamp(caller.actor, plan.now, new_uid())
    journal.append(connection, stamp, "decay", Subject(0, "", STORE), changes)
