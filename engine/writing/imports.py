"""Memories and what belongs to them as they come in from a file, with the journal's entries.

Every function runs inside the caller's write transaction. Unlike a memory that somebody writes, one
that comes in keeps its uid, its dates, its states and its strength.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from engine.domain.graph import NodeKey
from engine.domain.memory import FieldValue, Memory
from engine.domain.text import content_hash
from engine.exchange.records import SavedAlias, SavedAtom, SavedFact, SavedLink
from engine.extraction.graph import canonical
from engine.extraction.predicates import predicate_key
from engine.language.terms import Analyser
from engine.storage import (
    aliases,
    changes,
    embeddings,
    facts,
    fulltext,
    graph,
    journal,
    memories,
    transfer,
    workspaces,
)
from engine.storage import atoms as atom_rows
from engine.storage.atoms import NewAtom, Value
from engine.storage.database import Connection
from engine.storage.fulltext import Tokens
from engine.storage.journal import Stamp, Subject
from engine.writing import atoms
from engine.writing import graph as graph_writing
from engine.writing import memories as writing
from engine.writing.atoms import Place
from engine.writing.incoming import Incoming
from engine.writing.layers import Layers

OPERATION = "import"


@dataclass(slots=True)
class AtomMarks:
    """The highest id of an atom before an import, and the atoms that came in with it."""

    known: int
    own: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Ends:
    """The ids of the two memories that a link joins."""

    source_id: int
    target_id: int


def create(
    connection: Connection, incoming: Incoming, layers: Layers, stamp: Stamp, *, with_atoms: bool
) -> int:
    """Write a memory that is not there and return its id. Its atoms are derived ``with_atoms``,
    else they are to follow from the file; who supersedes it is for the caller to set."""
    workspace_id = workspaces.ensure(connection, incoming.workspace, stamp.at)
    memory_id = memories.insert(connection, _row(connection, incoming, workspace_id))
    moved = {"updated_at": incoming.updated_at, "revision": incoming.revision}
    memories.update(connection, memory_id, moved | dict(incoming.states))
    if incoming.strength is not None:
        transfer.set_strength(connection, memory_id, asdict(incoming.strength))
    memories.replace_labels(connection, memory_id, layers.labels)
    _write_layers(connection, memory_id, layers, stamp)
    journal.append(connection, stamp, OPERATION, Subject(memory_id, incoming.uid), {})
    if with_atoms:
        place = Place(workspace_id, memory_id, incoming.created_at)
        writing.write_atoms(connection, layers, place, stamp)
    if "deleted_at" in incoming.states:
        fulltext.remove(connection, memory_id)
    else:
        writing.write_graph(connection, memory_id, layers, stamp)
    if "deleted_at" in incoming.states or "archived_at" in incoming.states:
        atoms.follow_memory(connection, memory_id, stamp)
    transfer.forget_tombstone(connection, incoming.uid)
    return memory_id


def overwrite(
    connection: Connection, memory: Memory, incoming: Incoming, layers: Layers, stamp: Stamp
) -> None:
    """Give a memory that is there the fields and states of the file; its id, workspace, dates and
    use stay."""
    if memory.deleted_at is not None and "deleted_at" not in incoming.states:
        memory = writing.restore(connection, memory, layers, stamp)
    changed = _changed_fields(memory, incoming)
    if changed:
        memory = writing.edit(connection, memory, changed, layers, stamp)
    states = _changed_states(memory, incoming.states)
    if states.get("superseded_at", 0.0) is None:
        states["superseded_by"] = None
    if states:
        writing.set_state(connection, memory, states, OPERATION, stamp)
        _follow(connection, memory.id, states, layers, stamp)


def differs(memory: Memory, incoming: Incoming) -> bool:
    """Whether a memory of the file says something else than the one that is there."""
    return bool(_changed_fields(memory, incoming) or _changed_states(memory, incoming.states))


def set_successor(connection: Connection, memory_id: int, successor_id: int) -> None:
    """Say who supersedes a memory that is new with this import."""
    memories.update(connection, memory_id, {"superseded_by": successor_id})


def change_successor(
    connection: Connection, memory: Memory, successor_id: int, stamp: Stamp
) -> None:
    """Say who supersedes a memory that was there before."""
    if memory.superseded_by != successor_id:
        values: dict[str, FieldValue] = {"superseded_by": successor_id}
        writing.set_state(connection, memory, values, OPERATION, stamp, other_id=successor_id)


def put_link(connection: Connection, ends: Ends, link: SavedLink, stamp: Stamp) -> bool:
    """Write a link unless it is there; tell whether it is new."""
    at = stamp.at if link.created_at is None else link.created_at
    if not transfer.put_link(connection, ends.source_id, ends.target_id, link.relation, at):
        return False
    subject = Subject(ends.source_id, link.source, journal.LINK, other_id=ends.target_id)
    noted: journal.Changes = {"relation": (None, link.relation), "created_at": (None, at)}
    journal.append(connection, stamp, "link", subject, noted)
    changes.mark(connection, changes.MEMORY, [ends.source_id, ends.target_id])
    return True


def put_fact(
    connection: Connection, fact: SavedFact, workspace: str, memory_id: int | None, stamp: Stamp
) -> None:
    """Write a fact that is not there."""
    made = stamp.at if fact.created_at is None else fact.created_at
    values: dict[str, FieldValue] = {
        "workspace_id": workspaces.ensure(connection, workspace, stamp.at),
        "subject": fact.subject,
        "subject_key": canonical(fact.subject),
        "predicate": fact.predicate,
        "predicate_key": predicate_key(fact.predicate),
        "object": fact.object,
        "object_key": canonical(fact.object),
        "valid_from": fact.valid_from,
        "valid_to": fact.valid_to,
        "confidence": fact.confidence,
        "memory_id": memory_id,
        "created_at": made,
        "updated_at": made if fact.updated_at is None else fact.updated_at,
    }
    fact_id = facts.insert(connection, fact.uid, values)
    subject = Subject(fact_id, fact.uid, journal.FACT, other_id=memory_id)
    noted = {name: (None, value) for name, value in values.items()}
    journal.append(connection, stamp, "fact", subject, noted)
    changes.mark(connection, facts.CHANGED, [fact_id])


def put_alias(connection: Connection, alias: SavedAlias) -> None:
    """Let a name mean another node, unless the store has a node or a meaning for it already."""
    old = NodeKey(alias.node_type, alias.alias)
    known = graph.resolved(connection, old) != old or graph.node_id(connection, old) is not None
    if not known and alias.alias != alias.canonical:
        aliases.put(connection, old, alias.canonical, alias.origin)


def name_node(connection: Connection, alias: SavedAlias) -> None:
    """Show a node under the name that a rename gave it."""
    found = graph.node_id(connection, NodeKey(alias.node_type, alias.canonical))
    if found is not None:
        aliases.set_name(connection, found, alias.canonical, alias.name)


def put_atom(
    connection: Connection,
    analyser: Analyser,
    atom: SavedAtom,
    mentions: Mapping[int, float],
    marks: AtomMarks,
) -> int:
    """Write an atom that memories which came in state, and return its id. One that the store knew
    before is stated once more instead; one derived meanwhile gets the life that the file gives."""
    workspace = workspaces.named(connection, atom.workspace)
    known = atom_rows.by_hash(connection, workspace.id, str(atom.values["content_hash"]))
    if known is None or known.id in marks.own:
        atom_id = _new_atom(connection, analyser, atom, workspace.id)
        marks.own.add(atom_id)
    else:
        atom_id = known.id
        if atom_id > marks.known:
            atom_rows.update(connection, atom_id, _columns(atom))
            marks.own.add(atom_id)
    for memory_id, at in mentions.items():
        atom_rows.mention(connection, atom_id, memory_id, at)
    return atom_id


def set_atom_successor(connection: Connection, atom_id: int, successor_id: int) -> None:
    """Say which atom took the place of one that came in."""
    atom_rows.update(connection, atom_id, {"superseded_by": successor_id})


def _row(connection: Connection, incoming: Incoming, workspace_id: int) -> memories.NewRow:
    session = incoming.scope.get("session_id")
    position = incoming.position
    if session is not None and position is None:
        position = memories.next_position(connection, session)
    return memories.NewRow(
        uid=incoming.uid,
        workspace_id=workspace_id,
        content_hash=content_hash(str(incoming.fields["text"])),
        created_at=incoming.created_at,
        authored=incoming.fields,
        session_id=session,
        position=position,
        persona_id=incoming.scope.get("persona_id"),
        user_id=incoming.scope.get("user_id"),
        agent=incoming.scope.get("agent"),
        origin=incoming.scope.get("origin"),
    )


def _write_layers(connection: Connection, memory_id: int, layers: Layers, stamp: Stamp) -> None:
    fulltext.put(connection, memory_id, layers.tokens)
    if layers.embedded is not None:
        writing.store_vectors(connection, memory_id, layers.embedded, stamp.at)
    if not layers.settled:
        embeddings.mark_pending(connection, memory_id, stamp.at)
    changes.mark(connection, changes.MEMORY, [memory_id])


def _changed_fields(memory: Memory, incoming: Incoming) -> dict[str, FieldValue]:
    before = writing.authored(memory)
    return {
        name: value
        for name, value in incoming.fields.items()
        if before[name] != value and name not in incoming.imposed
    }


def _changed_states(memory: Memory, wanted: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    names = ("archived_at", "superseded_at", "deleted_at", "review_state")
    return {name: wanted.get(name) for name in names if getattr(memory, name) != wanted.get(name)}


def _follow(
    connection: Connection,
    memory_id: int,
    states: Mapping[str, FieldValue],
    layers: Layers,
    stamp: Stamp,
) -> None:
    if states.get("deleted_at") is not None:
        fulltext.remove(connection, memory_id)
        graph_writing.withdraw(connection, memory_id)
    if "deleted_at" in states or "archived_at" in states:
        atoms.follow_memory(connection, memory_id, stamp)


def _columns(atom: SavedAtom) -> dict[str, Value]:
    values = dict(atom.values)
    values["reinforced"] = values.get("reinforced") or 0
    values["needs_repair"] = int(bool(values.get("needs_repair")))
    return values


def _new_atom(
    connection: Connection, analyser: Analyser, atom: SavedAtom, workspace_id: int
) -> int:
    values = _columns(atom)
    reinforced = values.pop("reinforced")
    terms = analyser.index_terms(str(values["text"]))
    tokens = Tokens(analyser.segmenter_id, terms.words, terms.chars)
    new = NewAtom(workspace_id=workspace_id, **values)  # type: ignore[arg-type]
    atom_id = atom_rows.insert(connection, new, tokens)
    atom_rows.update(connection, atom_id, {"reinforced": reinforced})
    if new.state == "forgotten":
        atom_rows.unindex(connection, atom_id)
    return atom_id
