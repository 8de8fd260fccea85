"""Entries of the journal taken back: planned, prepared before the lock, applied as one change.

An undo writes one entry for each that it takes back, with the opposite changes; taking those
back in turn is a redo. What is derived is derived again. If anything is no longer as an entry
left it, :class:`Conflict` is raised and nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.context import EngineContext
from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import Conflict
from engine.domain.memory import FieldValue, JournalEntry
from engine.storage import journal, memories, snapshots
from engine.storage import journal_search as search
from engine.storage.database import Connection
from engine.storage.journal import Stamp, Subject
from engine.writing import graph, undo_memories, undo_nodes
from engine.writing import memories as writing
from engine.writing.embed import Embedded, embed_now, text_of
from engine.writing.layers import Layers, derive
from engine.writing.undo_memories import MemoryPlan
from engine.writing.undo_others import undo_atom, undo_fact, undo_link, undo_workspace

# More texts are left to the background: whoever undoes a large change should not wait for it.
_EMBEDDED_AT_ONCE = 64
_NAMED_CLASHES = 5

Derived = Callable[[int, dict[str, FieldValue], float], Layers]
"""The layers of a memory (its id) from its authored fields, stated at a moment."""


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What is taken back, newest entry first: what memories come to, and which memories name
    people or topics whose names are set back."""

    entries: tuple[JournalEntry, ...]
    memories: tuple[MemoryPlan, ...]
    naming: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Applying:
    """How a plan is carried out: layers, the stamp of the change, and the space that memories
    are to have vectors of."""

    derived: Derived
    stamp: Stamp
    identity: SpaceIdentity | None


