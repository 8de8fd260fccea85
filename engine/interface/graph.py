"""Parts of the graph to look at."""

from __future__ import annotations

from engine.context import EngineContext
from engine.domain.graph import Node
from engine.use_cases import subgraph
from engine.use_cases.subgraph import Subgraph


class GraphView:
    """Parts of the graph to look at."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def around(self, node_id: int, *, hops: int = 1, limit: int = 24) -> Subgraph:
        """What is near a node; see :func:`engine.use_cases.subgraph.around_node`."""
        return subgraph.around_node(self._context, node_id, hops=hops, limit=limit)

    def nodes_of(self, memory_id: int) -> tuple[Node, ...]:
        """The nodes that a memory names."""
        return subgraph.nodes_of_memory(self._context, memory_id)

    def memories_of(self, node_id: int) -> tuple[int, ...]:
        """Ids of the newest memories that name a node."""
        return subgraph.memories_of_node(self._context, node_id)
