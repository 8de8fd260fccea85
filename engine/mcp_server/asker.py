"""Who is on the other side of the connection, and which project they work in."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server.context import ServerRequestContext

from engine.domain.caller import Caller
from engine.domain.text import scrub

_SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
_THREAD_KEY = "threadId"
_MAX_NAME_CHARS = 60
_MAX_SESSION_CHARS = 200


@dataclass(frozen=True, slots=True)
class Asker:
    """The client of one request: its name and, where it sends one, its conversation."""

    client: str | None = None
    thread: str | None = None

    @property
    def actor(self) -> str:
        """The name under which changes are journaled."""
        return f"mcp:{self.client}" if self.client else "mcp"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What holds for every request of a server: its client's session where the environment
    names it, else ``own_session``; the workspace by name, else the project's folder."""

    client_session: str
    own_session: str
    workspace: str | None
    folder: Path | None

    def caller(self, asker: Asker, workspace: str | None) -> Caller:
        """The caller that a use case sees."""
        session_id = self.client_session or asker.thread or self.own_session
        return Caller(asker.actor, workspace, session_id, asker.client)


def asker_of(context: ServerRequestContext[Any, Any]) -> Asker:
    """Who sent a request, in either era of the protocol."""
    params = context.session.client_params
    name = _short(params.client_info.name, _MAX_NAME_CHARS) if params else ""
    thread = (context.meta or {}).get(_THREAD_KEY)
    known = _short(thread, _MAX_SESSION_CHARS) if isinstance(thread, str) else ""
    return Asker(name or None, known or None)


def surroundings_of(environ: Mapping[str, str], *, in_folder: bool = True) -> Surroundings:
    """The surroundings of a new server; not ``in_folder``: it serves clients of any project."""
    session = next((environ[name] for name in _SESSION_VARIABLES if environ.get(name)), "")
    return Surroundings(
        client_session=_short(session, _MAX_SESSION_CHARS),
        own_session=str(uuid.uuid4()),
        workspace=_short(environ.get("JIYI_WORKSPACE", ""), _MAX_SESSION_CHARS) or None,
        folder=_folder(environ) if in_folder else None,
    )


def _folder(environ: Mapping[str, str]) -> Path | None:
    named = environ.get("CLAUDE_PROJECT_DIR", "").strip()
    try:
        return Path(named).absolute() if named else Path.cwd()
    except OSError:  # the current folder was deleted
        return None


def _short(text: str, limit: int) -> str:
    return " ".join(scrub(text).split())[:limit]
