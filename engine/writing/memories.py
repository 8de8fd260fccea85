"""Changes of one memory, each with all its layers and its journal entry.

Every function runs inside the caller's write transaction, so a kill at any moment leaves
either all of a change or nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from engine.domain.fields import EMBEDDED_FIELDS, FIELDS, INDEXED_FIELDS
from engine.domain.ids import MemoryRef
from engine.domain.memory import Draft, FieldValue, Memory
from engine.domain.text import content_hash
from engine.storage import (
    changes,
    embeddings,
    fulltext,
    journal,
    memories,
    memory_layers,
    tombstones,
    workspaces,
)
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject
from engine.writing import atoms, facts, graph
from engine.writing.atoms import Place, WrittenAtoms
from engine.writing.embed import Embedded
from engine.writing.layers import Layers

FACT_FIELDS = frozenset({"text", "key_facts", "event_time"})
GRAPH_FIELDS = FACT_FIELDS | {"participants", "topics"}


@dataclass(frozen=True, slots=True)
class Created:
    """A new memory, live ones of its workspace with the very same text, and its atoms."""

    memory: Memory
    twins: tuple[int, ...]
    pending: bool
    atoms: WrittenAtoms


def create(
    connection: Connection,
    draft: Draft,
    layers: Layers,
    stamp: Stamp,
    operation: str = "memorize",
) -> Created:
    """Write a new memory with its layers; ``operation`` names in the journal how it came."""
    workspace_id = workspaces.ensure(connection, draft.workspace, stamp.at)
    digest = content_hash(str(draft.fields["text"]))
    twins = memories.twins(connection, digest, workspace_id, stamp.at)
    row = memories.NewRow(
        uid=new_uid(),
        workspace_id=workspace_id,
        content_hash=digest,
        created_at=stamp.at,
        authored=draft.fields,
        session_id=draft.session_id,
        position=_position(connection, draft),
        persona_id=draft.persona_id,
        user_id=draft.user_id,
        agent=draft.agent,
        origin=draft.origin,
    )
    memory_id = memories.insert(connection, row)
    memories.replace_labels(connection, memory_id, layers.labels)
    fulltext.put(connection, memory_id, layers.tokens)
    store_layers(connection, memory_id, layers, stamp.at)
    journal.append(connection, stamp, operation, Subject(memory_id, row.uid), {})
    written = write_atoms(connection, layers, Place(workspace_id, memory_id, stamp.at), stamp)
    write_graph(connection, memory_id, layers, stamp)
    memory = memories.find(connection, MemoryRef(id=memory_id))
    return Created(memory, tuple(twins), layers.embedded is None, written)


def edit(
    connection: Connection,
    memory: Memory,
    changed: Mapping[str, FieldValue],
    layers: Layers,
    stamp: Stamp,
) -> Memory:
    """Set the changed fields of a memory and renew the layers that follow from them."""
    values = dict(changed) | {"updated_at": stamp.at, "revision": memory.revision + 1}
    if "text" in changed:
        values["content_hash"] = content_hash(str(changed["text"]))
    memories.update(connection, memory.id, values)
    if changed.keys() & set(INDEXED_FIELDS) and memory.deleted_at is None:
        fulltext.put(connection, memory.id, layers.tokens)
    memories.replace_labels(connection, memory.id, layers.labels)
    if changed.keys() & set(EMBEDDED_FIELDS):
        embeddings.remove_pieces(connection, memory.id)
        store_layers(connection, memory.id, layers, stamp.at)
    if changed.keys() & FACT_FIELDS:
        renew_atoms(connection, memory.id, layers, stamp, stamp.at)
        if memory.archived_at is not None:
            atoms.follow_memory(connection, memory.id, stamp)
    if changed.keys() & GRAPH_FIELDS:
        write_graph(connection, memory.id, layers, stamp)
    changes.mark(connection, changes.MEMORY, [memory.id])
    before = authored(memory)
    journal.append(
        connection,
        stamp,
        "edit",
        Subject(memory.id, memory.uid),
        {name: (before[name], value) for name, value in changed.items()},
    )
    return memories.find(connection, MemoryRef(id=memory.id))


def trash(connection: Connection, memory: Memory, stamp: Stamp) -> Memory:
    """Move a memory to the trash: out of every search, restorable with its vectors."""
    fulltext.remove(connection, memory.id)
    trashed = set_state(connection, memory, {"deleted_at": stamp.at}, "delete", stamp)
    atoms.follow_memory(connection, memory.id, stamp)
    graph.withdraw(connection, memory.id)
    return trashed


def restore(connection: Connection, memory: Memory, layers: Layers, stamp: Stamp) -> Memory:
    """Lift the state that hides a memory: trash first, else superseded and archived."""
    if memory.deleted_at is not None:
        fulltext.put(connection, memory.id, layers.tokens)
        write_graph(connection, memory.id, layers, stamp)
        cleared: dict[str, FieldValue] = {"deleted_at": None}
    else:
        cleared = {"superseded_at": None, "superseded_by": None, "archived_at": None}
    restored = set_state(connection, memory, cleared, "restore", stamp)
    atoms.follow_memory(connection, memory.id, stamp)
    return restored


def erase(connection: Connection, memory: Memory, stamp: Stamp) -> None:
    """Remove a memory for good, with what the journal kept of its content."""
    atoms.erase(connection, memory.id, stamp)
    graph.erase(connection, memory.id)
    fulltext.remove_for_good(connection, memory.id)
    facts.erase_of_memory(connection, memory.id)
    embeddings.remove_pieces(connection, memory.id)
    embeddings.clear_pending(connection, memory.id)
    memories.erase(connection, memory.id)
    journal.erase_snapshots(connection, memory.id)
    journal.append(connection, stamp, "purge", Subject(memory.id, memory.uid), {})
    tombstones.put(connection, memory.uid, stamp.at, memory.origin)
    changes.mark(connection, changes.MEMORY, [memory.id])


def erase_purged(connection: Connection, memory_id: int) -> None:
    """Remove what the journal kept of a memory that was reclaimed before."""
    facts.erase_of_memory(connection, memory_id)
    journal.erase_snapshots(connection, memory_id)


def write_atoms(connection: Connection, layers: Layers, place: Place, stamp: Stamp) -> WrittenAtoms:
    """Write the atoms of a memory and note which rules derived them."""
    written = WrittenAtoms()
    if layers.atoms is not None:
        written = atoms.write(connection, layers.atoms, place, stamp)
    memory_layers.put(connection, place.memory_id, layers.rules_version)
    return written


def renew_atoms(
    connection: Connection, memory_id: int, layers: Layers, stamp: Stamp, stated_at: float
) -> None:
    """Write the atoms of changed fields as stated at a moment; facts that are as they were keep
    theirs."""
    kept = {draft.content_hash for draft in layers.atoms.drafts} if layers.atoms else set()
    atoms.withdraw(connection, memory_id, stamp, kept)
    workspace_id = memories.workspace_id(connection, memory_id)
    write_atoms(connection, layers, Place(workspace_id, memory_id, stated_at), stamp)


def write_graph(connection: Connection, memory_id: int, layers: Layers, stamp: Stamp) -> None:
    """Write a memory's part of the graph in place of what it had."""
    if layers.graph is not None:
        graph.write(connection, memory_id, layers.graph, stamp.at)


