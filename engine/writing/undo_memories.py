"""Memories set back to what they were before some entries of the journal.

Entries are folded, newest first, over what a memory is now: each field that an entry set must
still have the value that the entry left, or was set by an entry that is taken back as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from engine.domain.embedding import SpaceIdentity
from engine.domain.fields import EMBEDDED_FIELDS, FIELDS, INDEXED_FIELDS, LABEL_FIELDS
from engine.domain.memory import FieldValue, JournalEntry, Memory
from engine.domain.text import content_hash
from engine.lifecycle.salience import without_reinforcement
from engine.storage import changes, embeddings, fulltext, memories, snapshots, tombstones
from engine.storage import journal_search as search
from engine.storage.database import Connection
from engine.storage.journal import CREATIONS, Stamp
from engine.writing import atoms, graph
from engine.writing import memories as writing
from engine.writing.layers import Layers

Values = dict[str, FieldValue]
Opposite = dict[str, tuple[FieldValue, FieldValue]]
# What every change of a memory moves on, and what use and age move.
_NEVER_COMPARED = frozenset({"updated_at", "revision", *snapshots.STRENGTH})


@dataclass(slots=True)
class MemoryPlan:
    """One memory: its columns ``now`` and ``then`` (after the undo; ``None``: no such row), the
    changes that each entry's undo makes, the fields that were changed since, and when the facts
    that it states then were stated (epoch seconds)."""

    memory_id: int
    uid: str
    memory: Memory | None
    now: Values | None
    then: Values | None
    steps: list[tuple[JournalEntry, Opposite]] = field(default_factory=list)
    clashes: set[str] = field(default_factory=set)
    stated_at: float = 0.0

    @property
    def changed(self) -> Values:
        """The columns to be set in a row that is there before and after."""
        if self.now is None or self.then is None:
            return {}
        now = self.now
        return {name: value for name, value in self.then.items() if now.get(name) != value}

    @property
    def fields(self) -> Values | None:
        """The authored fields after the undo, where layers have to be derived from them."""
        if self.then is None:
            return None
        comes_back = self.now is None or "deleted_at" in self.changed
        if comes_back or self.changed.keys() & FIELDS.keys():
            return {name: self.then[name] for name in FIELDS}
        return None

    @property
    def needs_vectors(self) -> bool:
        """Whether its text is another one than the store has vectors of."""
        appears = self.now is None and self.then is not None
        return appears or bool(self.changed.keys() & set(EMBEDDED_FIELDS))


def is_whole(entry: JournalEntry) -> bool:
    """Whether an entry holds all of a memory that came or went, not what changed of it."""
    return None in entry.changes.get("created_at", ())


def is_undoable(entry: JournalEntry) -> bool:
    """Whether there is something to set back: not when what it held was erased."""
    if is_whole(entry):
        return "text" in entry.changes
    return bool(entry.changes) or (entry.operation in CREATIONS and entry.undoes is None)


def plan(connection: Connection, entries: Sequence[JournalEntry], at: float) -> list[MemoryPlan]:
    """What taking back entries about memories (newest first) comes to at a moment."""
    chosen = {entry.id for entry in entries}
    ids = dict.fromkeys(entry.subject_id for entry in entries)
    found, columns = memories.fetch(connection, ids), snapshots.columns_of(connection, ids)
    plans: dict[int, MemoryPlan] = {}
    for entry in entries:
        key = entry.subject_id
        if key not in plans:
            memory = found.get(key)
            now = writing.authored(memory) | columns[key] if memory else None
            plans[key] = MemoryPlan(key, entry.subject_uid, memory, now, now)
        _fold(connection, plans[key], entry, chosen, at)
    for item in plans.values():
        item.stated_at = _stated_at(connection, item)
    return list(plans.values())


def bring_back(connection: Connection, item: MemoryPlan, layers: Layers, stamp: Stamp) -> None:
    """Write the rows of a purged memory again, with its layers."""
    then = item.then or {}
    memory_id = item.memory_id
    snapshots.write(connection, memory_id, item.uid, then)
    snapshots.forget_tombstone(connection, item.uid)
    memories.replace_labels(connection, memory_id, layers.labels)
    writing.store_layers(connection, memory_id, layers, stamp.at)
    writing.renew_atoms(connection, memory_id, layers, stamp, item.stated_at)
    if then["deleted_at"] is None:
        fulltext.put(connection, memory_id, layers.tokens)
        writing.write_graph(connection, memory_id, layers, stamp)
    if then["deleted_at"] is not None or then["archived_at"] is not None:
        atoms.follow_memory(connection, memory_id, stamp)


def set_back(
    connection: Connection,
    item: MemoryPlan,
    layers: Layers | None,
    stamp: Stamp,
    identity: SpaceIdentity | None,
) -> None:
    """Set the changed fields of a memory that is there, and renew what follows from them."""
    memory, values = item.memory, item.changed
    if memory is None or not values:
        return
    strength = {name: values.pop(name) for name in snapshots.STRENGTH if name in values}
    if values:
        _set_fields(connection, item, values, layers, stamp)
        _settle_vectors(connection, memory, values, layers, stamp, identity)
        changes.mark(connection, changes.MEMORY, [memory.id])
    snapshots.set_strength(connection, memory.id, strength)


def take_out(connection: Connection, memory: Memory, stamp: Stamp) -> None:
    """Remove a memory that an undo had brought back."""
    atoms.withdraw(connection, memory.id, stamp)
    graph.withdraw(connection, memory.id)
    fulltext.remove(connection, memory.id)
    embeddings.remove_pieces(connection, memory.id)
    embeddings.clear_pending(connection, memory.id)
    memories.erase(connection, memory.id)
    tombstones.put(connection, memory.uid, stamp.at, memory.origin)
    changes.mark(connection, changes.MEMORY, [memory.id])


def _fold(
    connection: Connection,
    item: MemoryPlan,
    entry: JournalEntry,
    chosen: Collection[int],
    at: float,
) -> None:
    whole = is_whole(entry)
    before, after = entry.changes.get("text", (None, None))
    if entry.operation in CREATIONS and entry.undoes is None and not entry.changes:
        _fold_creation(connection, item, entry, chosen, at)
    elif whole and after is None:
        _fold_removal(connection, item, entry)
    elif whole and before is None:
        _fold_appearance(item, entry)
    else:
        _fold_fields(item, entry)


def _fold_creation(
    connection: Connection,
    item: MemoryPlan,
    entry: JournalEntry,
    chosen: Collection[int],
    at: float,
) -> None:
    """A new memory goes to the trash, unless somebody went on writing it."""
    if item.then is None:
        item.clashes.add("purged")
        return
    item.clashes |= _written_since(connection, entry, chosen)
    if item.then["deleted_at"] is None:
        item.steps.append((entry, {"deleted_at": (None, at)}))
        item.then = item.then | {"deleted_at": at}


def _written_since(
    connection: Connection, entry: JournalEntry, chosen: Collection[int]
) -> set[str]:
    later = [
        other
        for other in search.of_memory_after(connection, entry.subject_id, entry.id)
        if other.id not in chosen and other.undoes is None and other.operation != "reinforce"
    ]
    void = search.undone(connection, [other.id for other in later])
    return {name for other in later if other.id not in void for name in other.changes}


def _fold_removal(connection: Connection, item: MemoryPlan, entry: JournalEntry) -> None:
    snapshot = {name: before for name, (before, _) in entry.changes.items()}
    taken = item.now is None and snapshots.uid_is_taken(connection, item.uid)
    if item.then is not None or taken:
        item.clashes.add("uid")
    elif not snapshots.workspace_is_there(connection, snapshot.get("workspace_id")):
        item.clashes.add("workspace")
    item.steps.append((entry, {name: (None, value) for name, value in snapshot.items()}))
    item.then = snapshot


def _fold_appearance(item: MemoryPlan, entry: JournalEntry) -> None:
    if item.then is None:
        item.clashes.add("purged")
        return
    then = item.then
    item.clashes |= {
        name
        for name, (_, after) in entry.changes.items()
        if name not in _NEVER_COMPARED and then.get(name) != after
    }
    kept: Opposite = {name: (then.get(name), None) for name in entry.changes}
    item.steps.append((entry, kept))
    item.then = None


def _fold_fields(item: MemoryPlan, entry: JournalEntry) -> None:
    if item.then is None:
        item.clashes.add("purged")
        return
    then = item.then
    former = {name: before for name, (before, _) in entry.changes.items()}
    if "salience" in former:
        # Use and age move it between a change and its undo; that is nobody's edit.
        grown = [float(str(value)) for value in entry.changes["salience"]]
        former["salience"] = without_reinforcement(float(str(then["salience"])), *grown)
    item.clashes |= {
        name
        for name, (_, after) in entry.changes.items()
        if name != "salience" and then.get(name) != after
    }
    item.steps.append((entry, {name: (then.get(name), value) for name, value in former.items()}))
    item.then = then | former


def _stated_at(connection: Connection, item: MemoryPlan) -> float:
    """When its facts were last written as they are then, else when the memory was made."""
    then = item.then or item.now or {}
    if item.changed.keys() & writing.FACT_FIELDS:
        for entry in reversed(search.of_memory_after(connection, item.memory_id, 0)):
            written = entry.changes.keys() & writing.FACT_FIELDS
            same = all(entry.changes[name][1] == then[name] for name in written)
            if written and same and entry.undoes is None:
                return entry.at
    return float(str(then.get("created_at", 0.0)))


def _set_fields(
    connection: Connection,
    item: MemoryPlan,
    values: Mapping[str, FieldValue],
    layers: Layers | None,
    stamp: Stamp,
) -> None:
    memory = item.memory
    assert memory is not None
    columns = dict(values) | {"updated_at": stamp.at, "revision": memory.revision + 1}
    if "text" in values:
        columns["content_hash"] = content_hash(str(values["text"]))
    memories.update(connection, memory.id, columns)
    goes_back = values.get("deleted_at", memory.deleted_at) is not None
    if goes_back:
        fulltext.remove(connection, memory.id)
        graph.withdraw(connection, memory.id)
    if layers is not None:
        _renew(connection, item, values, layers, stamp)
    hidden = goes_back or memory.archived_at is not None
    if values.keys() & {"deleted_at", "archived_at"} or hidden:
        atoms.follow_memory(connection, memory.id, stamp)


def _renew(
    connection: Connection,
    item: MemoryPlan,
    values: Mapping[str, FieldValue],
    layers: Layers,
    stamp: Stamp,
) -> None:
    memory = item.memory
    assert memory is not None
    shown = values.get("deleted_at", memory.deleted_at) is None
    returns = shown and memory.deleted_at is not None
    if shown and (returns or values.keys() & set(INDEXED_FIELDS)):
        fulltext.put(connection, memory.id, layers.tokens)
    if values.keys() & set(LABEL_FIELDS):
        memories.replace_labels(connection, memory.id, layers.labels)
    if values.keys() & writing.FACT_FIELDS:
        writing.renew_atoms(connection, memory.id, layers, stamp, item.stated_at)
    if shown and (returns or values.keys() & writing.GRAPH_FIELDS):
        writing.write_graph(connection, memory.id, layers, stamp)


def _settle_vectors(
    connection: Connection,
    memory: Memory,
    values: Mapping[str, FieldValue],
    layers: Layers | None,
    stamp: Stamp,
    identity: SpaceIdentity | None,
) -> None:
    """New ones for another text; what comes out of the trash may lack those of a newer model."""
    if layers is not None and values.keys() & set(EMBEDDED_FIELDS):
        embeddings.remove_pieces(connection, memory.id)
        writing.store_layers(connection, memory.id, layers, stamp.at)
    elif "deleted_at" in values and identity is not None:
        space_id = embeddings.find_space(connection, identity)
        embeddings.mark_pending_unless_embedded(connection, memory.id, space_id, stamp.at)
