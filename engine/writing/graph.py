"""A memory's part of the graph: written with it, and taken back with it.

Everything runs inside the caller's write transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.graph import GraphDraft
from engine.domain.memory import FieldValue
from engine.domain.text import content_hash
from engine.extraction.entities import entities_of
from engine.extraction.graph import StatedFact, derive_graph
from engine.storage import fulltext, graph
from engine.storage.database import Connection
from engine.storage.fulltext import ENTRIES, Tokens
from engine.storage.graph import EntryRow


@dataclass(frozen=True, slots=True)
class GraphLayer:
    """What a memory adds to the graph, with the tokens of each of its entries."""

    draft: GraphDraft
    tokens: tuple[Tokens, ...]


def derive_layer(
    context: EngineContext, fields: Mapping[str, FieldValue], facts: Sequence[StatedFact]
) -> GraphLayer | None:
    """The graph of a memory from the people, topics and facts it has; ``None`` when the graph
    is switched off."""
    if not context.settings.graph.enabled:
        return None
    people, topics = _named(context, fields)
    draft = derive_graph(people, topics, facts)
    return GraphLayer(draft, tuple(_tokens(context, entry.text) for entry in draft.entries))


def write(connection: Connection, memory_id: int, layer: GraphLayer, now: float) -> None:
    """Write a memory's nodes, edges and entries in place of what it had."""
    graph.remove_of(connection, memory_id)
    draft = layer.draft
    ids = {node.key: graph.ensure_node(connection, node, now) for node in draft.nodes}
    graph.mention(connection, ids.values(), memory_id)
    edges = [
        graph.add_edge(connection, edge, (ids[edge.source], ids[edge.target]), memory_id)
        for edge in draft.edges
    ]
    for entry, tokens in zip(draft.entries, layer.tokens, strict=True):
        if entry.edge is not None and edges[entry.edge] is None:
            continue
        row = EntryRow(
            text=entry.text,
            content_hash=content_hash(entry.text),
            tokens=tokens,
            node_id=ids[entry.node] if entry.node else None,
            edge_id=None if entry.edge is None else edges[entry.edge],
        )
        graph.add_entry(connection, row, memory_id)


def withdraw(connection: Connection, memory_id: int) -> None:
    """Take back what a memory added."""
    graph.remove_of(connection, memory_id)


def erase(connection: Connection, memory_id: int) -> None:
    """Take back what a memory added so that none of its words are left in the index."""
    graph.remove_of(connection, memory_id)
    fulltext.merge(connection, ENTRIES)


def _named(
    context: EngineContext, fields: Mapping[str, FieldValue]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The people and topics of a memory: as its writer names them, else as its text does."""
    people, topics = _names(fields, "participants"), _names(fields, "topics")
    if people or topics or not context.settings.graph.find_entities:
        return people, topics
    found = entities_of(str(fields["text"]))
    return found.people, found.topics


def _names(fields: Mapping[str, FieldValue], name: str) -> tuple[str, ...]:
    value = fields[name]
    return value if isinstance(value, tuple) else ()


def _tokens(context: EngineContext, text: str) -> Tokens:
    terms = context.analyser.index_terms(text)
    return Tokens(context.analyser.segmenter_id, terms.words, terms.chars)
