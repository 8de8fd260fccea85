"""Workspaces: the projects that memories belong to.

A workspace is a row with several roots (paths, git remotes), so a renamed or moved project
keeps its memories.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.errors import NotFound
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.vocabulary import nearest
from engine.storage.database import Connection, Row
from engine.storage.identity import new_uid

DEFAULT_DOMAIN = "personal"
_OVERVIEW = """SELECT w.id, w.uid, w.name, w.domain, w.created_at,
    (SELECT count(*) FROM memory m WHERE m.workspace_id = w.id AND m.deleted_at IS NULL),
    (SELECT count(*) FROM memory m WHERE m.workspace_id = w.id AND m.deleted_at IS NOT NULL),
    (SELECT max(created_at) FROM memory m WHERE m.workspace_id = w.id AND m.deleted_at IS NULL),
    (SELECT group_concat(value, char(10)) FROM
        (SELECT value FROM workspace_root r WHERE r.workspace_id = w.id ORDER BY kind, value))
    FROM workspace w"""


@dataclass(frozen=True, slots=True)
class ProjectRoot:
    """How a project is recognised: its folder and, where it has one, its git remote."""

    name: str
    path: str
    remote: str | None = None


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace and what it holds: memories outside and in the trash, when the newest was
    written (epoch seconds), and the folders and remotes by which its project is known."""

    id: int
    uid: str
    name: str
    domain: str
    created_at: float
    memories: int
    in_trash: int
    newest_at: float | None
    roots: tuple[str, ...]


def ensure(connection: Connection, name: str, now: float, domain: str = DEFAULT_DOMAIN) -> int:
    """The row id of the workspace called ``name``, made in ``domain`` when there is none."""
    row = connection.execute("SELECT id FROM workspace WHERE name = ?", (name,)).fetchone()
    if row:
        return int(row[0])
    cursor = connection.execute(
        "INSERT INTO workspace (uid, name, domain, created_at) VALUES (?, ?, ?, ?)",
        (new_uid(), name, domain, now),
    )
    return int(cursor.lastrowid or 0)


def exists(connection: Connection, name: str) -> bool:
    """Whether there is a workspace of this name."""
    row = connection.execute("SELECT 1 FROM workspace WHERE name = ?", (name,)).fetchone()
    return row is not None


def overview(connection: Connection) -> list[Workspace]:
    """Every workspace with its counts, in alphabetical order."""
    return [_workspace(row) for row in connection.execute(f"{_OVERVIEW} ORDER BY w.name")]


def named(connection: Connection, name: str) -> Workspace:
    """The workspace of this name; raises :class:`NotFound` with the nearest name."""
    row = connection.execute(f"{_OVERVIEW} WHERE w.name = ?", (name,)).fetchone()
    if row:
        return _workspace(row)
    near = nearest(name, names(connection))
    key = "error.no_such_workspace_near" if near else "error.no_such_workspace"
    raise NotFound(key, name=name[:60], nearest=near)


def rename(connection: Connection, workspace_id: int, name: str) -> None:
    """Give a workspace another name, which must be free."""
    connection.execute("UPDATE workspace SET name = ? WHERE id = ?", (name, workspace_id))


def set_domain(connection: Connection, workspace_id: int, domain: str) -> None:
    """Move a workspace to another domain."""
    connection.execute("UPDATE workspace SET domain = ? WHERE id = ?", (domain, workspace_id))


def memory_ids(connection: Connection, workspace_id: int, after: int, limit: int) -> list[int]:
    """Up to ``limit`` memories of a workspace outside the trash, in whatever other state, with
    ids above ``after``, in the order of ids."""
    rows = connection.execute(
        """SELECT id FROM memory WHERE workspace_id = :workspace_id AND deleted_at IS NULL
        AND id > :after ORDER BY id LIMIT :row_limit""",
        {"workspace_id": workspace_id, "after": after, "row_limit": limit},
    )
    return [int(row[0]) for row in rows]


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


def _workspace(row: Row) -> Workspace:
    return Workspace(
        id=row[0],
        uid=row[1],
        name=row[2],
        domain=row[3],
        created_at=row[4],
        memories=row[5],
        in_trash=row[6],
        newest_at=row[7],
        roots=tuple(row[8].split("\n")) if row[8] else (),
    )


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
