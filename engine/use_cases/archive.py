"""Archive: put aside what is old and unimportant. Nothing is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput
from engine.domain.retention import Kept
from engine.domain.scope import Filters
from engine.lifecycle.curves import DAY_S
from engine.storage import forgetting, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import states

_MAINTENANCE = Caller("maintenance")
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Archived:
    """The memories that are (or would be) archived, by id. One undo of ``group_uid`` takes an
    applied run back."""

    memory_ids: tuple[int, ...] = ()
    applied: bool = False
    group_uid: str | None = None


def archive_old(
    context: EngineContext,
    *,
    apply: bool,
    now: float | None = None,
    caller: Caller = _MAINTENANCE,
) -> Archived:
    """Archive live memories older than ``archive.older_than_days`` whose importance (as it was
    set) is below ``archive.below_importance``; pinned ones and protected kinds never.

    Says what it would do unless ``apply``. ``now`` (epoch seconds) simulates another moment:
    InvalidInput when that is to be applied.
    """
    if apply and now is not None:
        raise InvalidInput("error.simulated_apply")
    moment = context.clock.now() if now is None else now
    with context.database.read() as connection:
        found = _old(context, connection, moment)
    if not apply:
        return Archived(tuple(found))
    stamp = Stamp(caller.actor, moment, new_uid())
    done: list[int] = []
    for start in range(0, len(found), _BATCH):
        done += _archive(context, found[start : start + _BATCH], stamp)
    return Archived(tuple(done), applied=True, group_uid=stamp.group_uid if done else None)


def _archive(context: EngineContext, ids: Sequence[int], stamp: Stamp) -> list[int]:
    """Archive those that nobody changed meanwhile."""
    with context.database.write() as connection:
        found = memories.fetch(connection, _old(context, connection, stamp.at, ids))
        for memory_id in sorted(found):
            states.archive(connection, found[memory_id], stamp)
    return sorted(found)


def _old(
    context: EngineContext,
    connection: Connection,
    now: float,
    among: Sequence[int] | None = None,
) -> list[int]:
    protected = context.settings.decay.protected_kinds
    rows = forgetting.scored_rows(connection, Filters(state="live"), protected, now, among)
    return [row.memory_id for row in rows if _is_old(context, row.kept, now)]


def _is_old(context: EngineContext, kept: Kept, now: float) -> bool:
    settings = context.settings.archive
    is_aged = now - kept.created_at > settings.older_than_days * DAY_S
    return is_aged and kept.importance < settings.below_importance
