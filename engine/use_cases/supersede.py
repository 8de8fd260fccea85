"""Supersede: one memory takes the place of another, which is hidden and kept."""

from __future__ import annotations

from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict
from engine.domain.ids import parse_ref
from engine.domain.memory import Memory
from engine.storage import memories
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import links as writing


@dataclass(frozen=True, slots=True)
class Superseded:
    """The hidden memory and the one in its place; ``changed`` is false when it was so."""

    old: Memory
    new: Memory
    changed: bool


def supersede(context: EngineContext, old: str | int, new: str | int, caller: Caller) -> Superseded:
    """Hide ``old`` in favour of ``new``: stamped, and linked by ``supersedes``; restoring it
    undoes both. Twice is harmless.

    Raises NotFound, InvalidInput for a memory and itself, Conflict for one in the trash, one
    that another memory superseded already, and a circle.
    """
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    with context.database.write() as connection:
        former = memories.find(connection, parse_ref(old))
        successor = memories.find(connection, parse_ref(new))
        for memory in (former, successor):
            if memory.deleted_at is not None:
                raise Conflict("error.link_in_trash", ref=f"#{memory.id}")
        changed = former.superseded_by != successor.id
        hidden = writing.supersede(connection, former, successor, stamp)
        return Superseded(hidden, successor, changed)
