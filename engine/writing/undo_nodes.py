"""Names of people and topics set back: merges, renames and separations."""

from __future__ import annotations

from collections.abc import Iterable

from engine.domain.errors import Conflict, NotFound
from engine.domain.graph import NodeKey
from engine.domain.memory import FieldValue, JournalEntry
from engine.extraction.graph import canonical
from engine.storage import aliases, graph
from engine.storage.aliases import MERGE, RENAME, Alias
from engine.storage.database import Connection
from engine.storage.journal import UNDO

Opposite = dict[str, tuple[FieldValue, FieldValue]]


def affected(connection: Connection, entry: JournalEntry) -> list[int]:
    """Memories whose part of the graph is derived again when the entry is taken back. A rename
    renames the node itself."""
    found: set[int] = set()
    if not entry.changes.keys() & {"merged_into", "alias"}:
        return []
    for key in _keys(entry):
        node_id = graph.node_id(connection, graph.resolved(connection, key))
        if node_id is not None:
            found |= set(graph.memories_naming(connection, node_id, -1))
    return sorted(found)


def undo_node(connection: Connection, entry: JournalEntry) -> Opposite:
    """Take back a merge, a rename or a separation; raises :class:`Conflict` when the names are
    no longer what the entry left."""
    if "merged_into" in entry.changes:
        _merge(connection, entry)
    elif "alias" in entry.changes:
        _alias(connection, entry)
    else:
        _rename(connection, entry)
    return {name: (after, before) for name, (before, after) in entry.changes.items()}


def _merge(connection: Connection, entry: JournalEntry) -> None:
    key = _key(entry)
    before, after = (value and str(value) for value in entry.changes["merged_into"])
    means = graph.resolved(connection, key).canonical
    if means != (after or key.canonical):
        raise _changed(key.canonical)
    if before is not None:
        aliases.put(connection, key, str(before), MERGE)
        return
    aliases.remove(connection, Alias(key.canonical, NodeKey(key.type, str(after)), MERGE))
    former = entry.changes.get("names", ((), None))[0]
    for name in former if isinstance(former, tuple) else ():
        aliases.put(connection, NodeKey(key.type, name), key.canonical, MERGE)


def _alias(connection: Connection, entry: JournalEntry) -> None:
    key = _key(entry)
    before, after = entry.changes["alias"]
    name = canonical(str(before if after is None else after))
    if after is not None:
        # The opposite of an undone separation: the name is separated once more.
        aliases.remove(connection, Alias(name, key, MERGE))
        node_id = graph.node_id(connection, key)
        if "name" in entry.changes and node_id is not None:
            aliases.set_name(connection, node_id, name, str(after))
        return
    own = NodeKey(key.type, name)
    if graph.resolved(connection, own) != own:
        raise _changed(name)
    former, node_id = entry.changes.get("name", (None, None))[0], graph.node_id(connection, own)
    if former is not None and node_id is not None and graph.node_id(connection, key) is None:
        aliases.set_name(connection, node_id, key.canonical, str(former))
    origin = MERGE if former is None else RENAME
    aliases.put(connection, own, key.canonical, origin)


def _rename(connection: Connection, entry: JournalEntry) -> None:
    node_type = _key(entry).type
    before, after = (str(value) for value in entry.changes["name"])
    try:
        node = graph.find_node(connection, NodeKey(node_type, canonical(after)))
    except NotFound:
        raise _changed(after) from None
    key = NodeKey(node_type, canonical(before))
    taken = graph.node_id(connection, key)
    if node.name != after or taken not in (None, node.id):
        raise _changed(after)
    aliases.rename(connection, node, key, before)
    if key.canonical != node.canonical and entry.operation != UNDO:
        # An undone rename leaves no alias behind for the name that it takes back.
        aliases.remove(connection, Alias(node.canonical, key, RENAME))


def _key(entry: JournalEntry) -> NodeKey:
    node_type, _, name = entry.subject_uid.partition(":")
    return NodeKey(node_type, name)


def _keys(entry: JournalEntry) -> Iterable[NodeKey]:
    key = _key(entry)
    yield key
    for name in ("merged_into", "alias"):
        for value in entry.changes.get(name, ()):
            if value is not None:
                yield NodeKey(key.type, canonical(str(value)))


def _changed(name: str) -> Conflict:
    return Conflict("error.undo_changed", what=name)