def choose(connection: Connection, entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """Those entries of one group that can be taken back and are not yet, newest first."""
    about_memories = any(entry.subject_kind == journal.MEMORY for entry in entries)
    able = [entry for entry in entries if can_be_undone(entry, about_memories=about_memories)]
    void = search.undone(connection, [entry.id for entry in able])
    return sorted((entry for entry in able if entry.id not in void), key=lambda entry: -entry.id)


def can_be_undone(entry: JournalEntry, *, about_memories: bool) -> bool:
    """Whether an entry holds a change that somebody made. What atoms did in a group
    ``about_memories`` follows from those, and what age does to them is nobody's."""
    if entry.subject_kind == journal.MEMORY:
        return undo_memories.is_undoable(entry)
    if entry.subject_kind == journal.ATOM:
        explicit = entry.undoes is not None or not about_memories
        return explicit and entry.operation in ("reinforce", journal.UNDO, journal.REDO)
    return entry.subject_kind != journal.STORE and bool(entry.changes)


def plan(connection: Connection, entries: Sequence[JournalEntry], at: float) -> UndoPlan:
    """What taking back entries (newest first) comes to at a moment (epoch seconds)."""
    about = [entry for entry in entries if entry.subject_kind == journal.MEMORY]
    nodes = [entry for entry in entries if entry.subject_kind == journal.NODE]
    naming = {key for entry in nodes for key in undo_nodes.affected(connection, entry)}
    items = undo_memories.plan(connection, about, at)
    return UndoPlan(tuple(entries), tuple(items), tuple(sorted(naming)))


def require_unchanged(made: UndoPlan) -> None:
    """Raise :class:`Conflict` naming the memories and fields that were changed since."""
    clashing = [item for item in made.memories if item.clashes]
    if not clashing:
        return
    named = "; ".join(
        f"#{item.memory_id} ({', '.join(sorted(item.clashes))})"
        for item in clashing[:_NAMED_CLASHES]
    )
    more = "" if len(clashing) <= _NAMED_CLASHES else f"; … (+{len(clashing) - _NAMED_CLASHES})"
    raise Conflict("error.undo_changed", what=named + more)


def prepare(context: EngineContext, connection: Connection, made: UndoPlan) -> Derived:
    """Derive all layers that a plan needs, so that little is left to do under the lock; what
    turns out different there is derived then."""
    vectors = _vectors(context, made)
    known: dict[int, tuple[dict[str, FieldValue], Layers]] = {}

    def derived(memory_id: int, fields: dict[str, FieldValue], stated_at: float) -> Layers:
        found = known.get(memory_id)
        if found is not None and found[0] == fields:
            return found[1]
        return derive(context, fields, None, stated_at)

    for item in made.memories:
        if item.fields is not None and not item.clashes:
            layers = derive(context, item.fields, vectors.get(item.memory_id), item.stated_at)
            known[item.memory_id] = item.fields, layers
    for memory in memories.fetch(connection, set(made.naming) - known.keys()).values():
        fields = writing.authored(memory)
        known[memory.id] = fields, derive(context, fields, None, memory.created_at)
    return derived


def apply(connection: Connection, made: UndoPlan, how: Applying) -> None:
    """Carry a plan out inside the caller's write transaction."""
    opposites = {entry.id: back for item in made.memories for entry, back in item.steps}
    _bring_back(connection, made, how)
    for item in made.memories:
        layers = None if item.fields is None else _layers(item, how)
        undo_memories.set_back(connection, item, layers, how.stamp, how.identity)
    for entry in made.entries:
        if entry.subject_kind != journal.MEMORY:
            opposites[entry.id] = _undo_other(connection, entry, how.stamp)
    for item in made.memories:
        if item.memory is not None and item.then is None:
            undo_memories.take_out(connection, item.memory, how.stamp)
    _rewrite_names(connection, made.naming, how)
    for entry in made.entries:
        _note(connection, entry, opposites.get(entry.id, {}), how.stamp)


def _bring_back(connection: Connection, made: UndoPlan, how: Applying) -> None:
    missing = [item for item in made.memories if item.now is None and item.then is not None]
    for item in missing:
        undo_memories.bring_back(connection, item, _layers(item, how), how.stamp)
    snapshots.drop_dangling(connection, [item.memory_id for item in missing])


def _undo_other(
    connection: Connection, entry: JournalEntry, stamp: Stamp
) -> dict[str, tuple[FieldValue, FieldValue]]:
    if entry.subject_kind == journal.LINK:
        return undo_link(connection, entry)
    if entry.subject_kind == journal.FACT:
        return undo_fact(connection, entry, stamp)
    if entry.subject_kind == journal.ATOM:
        return undo_atom(connection, entry)
    if entry.subject_kind == journal.NODE:
        return undo_nodes.undo_node(connection, entry)
    return undo_workspace(connection, entry, stamp)


def _rewrite_names(connection: Connection, memory_ids: Sequence[int], how: Applying) -> None:
    for memory in memories.fetch(connection, memory_ids).values():
        if memory.deleted_at is None:
            layers = how.derived(memory.id, writing.authored(memory), memory.created_at)
            if layers.graph is not None:
                graph.write(connection, memory.id, layers.graph, memory.created_at)


def _note(
    connection: Connection,
    entry: JournalEntry,
    changed: dict[str, tuple[FieldValue, FieldValue]],
    stamp: Stamp,
) -> None:
    operation = journal.REDO if entry.operation == journal.UNDO else journal.UNDO
    subject = Subject(
        entry.subject_id, entry.subject_uid, entry.subject_kind, other_id=entry.other_id
    )
    journal.append(connection, replace(stamp, undoes=entry.id), operation, subject, changed)


def _layers(item: MemoryPlan, how: Applying) -> Layers:
    return how.derived(item.memory_id, item.fields or {}, item.stated_at)


def _vectors(context: EngineContext, made: UndoPlan) -> dict[int, Embedded | None]:
    wanted = {
        item.memory_id: item.fields
        for item in made.memories
        if item.needs_vectors and item.fields is not None and not item.clashes
    }
    if not wanted or len(wanted) > _EMBEDDED_AT_ONCE:
        return {}
    texts = [text_of(fields) for fields in wanted.values()]
    done, _ = embed_now(context, texts, context.settings.embedding.wait_s)
    return dict(zip(wanted, done, strict=True))
