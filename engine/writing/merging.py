"""What a file holds, merged into the store: each record meets what is there by its uid.

A merge reads and writes a batch at a time, each batch in one transaction; a dry run decides the
same things and writes nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from engine.context import EngineContext
from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.memory import GLOBAL_WORKSPACE, Memory
from engine.domain.text import content_hash
from engine.exchange.reading import derived_uid
from engine.exchange.records import (
    Placed,
    SavedAlias,
    SavedAtom,
    SavedEntry,
    SavedFact,
    SavedLink,
    SavedMemory,
    SavedWorkspace,
    Unreadable,
)
from engine.secrets.masking import masked
from engine.storage import journal, memories, memory_layers, transfer, workspaces
from engine.storage.database import Connection
from engine.storage.journal import Stamp, Subject
from engine.writing import imports
from engine.writing.embed import Embedded
from engine.writing.entrance import OFF, WARN
from engine.writing.imports import AtomMarks, Ends
from engine.writing.incoming import (
    Filling,
    Incoming,
    checked,
    checked_alias,
    checked_atom,
    checked_fact,
    checked_link,
    embedded,
)
from engine.writing.layers import Layers, derive, rules_version
from engine.writing.own_blocks import is_own_block
from engine.writing.workspace_names import domain_name, workspace_name

NEW, SAME, CHANGED, DELETED = "new", "same", "changed", "deleted"
"""What a memory of a file is to the store."""
_LISTED = 200
# Texts that are much alike cost time under the lock that others wait for.
_WRITTEN_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Policy:
    """How to merge: what becomes of a collision (``skip``, ``overwrite`` or ``rename``), whether
    what was deleted comes back, whether the file brings the atoms of its memories along, and the
    space whose vectors are taken over."""

    collision: str
    revive: bool
    dry_run: bool
    brings_atoms: bool
    space: Embedded | None


@dataclass(slots=True)
class Merge:
    """One merge and what it has done so far. ``known_memory`` is the highest id that was
    given before it."""

    context: EngineContext
    policy: Policy
    filling: Filling
    stamp: Stamp
    known_memory: int
    atoms: AtomMarks
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Unreadable] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    created: array[int] = field(default_factory=lambda: array("q"))
    successors: list[tuple[int, str]] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    atom_successors: list[tuple[int, int]] = field(default_factory=list)
    aliases: list[SavedAlias] = field(default_factory=list)
    secrets: dict[str, int] = field(default_factory=dict)

    def count(self, name: str, by: int = 1) -> None:
        """Count what happened."""
        self.counts[name] = self.counts.get(name, 0) + by

    def refuse(self, place: str, reason: JiyiError) -> None:
        """Note a place that could not be read."""
        self.count("bad")
        if len(self.problems) < _LISTED:
            self.problems.append(Unreadable(place, reason))


@dataclass(frozen=True, slots=True)
class _Judged:
    """A checked memory, what it is to the store, and the one that is there."""

    incoming: Incoming
    verdict: str
    existing: Memory | None = None


def begin(context: EngineContext, policy: Policy, filling: Filling, stamp: Stamp) -> Merge:
    """A merge that has not begun."""
    with context.database.read() as connection:
        marks = transfer.last_memory_id(connection), transfer.last_atom_id(connection)
    return Merge(context, policy, filling, stamp, marks[0], AtomMarks(marks[1]))


def take(merge: Merge, records: Sequence[Placed]) -> None:
    """Merge records of one kind, in their order."""
    kind = type(records[0].record)
    if kind is SavedMemory:
        _take_memories(merge, records)
    elif kind is SavedLink:
        _take_links(merge, records)
    elif kind is SavedFact:
        _take_facts(merge, records)
    elif kind is SavedEntry:
        merge.count("history", len(records))
    elif not merge.policy.dry_run:
        with merge.context.database.write() as connection:
            for placed in records:
                _take_other(merge, connection, placed)


def finish(merge: Merge, promised_atoms: int) -> None:
    """Set what refers to records that came later. Atoms that the file promised and does not hold
    are left to be derived."""
    if merge.policy.dry_run:
        return
    with merge.context.database.write() as connection:
        _set_successors(merge, connection)
        for atom_id, number in merge.atom_successors:
            if number in merge.numbers:
                imports.set_atom_successor(connection, atom_id, merge.numbers[number])
        for alias in merge.aliases:
            imports.name_node(connection, alias)
        if merge.policy.brings_atoms and merge.counts.get("atoms", 0) >= promised_atoms:
            # Until here a killed import would have left its memories to be derived again.
            version = rules_version(merge.context)
            for memory_id in transfer.present(connection, merge.created):
                memory_layers.put(connection, memory_id, version)
    if merge.counts.get("pending"):
        merge.context.background.wake()


def _take_memories(merge: Merge, records: Sequence[Placed]) -> None:
    ready: dict[str, Incoming] = {}
    for placed in records:
        assert isinstance(placed.record, SavedMemory)
        incoming = _checked(merge, placed.place, placed.record)
        if incoming is None:
            continue
        if incoming.uid in ready:
            # The same uid twice: the later one meets the earlier one as it would the store's.
            _store(merge, ready)
            ready = {}
        ready[incoming.uid] = incoming
    _store(merge, ready)


def _checked(merge: Merge, place: str, saved: SavedMemory) -> Incoming | None:
    text = saved.fields.get("text")
    if isinstance(text, str) and is_own_block(text):
        merge.count("own_blocks")
        return None
    try:
        return checked(merge.context, saved, merge.filling)
    except InvalidInput as error:
        merge.refuse(place, error)
        return None


def _store(merge: Merge, ready: Mapping[str, Incoming]) -> None:
    judged = _judged(merge, ready)
    for one in judged:
        merge.count(one.verdict)
    chosen = [_chosen(merge, one) for one in judged]
    wanted = _without_known_copies(merge, [one for one in chosen if one is not None])
    if not wanted:
        return
    merge.count("written", len(wanted))
    for notice in (notice for one in wanted for notice in one.incoming.notices):
        count = notice.params.get("count")
        seen = merge.secrets.get(notice.key, 0)
        merge.secrets[notice.key] = seen + (count if isinstance(count, int) else 1)
    vectors = [embedded(one.incoming, merge.policy.space) for one in wanted]
    merge.count("pending", _pending(merge, wanted, vectors))
    if merge.policy.dry_run:
        merge.seen.update((hash(one.incoming.uid), _digest(one.incoming)) for one in wanted)
        return
    pairs = list(zip(wanted, vectors, strict=True))
    for start in range(0, len(pairs), _WRITTEN_AT_ONCE):
        _write_run(merge, pairs[start : start + _WRITTEN_AT_ONCE])


def _write_run(merge: Merge, pairs: Sequence[tuple[_Judged, Embedded | None]]) -> None:
    layers = [
        derive(merge.context, one.incoming.fields, vector, one.incoming.created_at)
        for one, vector in pairs
    ]
    with merge.context.database.write() as connection:
        for (one, _), derived in zip(pairs, layers, strict=True):
            _write(merge, connection, one, derived)


def _judged(merge: Merge, ready: Mapping[str, Incoming]) -> list[_Judged]:
    with merge.context.database.read() as connection:
        ids = transfer.ids_by_uid(connection, ready)
        existing = memories.fetch(connection, ids.values())
        erased = transfer.erased(connection, ready)
    judged = []
    for uid, incoming in ready.items():
        memory = existing.get(ids.get(uid, 0))
        verdict = _verdict(merge, incoming, memory, erased=uid in erased)
        judged.append(_Judged(incoming, verdict, memory))
    return judged


def _verdict(merge: Merge, incoming: Incoming, memory: Memory | None, *, erased: bool) -> str:
    seen = merge.seen.get(hash(incoming.uid))
    if seen is not None:
        return SAME if seen == _digest(incoming) else CHANGED
    if memory is None:
        return DELETED if erased else NEW
    if memory.deleted_at is not None and "deleted_at" not in incoming.states:
        return DELETED
    return CHANGED if imports.differs(memory, incoming) else SAME


def _chosen(merge: Merge, one: _Judged) -> _Judged | None:
    """What is to be written of a memory of the file; ``None`` for nothing."""
    if one.verdict == NEW or (one.verdict == DELETED and merge.policy.revive):
        return one
    if one.verdict != CHANGED or merge.policy.collision == "skip":
        return None
    if merge.policy.collision == "overwrite":
        return one
    name = content_hash(repr(sorted(one.incoming.fields.items())))
    uid = derived_uid("copy", f"{one.incoming.uid}\n{name}")
    merge.renamed[one.incoming.uid] = uid
    return _Judged(replace(one.incoming, uid=uid), CHANGED)


def _without_known_copies(merge: Merge, wanted: Sequence[_Judged]) -> list[_Judged]:
    """Copies under another uid that an earlier import has made are not made again."""
    copies = [one.incoming.uid for one in wanted if one.verdict == CHANGED and not one.existing]
    if not copies or merge.policy.collision != "rename":
        return list(wanted)
    with merge.context.database.read() as connection:
        known = transfer.ids_by_uid(connection, copies)
    return [
        one
        for one in wanted
        if one.incoming.uid not in known and hash(one.incoming.uid) not in merge.seen
    ]


def _pending(merge: Merge, wanted: Sequence[_Judged], vectors: Sequence[Embedded | None]) -> int:
    if not merge.context.settings.vectors.enabled:
        return 0
    pairs = zip(wanted, vectors, strict=True)
    return sum(1 for one, vector in pairs if one.existing is None and vector is None)


def _digest(incoming: Incoming) -> int:
    return hash((tuple(sorted(incoming.fields.items())), tuple(sorted(incoming.states.items()))))


def _write(merge: Merge, connection: Connection, one: _Judged, layers: Layers) -> None:
    incoming = one.incoming
    if one.existing is not None:
        memory = memories.fetch(connection, [one.existing.id]).get(one.existing.id)
        if memory is not None:
            imports.overwrite(connection, memory, incoming, layers, merge.stamp)
            if incoming.superseded_by is not None:
                merge.successors.append((memory.id, incoming.superseded_by))
        return
    if transfer.ids_by_uid(connection, [incoming.uid]):
        # Somebody else has brought it in since it was judged.
        return
    with_atoms = not merge.policy.brings_atoms
    memory_id = imports.create(connection, incoming, layers, merge.stamp, with_atoms=with_atoms)
    merge.created.append(memory_id)
    if incoming.superseded_by is not None:
        merge.successors.append((memory_id, incoming.superseded_by))


def _take_links(merge: Merge, records: Sequence[Placed]) -> None:
    ready = []
    for placed in records:
        assert isinstance(placed.record, SavedLink)
        link = placed.record
        try:
            source, target = (merge.renamed.get(uid, uid) for uid in (link.source, link.target))
            ready.append(checked_link(replace(link, source=source, target=target)))
        except InvalidInput as error:
            merge.refuse(placed.place, error)
    if merge.policy.dry_run:
        with merge.context.database.read() as connection:
            _preview_links(merge, connection, ready)
        return
    with merge.context.database.write() as connection:
        ids = _ids_of(connection, ready)
        for link in ready:
            if link.source not in ids or link.target not in ids:
                merge.count("loose")
            elif imports.put_link(
                connection, Ends(ids[link.source], ids[link.target]), link, merge.stamp
            ):
                merge.count("links")


def _preview_links(merge: Merge, connection: Connection, ready: Sequence[SavedLink]) -> None:
    ids = _ids_of(connection, ready)
    for link in ready:
        ends = [uid in ids or hash(uid) in merge.seen for uid in (link.source, link.target)]
        key = hash((link.source, link.target, link.relation))
        if not all(ends):
            merge.count("loose")
        elif key not in merge.seen and not _is_there(connection, ids, link):
            merge.seen[key] = 0
            merge.count("links")


def _is_there(connection: Connection, ids: Mapping[str, int], link: SavedLink) -> bool:
    source, target = ids.get(link.source), ids.get(link.target)
    if source is None or target is None:
        return False
    return transfer.has_link(connection, source, target, link.relation)


def _ids_of(connection: Connection, links: Sequence[SavedLink]) -> dict[str, int]:
    return transfer.ids_by_uid(
        connection, {uid for one in links for uid in (one.source, one.target)}
    )


def _take_facts(merge: Merge, records: Sequence[Placed]) -> None:
    ready: dict[str, SavedFact] = {}
    for placed in records:
        assert isinstance(placed.record, SavedFact)
        try:
            ready.setdefault(placed.record.uid, checked_fact(_plain_fact(merge, placed.record)))
        except InvalidInput as error:
            merge.refuse(placed.place, error)
    with merge.context.database.read() as connection:
        known = transfer.fact_ids(connection, ready)
    new = [fact for uid, fact in ready.items() if uid not in known and hash(uid) not in merge.seen]
    merge.count("facts", len(new))
    if merge.policy.dry_run:
        merge.seen.update((hash(fact.uid), 0) for fact in new)
    elif new:
        with merge.context.database.write() as connection:
            for fact in new:
                _put_fact(merge, connection, fact)


def _plain_fact(merge: Merge, fact: SavedFact) -> SavedFact:
    # The predicate may name the secret that the object is.
    lead = f"{fact.predicate}: "
    return replace(fact, object=_plain(merge, lead + fact.object).removeprefix(lead))


def _plain(merge: Merge, text: str) -> str:
    """A text beside the memories, without the secrets that these must not hold either."""
    if merge.context.settings.secrets.policy in (OFF, WARN):
        return text
    return masked(text).text


def _put_fact(merge: Merge, connection: Connection, fact: SavedFact) -> None:
    filling, uid = merge.filling, fact.memory
    home = filling.into or fact.workspace or filling.workspace or GLOBAL_WORKSPACE
    uid = None if uid is None else merge.renamed.get(uid, uid)
    memory_id = None if uid is None else transfer.ids_by_uid(connection, [uid]).get(uid)
    if not transfer.fact_ids(connection, [fact.uid]):
        imports.put_fact(connection, fact, workspace_name(home), memory_id, merge.stamp)


def _take_other(merge: Merge, connection: Connection, placed: Placed) -> None:
    try:
        if isinstance(placed.record, SavedAtom):
            merge.count("atoms")
            values = dict(placed.record.values)
            values["text"] = _plain(merge, str(values.get("text", "")))
            _put_atom(merge, connection, checked_atom(replace(placed.record, values=values)))
        elif isinstance(placed.record, SavedAlias):
            alias = checked_alias(placed.record)
            imports.put_alias(connection, alias)
            merge.aliases.append(alias)
        elif isinstance(placed.record, SavedWorkspace):
            _put_workspace(merge, connection, placed.record)
    except InvalidInput as error:
        merge.refuse(placed.place, error)


def _put_atom(merge: Merge, connection: Connection, atom: SavedAtom) -> None:
    """Write an atom that a memory of this merge states."""
    if not merge.context.settings.atoms.enabled:
        return
    stated = {merge.renamed.get(uid, uid): at for uid, at in atom.mentions}
    ids = transfer.ids_by_uid(connection, stated)
    mentions = {ids[uid]: at for uid, at in stated.items() if ids.get(uid, 0) > merge.known_memory}
    if not mentions:
        return
    placed = replace(atom, workspace=merge.filling.into or atom.workspace)
    analyser = merge.context.analyser
    atom_id = imports.put_atom(connection, analyser, placed, mentions, merge.atoms)
    merge.numbers[atom.number] = atom_id
    if atom.superseded_by is not None and atom_id in merge.atoms.own:
        merge.atom_successors.append((atom_id, atom.superseded_by))


def _put_workspace(merge: Merge, connection: Connection, saved: SavedWorkspace) -> None:
    name, domain = workspace_name(saved.name), domain_name(saved.domain)
    if merge.filling.into is not None or workspaces.exists(connection, name):
        return
    made_at = saved.created_at or merge.stamp.at
    workspace_id = workspaces.ensure(connection, name, made_at, domain)
    made = workspaces.named(connection, name)
    subject = Subject(workspace_id, made.uid, journal.WORKSPACE)
    journal.append(connection, merge.stamp, "edit", subject, {"name": (None, name)})


def _set_successors(merge: Merge, connection: Connection) -> None:
    uids = [merge.renamed.get(uid, uid) for _, uid in merge.successors]
    ids = transfer.ids_by_uid(connection, uids)
    for (memory_id, _), uid in zip(merge.successors, uids, strict=True):
        successor_id = ids.get(uid, memory_id)
        if successor_id == memory_id:
            continue
        if memory_id > merge.known_memory:
            imports.set_successor(connection, memory_id, successor_id)
        else:
            memory = memories.fetch(connection, [memory_id])[memory_id]
            imports.change_successor(connection, memory, successor_id, merge.stamp)
