"""From one memory to what it adds to the graph, by rules alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from engine.domain.graph import (
    CO_OCCURS_WITH,
    DESCRIBES,
    FACT,
    MENTIONED_IN,
    PERSON,
    TOPIC,
    EdgeDraft,
    EntryDraft,
    GraphDraft,
    NodeDraft,
    NodeKey,
)
from engine.language.folding import fold

# More entities or facts of one memory say little about each other, and their pairs grow fast.
_MOST_ENTITIES = 12
_MOST_FACTS = 12


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact that a memory states, with the confidence of the rule that read it (0-1)."""

    text: str
    confidence: float = 0.5


def derive_graph(
    people: Sequence[str], topics: Sequence[str], facts: Sequence[StatedFact]
) -> GraphDraft:
    """The nodes, edges and entries of a memory that names these people and topics and states
    these facts."""
    entities = [*_nodes(PERSON, people), *_nodes(TOPIC, topics)][:_MOST_ENTITIES]
    stated = {node.key: fact for fact in facts[:_MOST_FACTS] for node in _nodes(FACT, [fact.text])}
    told = [NodeDraft(key, fact.text) for key, fact in stated.items()]
    edges = [
        *_described(entities, told, stated),
        *_together(told, MENTIONED_IN),
        *_together(entities, CO_OCCURS_WITH),
    ]
    names = {node.key: node.name for node in (*entities, *told)}
    entries = [EntryDraft(node.name, node=node.key) for node in (*entities, *told)]
    entries += [
        EntryDraft(f"{names[edge.source]} {names[edge.target]}", edge=number)
        for number, edge in enumerate(edges)
        if _says_more(edge, names)
    ]
    return GraphDraft((*entities, *told), tuple(edges), tuple(entries))


def canonical(name: str) -> str:
    """The form in which names are compared: NFKC, case folded, blanks collapsed, full and half
    width one, Traditional characters as Simplified."""
    return fold(name)


def _nodes(node_type: str, names: Iterable[str]) -> list[NodeDraft]:
    found: dict[NodeKey, NodeDraft] = {}
    for name in names:
        shown = " ".join(name.split())
        key = NodeKey(node_type, canonical(shown))
        if key.canonical:
            found.setdefault(key, NodeDraft(key, shown))
    return list(found.values())


def _described(
    entities: Sequence[NodeDraft],
    told: Sequence[NodeDraft],
    stated: dict[NodeKey, StatedFact],
) -> list[EdgeDraft]:
    """From each entity to the facts that name it; a fact that names none is about all of them,
    with half the confidence."""
    edges = []
    for fact in told:
        named = [node for node in entities if node.key.canonical in fact.key.canonical]
        share = 1.0 if named else 0.5
        confidence = stated[fact.key].confidence * share
        edges += [
            EdgeDraft(node.key, fact.key, DESCRIBES, confidence) for node in named or entities
        ]
    return edges


def _together(nodes: Sequence[NodeDraft], relation: str) -> list[EdgeDraft]:
    """Every pair once, in one order, so that two memories state the same edge."""
    keys = sorted({node.key for node in nodes}, key=lambda key: (key.type, key.canonical))
    return [EdgeDraft(first, second, relation) for first, second in combinations(keys, 2)]


def _says_more(edge: EdgeDraft, names: dict[NodeKey, str]) -> bool:
    """Whether the edge's text adds words to those of its nodes: the fact may hold the name, and
    two facts of one memory are found by themselves."""
    if edge.relation == MENTIONED_IN:
        return False
    return edge.relation == CO_OCCURS_WITH or edge.source.canonical not in edge.target.canonical
