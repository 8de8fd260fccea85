"""Other names of nodes: what merges and renames leave behind, so that texts keep their meaning."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.graph import Node, NodeKey
from engine.storage.database import Connection

MERGE = "merge"
RENAME = "rename"


@dataclass(frozen=True, slots=True)
class Alias:
    """A name (canonical) that means the node ``key``."""

    name: str
    key: NodeKey
    origin: str


def put(connection: Connection, old: NodeKey, canonical: str, origin: str) -> None:
    """Let a name mean another node; names that meant the old one follow."""
    connection.execute(
        "UPDATE graph_alias SET canonical = :new WHERE type = :type AND canonical = :old",
        {"new": canonical, "type": old.type, "old": old.canonical},
    )
    connection.execute(
        "DELETE FROM graph_alias WHERE type = ? AND alias = ?", (old.type, canonical)
    )
    connection.execute(
        "INSERT OR REPLACE INTO graph_alias (type, alias, canonical, origin) VALUES (?, ?, ?, ?)",
        (old.type, old.canonical, canonical, origin),
    )


def rename(connection: Connection, node: Node, key: NodeKey, name: str) -> None:
    """Give a node another key and name; its former one stays as an alias."""
    connection.execute(
        "UPDATE graph_node SET canonical = ?, name = ? WHERE id = ?",
        (key.canonical, name, node.id),
    )
    if key.canonical != node.canonical:
        put(connection, NodeKey(node.type, node.canonical), key.canonical, RENAME)


def set_name(connection: Connection, node_id: int, canonical: str, name: str) -> None:
    """Give a node back a former key and name."""
    connection.execute(
        "UPDATE graph_node SET canonical = ?, name = ? WHERE id = ?", (canonical, name, node_id)
    )


def find(connection: Connection, name: str) -> Alias | None:
    """The alias with this canonical name, if there is one."""
    row = connection.execute(
        "SELECT alias, type, canonical, origin FROM graph_alias WHERE alias = ? ORDER BY type",
        (name,),
    ).fetchone()
    return Alias(row[0], NodeKey(row[1], row[2]), row[3]) if row else None


def remove(connection: Connection, alias: Alias) -> None:
    """Let a name mean its own node again."""
    connection.execute(
        "DELETE FROM graph_alias WHERE type = ? AND alias = ?", (alias.key.type, alias.name)
    )


def of(connection: Connection, key: NodeKey) -> list[str]:
    """Other names of a node."""
    rows = connection.execute(
        "SELECT alias FROM graph_alias WHERE type = ? AND canonical = ? ORDER BY alias",
        (key.type, key.canonical),
    )
    return [str(row[0]) for row in rows]
