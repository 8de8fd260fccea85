"""The graph for people and assistants: look around, find a way, merge, rename, separate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.domain.graph import NODE_TYPES, Edge, Node, NodeKey, Step
from engine.domain.memory import FieldValue
from engine.domain.vocabulary import check
from engine.extraction.graph import canonical
from engine.storage import aliases, graph, graph_search, journal, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject
from engine.writing import graph as graph_writing
from engine.writing import memories as writing
from engine.writing.layers import Layers, derive

MAX_LIMIT = 200
_MEMORIES_SHOWN = 20
_LONGEST_WAY = 4
_NEIGHBOURS_LOOKED_AT = 60


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A node, its heaviest edges, other names it goes by, and the newest memories naming it."""

    node: Node
    edges: tuple[Edge, ...]
    aliases: tuple[str, ...]
    memory_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GraphSize:
    """Number of nodes, edges and searchable entries."""

    nodes: int
    edges: int
    entries: int


def list_nodes(context: EngineContext, node_type: str | None = None, limit: int = 20) -> list[Node]:
    """People and topics, or the nodes of one type, those that most memories name first."""
    _check_limit(limit)
    wanted = None if node_type is None else check("type", node_type, NODE_TYPES)
    with context.database.read() as connection:
        return graph.list_nodes(connection, wanted, limit, context.clock.now())


def neighbourhood(
    context: EngineContext, name: str, node_type: str | None = None, limit: int = 24
) -> Neighbourhood:
    """What surrounds a person, topic or fact. Raises NotFound for a name nobody has."""
    _check_limit(limit)
    with context.database.read() as connection:
        node = _find(connection, name, node_type)
        return Neighbourhood(
            node=node,
            edges=tuple(graph.edges_of(connection, node.id, limit)),
            aliases=tuple(aliases.of(connection, NodeKey(node.type, node.canonical))),
            memory_ids=tuple(graph.memories_naming(connection, node.id, _MEMORIES_SHOWN)),
        )


def find_way(context: EngineContext, first: str, second: str) -> tuple[Step, ...]:
    """The shortest way between two people or topics, over at most four edges; empty when there
    is none. Of popular nodes only the heaviest edges are walked."""
    with context.database.read() as connection:
        start, goal = _find(connection, first, None), _find(connection, second, None)
        ways: dict[int, tuple[Step, ...]] = {start.id: (Step(start.name),)}
        border = [start.id]
        for _ in range(_LONGEST_WAY):
            if goal.id in ways or not border:
                break
            near = graph_search.neighbours(connection, border, _NEIGHBOURS_LOOKED_AT)
            border = []
            for item in near:
                if item.node_id not in ways:
                    step = Step(item.name, item.relation, item.forward)
                    ways[item.node_id] = (*ways[item.origin], step)
                    border.append(item.node_id)
        return ways.get(goal.id, ())


def size(context: EngineContext) -> GraphSize:
    """How large the graph is."""
    with context.database.read() as connection:
        return GraphSize(*graph.count(connection))


def merge_nodes(context: EngineContext, name: str, into: str, caller: Caller) -> Node:
    """Let one name mean another node from now on, and move what the graph knows of it there.

    Raises InvalidInput for a node with itself and for nodes of two types, NotFound for a name
    nobody has. :func:`separate_name` takes it back.
    """
    with context.database.write() as connection:
        old, new = _find(connection, name, None), _find(connection, into, None)
        if old.id == new.id:
            raise InvalidInput("error.merge_with_itself", name=name[:60])
        if old.type != new.type:
            raise InvalidInput("error.merge_types", name=name[:60], into=into[:60])
        affected = _naming(connection, old.id)
        key = NodeKey(old.type, old.canonical)
        followers = tuple(aliases.of(connection, key))
        aliases.put(connection, key, new.canonical, aliases.MERGE)
        merged: journal.Changes = {
            "merged_into": (None, new.canonical),
            "names": (followers, None),
        }
        _note(connection, context, caller, old, merged)
        _rewrite(context, connection, affected)
        return graph.fetch_nodes(connection, [new.id])[new.id]


def rename_node(context: EngineContext, name: str, new_name: str, caller: Caller) -> Node:
    """Give a node another name; texts that use the old one go on meaning it.

    Raises Conflict when another node has the new name: then merging is meant.
    """
    shown = " ".join(new_name.split())
    if not canonical(shown):
        raise InvalidInput("error.empty_name")
    with context.database.write() as connection:
        node = _find(connection, name, None)
        key = NodeKey(node.type, canonical(shown))
        taken = graph.node_id(connection, key)
        if taken not in (None, node.id):
            raise Conflict("error.name_taken", name=shown[:60])
        aliases.rename(connection, node, key, shown)
        _note(connection, context, caller, node, {"name": (node.name, shown)})
        return graph.fetch_nodes(connection, [node.id])[node.id]


def separate_name(context: EngineContext, name: str, caller: Caller) -> Node:
    """Take back a merge or a rename: the name is a node of its own again.

    Raises NotFound when the name is no alias.
    """
    with context.database.write() as connection:
        alias = aliases.find(connection, canonical(name))
        if alias is None:
            raise NotFound("error.no_alias", name=name[:60])
        target = graph.find_node(connection, alias.key)
        affected = _naming(connection, target.id)
        aliases.remove(connection, alias)
        separated: dict[str, tuple[FieldValue, FieldValue]] = {"alias": (name, None)}
        if alias.origin == aliases.RENAME:
            aliases.set_name(connection, target.id, alias.name, name)
            separated["name"] = (target.name, None)
        _note(connection, context, caller, target, separated)
        _rewrite(context, connection, affected)
        return graph.find_node(connection, NodeKey(alias.key.type, alias.name))


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput("error.out_of_range", name="limit", value=limit, low=1, high=MAX_LIMIT)


def _find(connection: Connection, name: str, node_type: str | None) -> Node:
    types: Iterable[str] = NODE_TYPES
    if node_type is not None:
        types = [check("type", node_type, NODE_TYPES)]
    wanted = canonical(name)
    for candidate in types:
        found = graph.node_id(connection, graph.resolved(connection, NodeKey(candidate, wanted)))
        if found is not None:
            return graph.fetch_nodes(connection, [found])[found]
    raise NotFound("error.no_such_node", name=name[:60])


def _naming(connection: Connection, node_id: int) -> list[int]:
    return graph.memories_naming(connection, node_id, -1)


def _rewrite(context: EngineContext, connection: Connection, memory_ids: Sequence[int]) -> None:
    """Derive the graph of memories again, by the names as they are now."""
    for memory in memories.fetch(connection, memory_ids).values():
        fields = writing.authored(memory)
        layers: Layers = derive(context, fields, None, memory.created_at)
        if layers.graph is not None:
            graph_writing.write(connection, memory.id, layers.graph, memory.created_at)


def _note(
    connection: Connection,
    context: EngineContext,
    caller: Caller,
    node: Node,
    changed: journal.Changes,
) -> None:
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    subject = Subject(node.id, f"{node.type}:{node.canonical}", journal.NODE)
    journal.append(connection, stamp, "edit", subject, changed)
