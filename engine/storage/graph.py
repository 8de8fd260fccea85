"""The graph tables: written with the memory they come from, and taken back with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.domain.errors import NotFound
from engine.domain.graph import Edge, EdgeDraft, Node, NodeDraft, NodeKey
from engine.storage import fulltext
from engine.storage.database import Connection, Row
from engine.storage.fulltext import ENTRIES, Tokens

_NODE = """n.id, n.type, n.canonical, n.name, (SELECT count(*) FROM graph_mention g
    JOIN memory m ON m.id = g.memory_id WHERE g.node_id = n.id AND m.deleted_at IS NULL)"""


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry ready to be written: its text, the hash of it, and the tokens to index."""

    text: str
    content_hash: str
    tokens: Tokens
    node_id: int | None
    edge_id: int | None


def resolved(connection: Connection, key: NodeKey) -> NodeKey:
    """The key that a name means after merges, renames and configured aliases."""
    row = connection.execute(
        "SELECT canonical FROM graph_alias WHERE type = ? AND alias = ?", (key.type, key.canonical)
    ).fetchone()
    return NodeKey(key.type, str(row[0])) if row else key


def ensure_node(connection: Connection, node: NodeDraft, now: float) -> int:
    """The id of a node, made when there is none; the first spelling seen stays its name."""
    key = resolved(connection, node.key)
    found = node_id(connection, key)
    if found is not None:
        return found
    cursor = connection.execute(
        "INSERT INTO graph_node (type, canonical, name, created_at) VALUES (?, ?, ?, ?)",
        (key.type, key.canonical, node.name, now),
    )
    return int(cursor.lastrowid or 0)


def node_id(connection: Connection, key: NodeKey) -> int | None:
    """The id of the node with exactly this key."""
    row = connection.execute(
        "SELECT id FROM graph_node WHERE type = ? AND canonical = ?", (key.type, key.canonical)
    ).fetchone()
    return int(row[0]) if row else None


def mention(connection: Connection, node_ids: Iterable[int], memory_id: int) -> None:
    """Note that a memory names nodes."""
    connection.executemany(
        "INSERT OR IGNORE INTO graph_mention (node_id, memory_id) VALUES (?, ?)",
        [(found, memory_id) for found in node_ids],
    )


def add_edge(
    connection: Connection, edge: EdgeDraft, ends: tuple[int, int], memory_id: int
) -> int | None:
    """Write an edge of a memory; ``None`` when both ends are one node or it stands already."""
    if ends[0] == ends[1]:
        return None
    cursor = connection.execute(
        """INSERT OR IGNORE INTO graph_edge
        (source_id, target_id, relation, memory_id, confidence, weight)
        VALUES (?, ?, ?, ?, ?, ?)""",
        (*ends, edge.relation, memory_id, edge.confidence, edge.weight),
    )
    return int(cursor.lastrowid or 0) if cursor.rowcount else None


def add_entry(connection: Connection, entry: EntryRow, memory_id: int) -> None:
    """Let a memory be found under a text; equal texts are indexed once."""
    row = connection.execute(
        "SELECT id FROM graph_entry WHERE content_hash = ?", (entry.content_hash,)
    ).fetchone()
    if row is None:
        cursor = connection.execute(
            "INSERT INTO graph_entry (content_hash, text) VALUES (?, ?)",
            (entry.content_hash, entry.text),
        )
        entry_id = int(cursor.lastrowid or 0)
        fulltext.put(connection, entry_id, entry.tokens, ENTRIES)
    else:
        entry_id = int(row[0])
    connection.execute(
        """INSERT INTO graph_entry_memory (entry_id, memory_id, node_id, edge_id)
        VALUES (?, ?, ?, ?)""",
        (entry_id, memory_id, entry.node_id, entry.edge_id),
    )


def remove_of(connection: Connection, memory_id: int) -> None:
    """Take back exactly what a memory added: nodes and entries that others use stay."""
    entries = _ids(connection, "graph_entry_memory", "entry_id", memory_id)
    nodes = _ids(connection, "graph_mention", "node_id", memory_id)
    for table in ("graph_entry_memory", "graph_edge", "graph_mention"):
        connection.execute(f"DELETE FROM {table} WHERE memory_id = ?", (memory_id,))
    for entry_id in entries:
        _remove_unused_entry(connection, entry_id)
    for unused in nodes:
        remove_unused_node(connection, unused)


def remove_unused_node(connection: Connection, unused: int) -> None:
    """Remove a node that no memory names any more."""
    connection.execute(
        """DELETE FROM graph_node WHERE id = :id
        AND NOT EXISTS (SELECT 1 FROM graph_mention WHERE node_id = :id)""",
        {"id": unused},
    )


def _remove_unused_entry(connection: Connection, entry_id: int) -> None:
    used = connection.execute(
        "SELECT 1 FROM graph_entry_memory WHERE entry_id = ? LIMIT 1", (entry_id,)
    ).fetchone()
    if used is None:
        fulltext.remove(connection, entry_id, ENTRIES)
        connection.execute("DELETE FROM graph_entry WHERE id = ?", (entry_id,))


