"""States of one memory that upkeep and people set: archived, pinned, gone.

Every function runs inside the caller's write transaction.
"""

from __future__ import annotations

from engine.domain.ids import MemoryRef
from engine.domain.memory import FieldValue, Memory
from engine.storage import (
    changes,
    embeddings,
    forgetting,
    fulltext,
    journal,
    memories,
    snapshots,
    tombstones,
)
from engine.storage.database import Connection
from engine.storage.journal import Changes, Stamp, Subject
from engine.writing import atoms, facts, graph, links
from engine.writing.memories import authored, set_state


def archive(connection: Connection, memory: Memory, stamp: Stamp) -> Memory:
    """Put a memory aside: out of automatic recall, its atoms asleep."""
    return _archived_at(connection, memory, stamp.at, stamp)


def unarchive(connection: Connection, memory: Memory, stamp: Stamp) -> Memory:
    """Take a memory out of the archive; its atoms wake."""
    return _archived_at(connection, memory, None, stamp)


def pin(connection: Connection, memory: Memory, pinned: bool, stamp: Stamp) -> Memory:
    """Keep a memory from fading and from being reclaimed, or no longer."""
    return set_state(connection, memory, {"pinned": pinned}, "pin", stamp)


def purge(connection: Connection, memory: Memory, stamp: Stamp) -> None:
    """Reclaim a memory from every table and index. The journal keeps a snapshot from which the
    row can be written again, until its retention ends.

    What pointed to the memory is taken back with it, each with an entry of its own.
    """
    links.remove_all(connection, memory, stamp)
    facts.remove_of_memory(connection, memory.id, stamp)
    _leave_predecessors(connection, memory, stamp)
    before = _snapshot(connection, memory)
    atoms.withdraw(connection, memory.id, stamp)
    graph.withdraw(connection, memory.id)
    fulltext.remove(connection, memory.id)
    embeddings.remove_pieces(connection, memory.id)
    embeddings.clear_pending(connection, memory.id)
    memories.erase(connection, memory.id)
    journal.append(connection, stamp, "purge", Subject(memory.id, memory.uid), before)
    tombstones.put(connection, memory.uid, stamp.at, memory.origin)
    changes.mark(connection, changes.MEMORY, [memory.id])


def _archived_at(connection: Connection, memory: Memory, at: float | None, stamp: Stamp) -> Memory:
    changed = set_state(connection, memory, {"archived_at": at}, "archive", stamp)
    atoms.follow_memory(connection, memory.id, stamp)
    return changed


def _snapshot(connection: Connection, memory: Memory) -> Changes:
    columns = snapshots.columns_of(connection, [memory.id])[memory.id]
    del columns["uid"]
    return {name: (value, None) for name, value in (authored(memory) | columns).items()}


def _leave_predecessors(connection: Connection, memory: Memory, stamp: Stamp) -> None:
    for former_id in forgetting.superseded_by(connection, memory.id):
        former = memories.find(connection, MemoryRef(id=former_id))
        values: dict[str, FieldValue] = {"superseded_by": None}
        set_state(connection, former, values, "edit", stamp, other_id=memory.id)
