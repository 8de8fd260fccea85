"""Purge: reclaim what expired or was deleted long enough ago."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput
from engine.domain.retention import EXPIRED, TRASH, Doomed
from engine.lifecycle.curves import DAY_S
from engine.storage import forgetting, memories
from engine.storage.forgetting import PurgeBounds
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import states

_BATCH = 100


@dataclass(frozen=True, slots=True)
class Purged:
    """The memories that are (or would be) reclaimed, by id. One undo of ``group_uid`` writes
    those of an applied run again, while the journal keeps them."""

    doomed: tuple[Doomed, ...]
    applied: bool = False
    group_uid: str | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """How many were ``expired``, and how many in the ``trash``."""
        expired = sum(item.why == EXPIRED for item in self.doomed)
        return {EXPIRED: expired, TRASH: len(self.doomed) - expired}


def purge(
    context: EngineContext, caller: Caller, *, apply: bool, now: float | None = None
) -> Purged:
    """Reclaim memories that expired ``expiry.grace_days`` ago or have been in the trash for
    ``trash.keep_days``. Pinned ones stay. One journal entry each, in one group.

    Says what it would do unless ``apply``. ``now`` (epoch seconds) simulates another moment:
    InvalidInput when that is to be applied.
    """
    if apply and now is not None:
        raise InvalidInput("error.simulated_apply")
    moment = context.clock.now() if now is None else now
    bounds = _bounds(context, moment)
    if not apply:
        with context.database.read() as connection:
            return Purged(tuple(forgetting.doomed(connection, bounds)))
    return _apply(context, bounds, Stamp(caller.actor, moment, new_uid()))


def _apply(context: EngineContext, bounds: PurgeBounds, stamp: Stamp) -> Purged:
    done: list[Doomed] = []
    while batch := _batch(context, bounds, stamp, done[-1].memory_id if done else 0):
        done += batch
    return Purged(tuple(done), applied=True, group_uid=stamp.group_uid if done else None)


def _batch(
    context: EngineContext, bounds: PurgeBounds, stamp: Stamp, after_id: int
) -> list[Doomed]:
    # Looked up without the lock first: most runs find nothing.
    with context.database.read() as connection:
        if not forgetting.doomed(connection, bounds, after_id, 1):
            return []
    with context.database.write() as connection:
        batch = forgetting.doomed(connection, bounds, after_id, _BATCH)
        for memory in memories.fetch(connection, [item.memory_id for item in batch]).values():
            states.purge(connection, memory, stamp)
    return batch


def _bounds(context: EngineContext, now: float) -> PurgeBounds:
    settings = context.settings
    return PurgeBounds(
        expired_by=now - settings.expiry.grace_days * DAY_S,
        deleted_by=now - settings.trash.keep_days * DAY_S,
    )
