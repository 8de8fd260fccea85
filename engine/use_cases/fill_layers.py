"""Atoms and graph for memories that have none yet: those of older stores and imports."""

from __future__ import annotations

import time

from engine.context import EngineContext
from engine.domain.memory import Memory
from engine.storage import memories, memory_layers
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import memories as writing
from engine.writing.layers import ATOMS_OFF, GRAPH_OFF, derive

_BATCH = 50
_ACTOR = "maintenance"


def derive_missing(context: EngineContext, budget_s: float) -> int:
    """Derive and write atoms and graph of memories that lack them, oldest first, for about
    ``budget_s`` seconds; return how many were done (0: nothing is left).

    Safe beside other processes: a memory that was changed or done meanwhile is passed over.
    """
    _include_switched_on(context)
    ends_at = time.monotonic() + budget_s
    group = new_uid()
    done = 0
    while True:
        step = _derive_batch(context, group)
        done += step
        if step == 0 or time.monotonic() >= ends_at:
            return done


def _include_switched_on(context: EngineContext) -> None:
    """What was written while atoms or graph were off is made up for."""
    settings = context.settings
    on = {ATOMS_OFF: settings.atoms.enabled, GRAPH_OFF: settings.graph.enabled}
    with context.database.read() as connection:
        lacking = [
            part
            for part, enabled in on.items()
            if enabled and memory_layers.any_made_with(connection, part)
        ]
    if lacking:
        with context.database.write() as connection:
            for part in lacking:
                memory_layers.forget_made_with(connection, part)


def _derive_batch(context: EngineContext, group: str) -> int:
    with context.database.read() as connection:
        if not memory_layers.any_missing(connection):
            return 0
        found = memories.fetch(connection, memory_layers.missing(connection, _BATCH))
    derived = [
        (memory, derive(context, writing.authored(memory), None, memory.created_at))
        for memory in found.values()
    ]
    stamp = Stamp(_ACTOR, context.clock.now(), group)
    with context.database.write() as connection:
        missing = set(memory_layers.missing(connection, _BATCH))
        for memory, layers in derived:
            if memory.id in missing and _is_unchanged(connection, memory):
                writing.fill_layers(connection, memory, layers, stamp)
    return len(derived)


def _is_unchanged(connection: Connection, memory: Memory) -> bool:
    now = memories.fetch(connection, [memory.id]).get(memory.id)
    return now is not None and now.revision == memory.revision
