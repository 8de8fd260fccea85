"""Connections: the models, the processes that have the store open, and how to add a client."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.domain.times import minute_with_offset
from web_panel.answers import Body, action, data, engine_of, page, sentence

_TEST_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Snippet:
    """What to put where, to let a client use the store."""

    name: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class OpenProcess:
    """A process that has the store open, as people see it; ``newest``: with the settings in
    force now."""

    client: str
    pid: int
    version: str
    started: str
    seen: str
    config_version: str
    newest: bool
    here: bool


def connections_page(request: Request) -> Response:
    """Model, processes and snippets."""
    engine = engine_of(request)
    return page(
        request,
        "connections.html",
        model=engine.model_report(),
        processes=_processes(request),
        version=engine.settings.live.version(),
        snippets=_snippets(request),
    )


def processes(request: Request) -> Response:
    """The open processes now."""
    found = [
        {"client": one.client, "pid": one.pid, "newest": one.newest, "seen": one.seen}
        for one in _processes(request)
    ]
    return data({"processes": found})


def try_model(request: Request, body: Body) -> Response:
    """Send one short text to the chosen model, and tell size and speed."""
    tried = engine_of(request).try_model(wait_s=_TEST_WAIT_S)
    said = [sentence(request, one) for one in (tried.problem, tried.notice) if one is not None]
    return data(
        {
            "works": tried.problem is None,
            "model": tried.model,
            "dims": tried.dims,
            "latency_ms": round(tried.latency_ms, 1),
            "said": " ".join(said),
        }
    )


def _processes(request: Request) -> list[OpenProcess]:
    engine = engine_of(request)
    newest, zone = engine.settings.live.version(), engine.context.zone
    return [
        OpenProcess(
            client=row.client or "?",
            pid=row.pid,
            version=row.version,
            started=minute_with_offset(row.started_at, zone)[:16],
            seen=minute_with_offset(row.last_seen, zone)[:16],
            config_version=row.config_version,
            newest=row.config_version == newest,
            here=row.token == engine.context.token,
        )
        for row in engine.open_processes()
    ]


def _snippets(request: Request) -> Sequence[Snippet]:
    home = str(engine_of(request).context.home)
    command = [sys.executable, "-m", "launchers.cli", "mcp"]
    server = {"command": command[0], "args": command[1:], "env": {"JIYI_HOME": home}}
    entry = json.dumps({"mcpServers": {"jiyi": server}}, indent=2, ensure_ascii=False)
    code = json.dumps({"servers": {"jiyi": {"type": "stdio", **server}}}, indent=2)
    quoted = " ".join(f'"{word}"' if " " in word else word for word in command)
    toml = "\n".join(
        (
            "[mcp_servers.jiyi]",
            f"command = {json.dumps(command[0])}",
            f"args = {json.dumps(command[1:])}",
            f"env = {{ JIYI_HOME = {json.dumps(home, ensure_ascii=False)} }}",
        )
    )
    claude = f'claude mcp add --scope user --env JIYI_HOME="{home}" jiyi -- {quoted}'
    return (
        Snippet("Claude Code", "", claude),
        Snippet("Claude Desktop · Cursor · Windsurf", "mcp.json", entry),
        Snippet("Codex", "~/.codex/config.toml", toml),
        Snippet("VS Code · Copilot", ".vscode/mcp.json", code),
    )


ROUTES = [
    Route("/connections", connections_page),
    Route("/connections/processes", processes),
    Route("/connections/try", action(try_model), methods=["POST"]),
]
