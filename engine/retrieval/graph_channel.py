"""The graph channel: memories reached through entries, named nodes and their neighbours.

A memory that several ways lead to is worth more: the best way counts whole, each further one
:data:`FURTHER_WAY` of itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain.graph import CO_OCCURS_WITH, DESCRIBES, FACT, Step
from engine.language.terms import QueryTerms
from engine.retrieval.analysis import inverse_document_frequency
from engine.retrieval.lookups import affordable, matches_of
from engine.retrieval.reach import Reach
from engine.storage import fulltext, graph_search
from engine.storage.database import Connection
from engine.storage.fulltext import ENTRIES
from engine.storage.graph_search import NamedNode, Neighbour

ENTRY_WEIGHT = 1.0
NODE_WEIGHT = 0.7
HOP_WEIGHT = 0.7
SECOND_HOP_WEIGHT = 0.4
FURTHER_WAY = 0.35
_MOST_NAMED = 8
_MEMORIES_OF_NEIGHBOUR = 12


@dataclass(frozen=True, slots=True)
class Expansion:
    """How far the channel walks: hops (1 or 2) and nodes taken along in a step."""

    hops: int = 1
    limit: int = 24


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What is looked for: the stretches of the query that may be names (folded), its terms, how
    many memories are wanted at most, and how far to walk."""

    names: Sequence[str]
    terms: QueryTerms
    limit: int
    expansion: Expansion = Expansion()


@dataclass(frozen=True, slots=True)
class GraphHit:
    """What led to a memory: its score in [0,1] and the best way there."""

    score: float
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """``path`` is empty for a name or pair of names found as text: the node says it better."""

    score: float
    path: tuple[Step, ...]
    is_fact: bool = False


def graph_candidates(
    connection: Connection, query: GraphQuery, within: Reach
) -> dict[int, GraphHit]:
    """Memories in reach that the graph leads to, the best first."""
    ways: dict[int, list[_Way]] = defaultdict(list)
    _by_entries(connection, query.terms, within, query.limit, ways)
    named = graph_search.named_nodes(connection, query.names, _MOST_NAMED)
    _by_nodes(connection, named, within, query.limit, ways)
    _by_neighbours(connection, named, within, query.expansion, ways)
    hits = {memory_id: _together(found) for memory_id, found in ways.items()}
    ordered = sorted(hits.items(), key=lambda item: (-item[1].score, -item[0]))
    return dict(ordered[: query.limit])


def _by_entries(
    connection: Connection,
    terms: QueryTerms,
    within: Reach,
    limit: int,
    ways: dict[int, list[_Way]],
) -> None:
    # A single character stands in too many names to lead anywhere.
    matches = [match for match in matches_of(terms) if not match.prefix]
    frequencies = fulltext.document_frequencies(connection, matches, ENTRIES)
    lookups = affordable(frequencies)
    hits = graph_search.entry_hits(connection, lookups, within.filters, within.now, limit)
    best = max((hit.bm25 for hit in hits), default=0.0)
    for hit in hits:
        if best > 0:
            path = (Step(hit.text, DESCRIBES),) if hit.is_fact else ()
            score = ENTRY_WEIGHT * hit.bm25 / best
            ways[hit.memory_id].append(_Way(score, path, hit.is_fact))


def _by_nodes(
    connection: Connection,
    named: Sequence[NamedNode],
    within: Reach,
    limit: int,
    ways: dict[int, list[_Way]],
) -> None:
    known = {node.id: node for node in named}
    pairs = graph_search.memories_of_nodes(
        connection, list(known), within.filters, within.now, limit
    )
    for node_id, memory_id in pairs:
        node = known[node_id]
        ways[memory_id].append(_Way(NODE_WEIGHT * _rarity(node, within), (Step(node.name),)))


def _by_neighbours(
    connection: Connection,
    named: Sequence[NamedNode],
    within: Reach,
    expansion: Expansion,
    ways: dict[int, list[_Way]],
) -> None:
    """Walk from the named nodes to their neighbours, and on from those with two hops."""
    reached = {node.id: _Way(_rarity(node, within), (Step(node.name),)) for node in named}
    seen = set(reached)
    for weight in (HOP_WEIGHT, SECOND_HOP_WEIGHT)[: expansion.hops]:
        near = graph_search.neighbours(connection, list(reached), expansion.limit)
        heaviest = max((item.weight for item in near), default=1.0)
        step: dict[int, _Way] = {}
        for item in near[: expansion.limit]:
            if item.node_id in seen or item.type == FACT:
                continue
            way = reached[item.origin]
            score = NODE_WEIGHT * weight * way.score * item.weight / heaviest
            step.setdefault(item.node_id, _Way(score, (*way.path, _step(item))))
        pairs = graph_search.memories_of_nodes(
            connection, list(step), within.filters, within.now, _MEMORIES_OF_NEIGHBOUR
        )
        for node_id, memory_id in pairs:
            ways[memory_id].append(step[node_id])
        seen |= step.keys()
        reached = step


def _step(item: Neighbour) -> Step:
    return Step(item.name, item.relation, item.forward)


def _rarity(node: NamedNode, within: Reach) -> float:
    """How much a node tells: 1 for one that a single memory names, near 0 for one that all do."""
    total = max(within.size, node.mentions, 1)
    rarest = inverse_document_frequency(1, total)
    return min(1.0, inverse_document_frequency(node.mentions, total) / rarest) if rarest else 0.0


def _together(ways: Sequence[_Way]) -> GraphHit:
    ordered = sorted(ways, key=lambda way: -way.score)
    score = ordered[0].score + FURTHER_WAY * sum(way.score for way in ordered[1:])
    return GraphHit(min(1.0, score), _path(ordered))


def _path(ways: Sequence[_Way]) -> tuple[Step, ...]:
    """The way as it is shown: from the people and topics named, joined in this memory, or over
    a hop from one of them, to the fact that the query found."""
    told = next((way.path[0] for way in ways if way.is_fact), None)
    named = list(
        dict.fromkeys(way.path[0] for way in ways if len(way.path) == 1 and not way.is_fact)
    )
    walked = next((way.path for way in ways if len(way.path) > 1), ())
    if named:
        first, *others = named
        path = (first, *(Step(step.name, CO_OCCURS_WITH) for step in others[:2]))
    else:
        path = walked
    if told is None:
        return path
    return (*path, told) if path else (Step(told.name),)
