"""Workspaces: the projects that memories belong to.

A workspace is a row with several roots (paths, git remotes), so a renamed or moved project
keeps its memories.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.memory import GLOBAL_WORKSPACE
from engine.storage.database import Connection
from engine.storage.identity import new_uid

DEFAULT_DOMAIN = "personal"


@dataclass(frozen=True, slots=True)
class ProjectRoot:
    """How a project is recognised: its folder and, where it has one, its git remote."""

    name: str
    path: str
    remote: str | None = None


def ensure(connection: Connection, name: str, now: float) -> int:
    """The row id of the workspace called ``name``, made when there is none."""
    row = connection.execute("SELECT id FROM workspace WHERE name = ?", (name,)).fetchone()
    if row:
        return int(row[0])
    cursor = connection.execute(
        "INSERT INTO workspace (uid, name, domain, created_at) VALUES (?, ?, ?, ?)",
        (new_uid(), name, DEFAULT_DOMAIN, now),
    )
    return int(cursor.lastrowid or 0)


def named_by_root(connection: Connection, root: ProjectRoot) -> str | None:
    """The name of the workspace that owns this folder or remote, if one does."""
    row = connection.execute(
        """SELECT w.name FROM workspace_root r JOIN workspace w ON w.id = r.workspace_id
        WHERE (r.kind = 'path' AND r.value = :path) OR (r.kind = 'remote' AND r.value = :remote)
        ORDER BY r.kind LIMIT 1""",
        {"path": root.path, "remote": root.remote},
    ).fetchone()
    return str(row[0]) if row else None


def adopt_root(connection: Connection, root: ProjectRoot, now: float) -> str:
    """The workspace of this project, made and bound to its roots when new.

    Two projects whose folders have the same name get different workspaces.
    """
    name = named_by_root(connection, root) or _free_name(connection, root.name)
    workspace_id = ensure(connection, name, now)
    for kind, value in (("path", root.path), ("remote", root.remote)):
        if value:
            connection.execute(
                "INSERT OR IGNORE INTO workspace_root (kind, value, workspace_id) VALUES (?, ?, ?)",
                (kind, value, workspace_id),
            )
    return name


def names(connection: Connection) -> list[str]:
    """All workspace names in alphabetical order."""
    return [str(row[0]) for row in connection.execute("SELECT name FROM workspace ORDER BY name")]


def _free_name(connection: Connection, wanted: str) -> str:
    name, number = wanted, 2
    while name == GLOBAL_WORKSPACE or _has_roots(connection, name):
        name, number = f"{wanted}-{number}", number + 1
    return name


def _has_roots(connection: Connection, name: str) -> bool:
    row = connection.execute(
        """SELECT 1 FROM workspace w JOIN workspace_root r ON r.workspace_id = w.id
        WHERE w.name = ? LIMIT 1""",
        (name,),
    ).fetchone()
    return row is not None
