"""Finding memories through the graph. Reads only; filters are part of every query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain.scope import Filters
from engine.storage import fulltext
from engine.storage.database import Connection
from engine.storage.filters import condition
from engine.storage.fulltext import ENTRIES, Match

# What is read of a popular node: its newest edges stand for the others.
_EDGES_READ = 400
# A text that many memories share, such as a name, leads to its newest ones; the node leads on.
_MEMORIES_OF_ENTRY = 30


@dataclass(frozen=True, slots=True)
class EntryHit:
    """A memory found under an entry's text; ``bm25`` is larger for better. ``is_fact`` tells a
    fact from a name or a pair of names."""

    memory_id: int
    text: str
    bm25: float
    is_fact: bool


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A node whose name stands in a query, with how many memories name it."""

    id: int
    type: str
    name: str
    mentions: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node one edge away. ``forward`` says that the edge leads to it."""

    origin: int
    node_id: int
    name: str
    type: str
    relation: str
    forward: bool
    weight: float


def entry_hits(
    connection: Connection, matches: Sequence[Match], filters: Filters, now: float, limit: int
) -> list[EntryHit]:
    """Memories that pass the filters, by the best of their entries that hold any token."""
    hits = dict(fulltext.hits(connection, matches, limit, ENTRIES))
    if not hits:
        return []
    where = condition(filters, now)
    found: dict[tuple[int, int], EntryHit] = {}
    for entry_id, bm25 in hits.items():
        rows = connection.execute(
            f"""SELECT g.memory_id, e.text, n.type IS 'fact' FROM
            (SELECT * FROM graph_entry_memory WHERE entry_id = :entry_id
                ORDER BY rowid DESC LIMIT :row_limit) g
            JOIN graph_entry e ON e.id = g.entry_id JOIN memory m ON m.id = g.memory_id
            LEFT JOIN graph_node n ON n.id = g.node_id WHERE {where.sql}""",
            {**where.parameters, "entry_id": entry_id, "row_limit": _MEMORIES_OF_ENTRY},
        )
        for row in rows:
            hit = EntryHit(int(row[0]), row[1], bm25, bool(row[2]))
            found.setdefault((hit.memory_id, entry_id), hit)
    return sorted(found.values(), key=lambda hit: (-hit.bm25, -hit.memory_id))


def named_nodes(connection: Connection, candidates: Sequence[str], limit: int) -> list[NamedNode]:
    """People and topics whose canonical name, or an alias of it, is one of the candidates; the
    longest names first."""
    rows = connection.execute(
        """WITH named(type, canonical) AS (
            SELECT t.value, c.value FROM json_each(:names) c, json_each('["person","topic"]') t
            UNION SELECT a.type, a.canonical FROM json_each(:names) c,
                json_each('["person","topic"]') t
                JOIN graph_alias a ON a.type = t.value AND a.alias = c.value)
        SELECT n.id, n.type, n.name, (SELECT count(*) FROM (SELECT 1
            FROM graph_mention g WHERE g.node_id = n.id LIMIT 1000)), length(n.canonical)
        FROM named CROSS JOIN graph_node n ON n.type = named.type
            AND n.canonical = named.canonical
        ORDER BY length(n.canonical) DESC, n.id LIMIT :limit""",
        {"names": json.dumps(list(candidates), ensure_ascii=False), "limit": limit},
    )
    return [NamedNode(int(row[0]), row[1], row[2], int(row[3])) for row in rows]


def memories_of_nodes(
    connection: Connection, node_ids: Sequence[int], filters: Filters, now: float, limit: int
) -> list[tuple[int, int]]:
    """(node, memory) for up to ``limit`` of the newest memories that name each node and pass
    the filters."""
    where = condition(filters, now)
    found: list[tuple[int, int]] = []
    for node_id in node_ids:
        rows = connection.execute(
            f"""SELECT g.memory_id FROM graph_mention g JOIN memory m ON m.id = g.memory_id
            WHERE g.node_id = :node_id AND {where.sql}
            ORDER BY g.memory_id DESC LIMIT :row_limit""",
            {**where.parameters, "node_id": node_id, "row_limit": limit},
        )
        found += [(node_id, int(row[0])) for row in rows]
    return found


def neighbours(connection: Connection, node_ids: Sequence[int], limit: int) -> list[Neighbour]:
    """Nodes one edge away from each, the heaviest edges first; of a popular node its newest
    edges are looked at."""
    found: list[Neighbour] = []
    for node_id in node_ids:
        for here, there, forward in (("source_id", "target_id", 1), ("target_id", "source_id", 0)):
            rows = connection.execute(
                f"""SELECT e.{there}, n.name, n.type, e.relation, sum(e.weight * e.confidence)
                FROM (SELECT * FROM graph_edge WHERE {here} = :node_id
                    ORDER BY rowid DESC LIMIT :edges) e
                JOIN graph_node n ON n.id = e.{there}
                GROUP BY e.{there}, e.relation ORDER BY 5 DESC, 1 LIMIT :limit""",
                {"node_id": node_id, "edges": _EDGES_READ, "limit": limit},
            )
            found += [
                Neighbour(node_id, int(r[0]), r[1], r[2], r[3], bool(forward), float(r[4]))
                for r in rows
            ]
    found.sort(key=lambda item: (-item.weight, item.node_id))
    return found