def fill_layers(connection: Connection, memory: Memory, layers: Layers, stamp: Stamp) -> None:
    """Give a memory the atoms and graph that it lacks, as of when it was created."""
    workspace_id = memories.workspace_id(connection, memory.id)
    write_atoms(connection, layers, Place(workspace_id, memory.id, memory.created_at), stamp)
    if memory.deleted_at is None:
        write_graph(connection, memory.id, layers, stamp)
    if memory.deleted_at is not None or memory.archived_at is not None:
        atoms.follow_memory(connection, memory.id, stamp)


def store_layers(connection: Connection, memory_id: int, layers: Layers, now: float) -> None:
    """Store a memory's vectors as far as they are made; the rest is to follow."""
    if layers.embedded is not None:
        store_vectors(connection, memory_id, layers.embedded, now)
    if not layers.settled:
        embeddings.mark_pending(connection, memory_id, now)
    changes.mark(connection, changes.MEMORY, [memory_id])


def store_vectors(connection: Connection, memory_id: int, embedded: Embedded, now: float) -> None:
    """Store a memory's vectors in their space; it no longer waits for any."""
    space_id = embeddings.ensure_space(connection, embedded.identity, now)
    embeddings.replace_pieces(connection, memory_id, space_id, embedded.pieces)
    changes.mark(connection, changes.MEMORY, [memory_id])


def set_state(
    connection: Connection,
    memory: Memory,
    values: Mapping[str, FieldValue],
    operation: str,
    stamp: Stamp,
    *,
    other_id: int | None = None,
) -> Memory:
    """Set fields from which nothing is derived, with revision, change mark and journal entry.

    The entry holds those of ``values`` that differ; ``other_id`` as in the journal.
    """
    revised = dict(values) | {"updated_at": stamp.at, "revision": memory.revision + 1}
    memories.update(connection, memory.id, revised)
    changes.mark(connection, changes.MEMORY, [memory.id])
    changed = {
        name: (getattr(memory, name), value)
        for name, value in values.items()
        if getattr(memory, name) != value
    }
    subject = Subject(memory.id, memory.uid, other_id=other_id)
    journal.append(connection, stamp, operation, subject, changed)
    return memories.find(connection, MemoryRef(id=memory.id))


def authored(memory: Memory) -> dict[str, FieldValue]:
    """The authored fields of a stored memory."""
    values = asdict(memory)
    return {name: values[name] for name in FIELDS}


def _position(connection: Connection, draft: Draft) -> int | None:
    if draft.session_id is None:
        return None
    return memories.next_position(connection, draft.session_id)