def _ids(connection: Connection, table: str, column: str, memory_id: int) -> list[int]:
    rows = connection.execute(
        f"SELECT DISTINCT {column} FROM {table} WHERE memory_id = ?", (memory_id,)
    )
    return [int(row[0]) for row in rows]


def fetch_nodes(connection: Connection, node_ids: Sequence[int]) -> dict[int, Node]:
    """Nodes by id; missing ids are left out."""
    marks = ",".join("?" * len(node_ids))
    rows = connection.execute(f"SELECT {_NODE} FROM graph_node n WHERE n.id IN ({marks})", node_ids)
    return {int(row[0]): _node(row) for row in rows}


def find_node(connection: Connection, key: NodeKey) -> Node:
    """The node that a name means; raises :class:`NotFound`."""
    found = node_id(connection, resolved(connection, key))
    if found is None:
        raise NotFound("error.no_such_node", name=key.canonical[:60])
    return fetch_nodes(connection, [found])[found]


def list_nodes(connection: Connection, node_type: str | None, limit: int, now: float) -> list[Node]:
    """Nodes by the number of memories that name them, the most first; those that only memories
    past their deadline name are left out."""
    rows = connection.execute(
        """SELECT n.id, n.type, n.canonical, n.name, count(*) AS memories FROM graph_node n
        JOIN graph_mention g ON g.node_id = n.id JOIN memory m ON m.id = g.memory_id
        WHERE (:type IS NULL AND n.type <> 'fact' OR n.type = :type) AND m.deleted_at IS NULL
        AND (m.expires_at IS NULL OR m.expires_at > :now)
        GROUP BY n.id ORDER BY memories DESC, n.id LIMIT :limit""",
        {"type": node_type, "limit": limit, "now": now},
    )
    return [_node(row) for row in rows]


def edges_of(connection: Connection, found: int, limit: int) -> list[Edge]:
    """Edges of a node, the heaviest first, those stated by several memories together."""
    rows = connection.execute(
        f"""{_EDGES} WHERE source_id = :id OR target_id = :id
        GROUP BY source_id, target_id, relation ORDER BY total DESC, source_id, target_id
        LIMIT :limit""",
        {"id": found, "limit": limit},
    )
    return _edges(connection, rows.fetchall())


def edges_among(connection: Connection, node_ids: Sequence[int]) -> list[Edge]:
    """Edges both of whose ends are among these nodes, the heaviest first."""
    rows = connection.execute(
        f"""{_EDGES} WHERE source_id IN (SELECT value FROM json_each(:ids))
        AND target_id IN (SELECT value FROM json_each(:ids))
        GROUP BY source_id, target_id, relation ORDER BY total DESC, source_id, target_id""",
        {"ids": json.dumps(list(node_ids))},
    )
    return _edges(connection, rows.fetchall())


def nodes_of_memory(connection: Connection, memory_id: int) -> list[Node]:
    """The nodes that a memory names."""
    rows = connection.execute(
        "SELECT node_id FROM graph_mention WHERE memory_id = ? ORDER BY node_id", (memory_id,)
    )
    ids = [int(row[0]) for row in rows]
    found = fetch_nodes(connection, ids)
    return [found[node_id] for node_id in ids]


def memories_naming(connection: Connection, found: int, limit: int) -> list[int]:
    """Memories outside the trash that name a node, newest first."""
    rows = connection.execute(
        """SELECT g.memory_id FROM graph_mention g JOIN memory m ON m.id = g.memory_id
        WHERE g.node_id = ? AND m.deleted_at IS NULL ORDER BY g.memory_id DESC LIMIT ?""",
        (found, limit),
    )
    return [int(row[0]) for row in rows]


def count(connection: Connection) -> tuple[int, int, int]:
    """Number of nodes, of edges and of entries."""
    row = connection.execute(
        """SELECT (SELECT count(*) FROM graph_node), (SELECT count(*) FROM graph_edge),
        (SELECT count(*) FROM graph_entry)"""
    ).fetchone()
    return int(row[0]), int(row[1]), int(row[2])


_EDGES = """SELECT source_id, target_id, relation, sum(weight * confidence) AS total,
    group_concat(memory_id) FROM graph_edge"""


def _edges(connection: Connection, rows: Sequence[Row]) -> list[Edge]:
    ends = sorted({int(row[i]) for row in rows for i in (0, 1)})
    nodes: Mapping[int, Node] = fetch_nodes(connection, ends)
    return [
        Edge(
            source=nodes[row[0]],
            target=nodes[row[1]],
            relation=row[2],
            weight=float(row[3]),
            memory_ids=tuple(sorted(map(int, str(row[4]).split(",")))),
        )
        for row in rows
    ]


def _node(row: Row) -> Node:
    return Node(int(row[0]), row[1], row[2], row[3], int(row[4]))
