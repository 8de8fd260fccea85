"""Forget: to the trash and back."""

from __future__ import annotations

from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.ids import parse_ref
from engine.domain.memory import Memory
from engine.storage import embeddings, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import links
from engine.writing import memories as writing
from engine.writing.layers import derive


@dataclass(frozen=True, slots=True)
class StateChange:
    """The memory afterwards; ``changed`` is false when it already was in that state.

    ``was`` names the state it was in before.
    """

    memory: Memory
    changed: bool
    was: str


def delete_memory(context: EngineContext, ref: str | int, caller: Caller) -> StateChange:
    """Move a memory to the trash, from where it can be restored. Twice is harmless."""
    now = context.clock.now()
    with context.database.write() as connection:
        memory = memories.find(connection, parse_ref(ref))
        was = memory.state(now)
        if was == "deleted":
            return StateChange(memory, changed=False, was=was)
        stamp = Stamp(caller.actor, now, new_uid())
        return StateChange(writing.trash(connection, memory, stamp), changed=True, was=was)


def restore_memory(context: EngineContext, ref: str | int, caller: Caller) -> StateChange:
    """Bring a memory back from the trash, from being superseded or from the archive."""
    now = context.clock.now()
    with context.database.write() as connection:
        memory = memories.find(connection, parse_ref(ref))
        was = memory.state(now)
        if was in ("live", "expired"):
            return StateChange(memory, changed=False, was=was)
        layers = derive(context, writing.authored(memory), None, memory.created_at)
        stamp = Stamp(caller.actor, now, new_uid())
        if was == "superseded":
            links.unlink_successor(connection, memory, stamp)
        restored = writing.restore(connection, memory, layers, stamp)
        _queue_missing_vectors(context, connection, memory.id)
    context.background.wake()
    return StateChange(restored, changed=True, was=was)


def _queue_missing_vectors(context: EngineContext, connection: Connection, memory_id: int) -> None:
    """The model may have changed while the memory lay in the trash, where nothing is queued."""
    identity = context.models.identity()
    if identity is not None:
        space_id = embeddings.find_space(connection, identity)
        embeddings.mark_pending_unless_embedded(
            connection, memory_id, space_id, context.clock.now()
        )
