"""A part of the graph to be drawn: nodes near some, and every edge between them."""

from __future__ import annotations

from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.graph import Edge, Node
from engine.storage import graph, graph_search

MAX_NODES = 60
_EDGES_WALKED = 40


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Nodes in the order in which they were reached, and the edges between any two of them.

    ``hidden`` counts neighbours that had no room.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    hidden: int = 0


def around_node(
    context: EngineContext, node_id: int, *, hops: int = 1, limit: int = 24
) -> Subgraph:
    """What is within ``hops`` edges (1-3) of a node, at most ``limit`` nodes (2-60), the
    heaviest edges first. Raises NotFound for an id that nobody has."""
    if not (1 <= hops <= 3 and 2 <= limit <= MAX_NODES):
        raise InvalidInput("error.out_of_range", name="limit", value=limit, low=2, high=MAX_NODES)
    with context.database.read() as connection:
        if not graph.fetch_nodes(connection, [node_id]):
            raise NotFound("error.no_such_node", name=f"#{node_id}")
        reached, border, hidden = [node_id], [node_id], 0
        for _ in range(hops):
            near = graph_search.neighbours(connection, border, _EDGES_WALKED)
            new = dict.fromkeys(item.node_id for item in near if item.node_id not in reached)
            border = list(new)[: max(0, limit - len(reached))]
            hidden = len(new) - len(border)
            reached += border
        nodes = graph.fetch_nodes(connection, reached)
        edges = graph.edges_among(connection, reached)
        return Subgraph(tuple(nodes[one] for one in reached), tuple(edges), hidden)


def nodes_of_memory(context: EngineContext, memory_id: int) -> tuple[Node, ...]:
    """The nodes that a memory names, people and topics before facts."""
    with context.database.read() as connection:
        found = graph.nodes_of_memory(connection, memory_id)
    return tuple(sorted(found, key=lambda node: (node.type == "fact", -node.memories, node.id)))


def memories_of_node(context: EngineContext, node_id: int, limit: int = 200) -> tuple[int, ...]:
    """Ids of the newest memories that name a node."""
    with context.database.read() as connection:
        return tuple(graph.memories_naming(connection, node_id, limit))
