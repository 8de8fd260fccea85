"""A summary written with its links to what it was made of.

Runs inside the caller's write transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.domain.memory import Draft, Memory
from engine.storage import memories
from engine.storage.database import Connection
from engine.storage.journal import Stamp
from engine.writing import links
from engine.writing import memories as writing
from engine.writing.layers import Layers

_DERIVED_FROM = "derived_from"


def create(
    connection: Connection,
    draft: Draft,
    layers: Layers,
    sources: Sequence[Memory],
    stamp: Stamp,
) -> Memory:
    """Write a summary and its ``derived_from`` links."""
    memory = writing.create(connection, draft, layers, stamp, "reflect").memory
    for source in sources:
        links.put(connection, memory, source, _DERIVED_FROM, stamp)
    return memory


def unchanged(connection: Connection, sources: Sequence[Memory], now: float) -> bool:
    """Whether memories are as they were read, and live."""
    found = memories.fetch(connection, [memory.id for memory in sources])
    return all(
        memory.id in found
        and found[memory.id].revision == memory.revision
        and found[memory.id].state(now) == "live"
        for memory in sources
    )
