"""The knowledge graph: people, topics and facts, and how memories join them."""

from __future__ import annotations

from dataclasses import dataclass

PERSON = "person"
TOPIC = "topic"
FACT = "fact"
NODE_TYPES = (PERSON, TOPIC, FACT)

DESCRIBES = "describes"
MENTIONED_IN = "mentioned_in"
CO_OCCURS_WITH = "co_occurs_with"


@dataclass(frozen=True, slots=True)
class NodeKey:
    """What makes a node one: its type and the canonical form of its name."""

    type: str
    canonical: str


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A node that a memory names; ``name`` is the spelling seen."""

    key: NodeKey
    name: str


@dataclass(frozen=True, slots=True)
class EdgeDraft:
    """An edge that a memory states, with its confidence (0-1) and weight."""

    source: NodeKey
    target: NodeKey
    relation: str
    confidence: float = 0.5
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """A text under which the memory is found through the graph, and the node or the edge (by
    its number among the draft's edges) that it speaks of."""

    text: str
    node: NodeKey | None = None
    edge: int | None = None


@dataclass(frozen=True, slots=True)
class GraphDraft:
    """What one memory adds to the graph."""

    nodes: tuple[NodeDraft, ...] = ()
    edges: tuple[EdgeDraft, ...] = ()
    entries: tuple[EntryDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A stored node and the number of memories outside the trash that name it."""

    id: int
    type: str
    canonical: str
    name: str
    memories: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as shown: all memories that state it together. ``weight`` is their sum."""

    source: Node
    target: Node
    relation: str
    weight: float
    memory_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a way through the graph: the edge taken and the name it led to. The first
    step of a way has no relation. ``forward`` says that the edge points along the way."""

    name: str
    relation: str = ""
    forward: bool = True
