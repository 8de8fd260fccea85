"""Reinforcement: what is used grows stronger.

Uses are counted beside the answers, in one write for many, outside revision, journal and change
sequence, so that no kept answer becomes stale. Saying that a memory matters is a change like
any other and stands in the journal.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from engine.context import EngineContext
from engine.domain.access import Access
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, JiyiError
from engine.domain.ids import parse_ref
from engine.domain.memory import Memory, Strength
from engine.lifecycle import salience
from engine.storage import journal, memories, strength
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject
from engine.storage.strength import StrengthRow
from engine.writing.strength import DecayPlan, after_steps, decay_plan

log = logging.getLogger("jiyi.reinforcement")

_WAIT_S = 1.0
_END_WAIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Flushed:
    """``memories`` whose uses were counted; ``waiting`` ones could not be written yet."""

    memories: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Reinforced:
    """A memory and its salience before and after; the same when it was at the top already."""

    memory: Memory
    before: float
    after: float


def flush_accesses(context: EngineContext, wait_s: float = _WAIT_S) -> Flushed:
    """Count the uses that wait, all of them in one write.

    Waits ``wait_s`` seconds at most for the store; what cannot be written waits on.
    """
    if not (len(context.accesses) and context.database.writable):
        return Flushed(waiting=len(context.accesses))
    taken = context.accesses.take()
    if taken.lost:
        log.warning("%d uses were not counted: too many wait", taken.lost)
    try:
        with context.database.write(wait_s) as connection:
            written = _count(context, connection, taken.accesses)
    except JiyiError as error:
        context.accesses.put_back(taken.accesses)
        log.info("uses are counted later: %s", error)
        return Flushed(waiting=len(context.accesses))
    except BaseException:
        context.accesses.put_back(taken.accesses)
        raise
    return Flushed(written, len(context.accesses))


def flush_at_the_end(context: EngineContext, wait_s: float = _END_WAIT_S) -> int:
    """Count what waits before the store is closed, and log how many uses could not be; return
    their number. Waits ``wait_s`` seconds at most."""
    try:
        flush_accesses(context, wait_s)
    finally:
        left = context.accesses.take()
        lost = left.count + left.lost
        if lost:
            log.warning("%d uses were not counted: the store could not be written", lost)
    return lost


def reinforce_memory(context: EngineContext, ref: str | int, caller: Caller) -> Reinforced:
    """Somebody says that a memory matters: its salience grows by a fifth, up to 2.

    Raises NotFound, and Conflict for a memory in the trash.
    """
    now = context.clock.now()
    with context.database.write() as connection:
        memory = memories.find(connection, parse_ref(ref))
        if memory.deleted_at is not None:
            raise Conflict("error.edit_in_trash", ref=f"#{memory.id}")
        row = strength.fetch(connection, [memory.id])[0]
        row = _caught_up(decay_plan(context, now), row, now)
        before = row.strength.salience
        after = salience.after_reinforcement(before)
        if after != before:
            grown = replace(row, strength=replace(row.strength, salience=after))
            strength.put(connection, [grown])
            stamp = Stamp(caller.actor, now, new_uid())
            subject = Subject(memory.id, memory.uid)
            journal.append(connection, stamp, "reinforce", subject, {"salience": (before, after)})
    return Reinforced(memory, before, after)


def _count(context: EngineContext, connection: Connection, accesses: tuple[Access, ...]) -> int:
    waiting = {access.memory_id: access for access in accesses}
    window_days = context.settings.decay.access_window_days
    plan = decay_plan(context, context.clock.now())
    grown = []
    for row in strength.fetch(connection, waiting):
        access = waiting[row.memory_id]
        row = _caught_up(plan, row, access.first_at)
        used = _after_uses(row.strength, access, window_days)
        grown.append(replace(row, strength=used))
    strength.put(connection, grown)
    return len(grown)


def _caught_up(plan: DecayPlan, row: StrengthRow, until: float) -> StrengthRow:
    """The row after the daily steps up to a moment, so that late steps do not count what was
    used after them."""
    return after_steps(replace(plan, now=min(plan.now, until)), [row])[0][0]


def _after_uses(before: Strength, access: Access, window_days: float) -> Strength:
    """Strength after the uses of an access, spread over its time."""
    after = before
    for number in range(access.count):
        at = access.first_at if number == 0 else access.last_at
        after = salience.accessed(after, at, window_days)
    return after
