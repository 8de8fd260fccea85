"""Several memories joined with one: merged into it, superseded by it, or linked from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.ids import parse_ref
from engine.domain.memory import Memory
from engine.domain.vocabulary import RELATIONS, check
from engine.storage import memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import consolidation, links
from engine.writing.layers import derive
from engine.writing.memories import authored

JOINTS = ("merge", "supersede", "link")


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """``others`` are merged into ``ref``, superseded by it, or linked from it by ``relation``."""

    how: str
    ref: str | int
    others: Sequence[str | int]
    relation: str = "related"


@dataclass(frozen=True, slots=True)
class Joined:
    """The one that the others were joined with, as it is now, and the others that had to be
    changed for it. One undo of ``group_uid`` takes all of it back."""

    memory: Memory
    changed: tuple[int, ...]
    group_uid: str


def join_memories(context: EngineContext, request: JoinRequest, caller: Caller) -> Joined:
    """Join memories in one transaction: all of them or none.

    Raises InvalidInput for nothing to join, a memory with itself or an unknown relation,
    NotFound, and Conflict for a memory that cannot be joined so: one in the trash, a circle, one
    that another memory superseded already.
    """
    how = check("action", request.how, JOINTS)
    check("relation", request.relation, RELATIONS)
    if not request.others:
        raise InvalidInput("error.nothing_chosen")
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    if how == "merge":
        return _merge(context, request, stamp)
    with context.database.write() as connection:
        one, *others = _found(connection, request)
        if how == "supersede":
            changed = [_supersede(connection, other, one, stamp) for other in others]
        else:
            changed = [_link(connection, one, other, request, stamp) for other in others]
        ids = [other.id for other, was in zip(others, changed, strict=True) if was]
        return Joined(memories.fetch(connection, [one.id])[one.id], tuple(ids), stamp.group_uid)


def _found(connection: Connection, request: JoinRequest) -> list[Memory]:
    """The one, then the others, each once."""
    refs = (request.ref, *request.others)
    found = {
        memory.id: memory for memory in (memories.find(connection, parse_ref(r)) for r in refs)
    }
    one, *others = found.values()
    if not others:
        raise InvalidInput("error.link_to_itself", ref=f"#{one.id}")
    for memory in (one, *others):
        if memory.deleted_at is not None:
            raise Conflict("error.link_in_trash", ref=f"#{memory.id}")
    return [one, *others]


def _supersede(connection: Connection, old: Memory, new: Memory, stamp: Stamp) -> bool:
    if old.superseded_by == new.id:
        return False
    links.supersede(connection, old, new, stamp)
    return True


def _link(
    connection: Connection, one: Memory, other: Memory, request: JoinRequest, stamp: Stamp
) -> bool:
    if request.relation == "supersedes":
        return _supersede(connection, other, one, stamp)
    return links.put(connection, one, other, request.relation, stamp)


def _merge(context: EngineContext, request: JoinRequest, stamp: Stamp) -> Joined:
    """The layers of the survivor are derived before the lock is taken; when somebody wrote one
    of them meanwhile, nothing is done."""
    with context.database.read() as connection:
        one, *others = _found(connection, request)
        for memory in (one, *others):
            if memory.state(stamp.at) not in ("live", "archived"):
                state = memory.state(stamp.at)
                raise Conflict("error.not_live", ref=f"#{memory.id}", state=state)
        plan = consolidation.planned(connection, one, others)
    gains = {name: value for name, value in plan.gains.items() if name != "created_at"}
    layers = derive(context, authored(one) | gains, None, one.created_at)
    with context.database.write() as connection:
        now = memories.fetch(connection, [memory.id for memory in (one, *others)])
        for memory in (one, *others):
            _require_unchanged(memory, now.get(memory.id))
        survivor = consolidation.merge(connection, plan, layers, stamp)
    return Joined(survivor, tuple(memory.id for memory in others), stamp.group_uid)


def _require_unchanged(read: Memory, now: Memory | None) -> None:
    found = 0 if now is None else now.revision
    if found != read.revision:
        ref = f"#{read.id}"
        raise Conflict("error.stale_revision", ref=ref, given=read.revision, found=found)
