"""Which workspace a project folder belongs to.

The settings decide first: ``workspaces.map``, then ``workspaces.root``. Any other project is
recognised by the root of its version control and by its git remote, so a moved checkout keeps
its memories.
"""

from __future__ import annotations

import configparser
import os
import re
from pathlib import Path

from engine.context import EngineContext
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.text import scrub
from engine.domain.workspace_map import MappedFolder, mapped, within
from engine.storage import workspaces
from engine.storage.workspaces import DEFAULT_DOMAIN, ProjectRoot
from engine.writing.workspace_names import domain_name, folder_name, workspace_name

_CREDENTIALS = re.compile(r"(?<=://)[^/@]*@")
_MARKERS = (".git", ".hg", ".svn", ".jj")


def project_root(folder: Path) -> ProjectRoot | None:
    """The project that ``folder`` lies in; none outside version control and for a whole home
    folder kept in version control."""
    for candidate in (folder, *folder.parents):
        if any(os.path.exists(candidate / marker) for marker in _MARKERS):
            if candidate == Path(os.path.expanduser("~")):
                return None
            return ProjectRoot(
                folder_name(candidate.name), scrub(str(candidate)), _git_remote(candidate)
            )
    return None


def find_workspace(context: EngineContext, folder: Path) -> str | None:
    """The workspace of the project around ``folder``: ``global`` outside any project, ``None``
    for a project that has stored nothing yet. Reads only."""
    configured = _configured(context, folder)
    if configured is not None:
        with context.database.read() as connection:
            known = workspaces.exists(connection, configured.workspace)
        return configured.workspace if known else None
    root = project_root(folder)
    if root is None:
        return GLOBAL_WORKSPACE
    with context.database.read() as connection:
        return workspaces.named_by_root(connection, root)


def adopt_workspace(context: EngineContext, folder: Path) -> str:
    """The workspace of the project around ``folder``, made when it is new."""
    found = find_workspace(context, folder)
    if found is not None:
        return found
    now, configured, root = context.clock.now(), _configured(context, folder), project_root(folder)
    with context.database.write() as connection:
        if configured is not None:
            domain = domain_name(configured.domain or DEFAULT_DOMAIN)
            workspaces.ensure(connection, configured.workspace, now, domain)
            return configured.workspace
        return workspaces.adopt_root(connection, root, now) if root else GLOBAL_WORKSPACE


def _configured(context: EngineContext, folder: Path) -> MappedFolder | None:
    """What the settings say of a folder."""
    settings, base = context.settings.workspaces, context.home
    entry = mapped(settings.map, folder, base)
    if entry is not None:
        return MappedFolder(entry.path, workspace_name(entry.workspace), entry.domain)
    parts = within(settings.root, folder, base) if settings.root else None
    return MappedFolder(settings.root, folder_name(parts[0])) if parts else None


def _git_remote(root: Path) -> str | None:
    """The address of ``origin``; none for worktrees and anything unreadable, which are still
    known by their path."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        parser.read(root / ".git" / "config", encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return None
    url = parser.get('remote "origin"', "url", fallback=None)
    return _CREDENTIALS.sub("", url) if url else None
