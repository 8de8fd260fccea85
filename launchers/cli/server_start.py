"""Starting the MCP server, with or without the machinery of the other commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.config.home import resolve_home
from engine.domain.errors import JiyiError
from launchers.cli.streams import native_path, repaired
from launchers.clients.command import jiyi_command

if TYPE_CHECKING:
    from launchers.cli.session import Session


@dataclass(frozen=True, slots=True)
class ServerStart:
    """How the server was asked for; empty: not given."""

    home: str = ""
    workspace: str = ""
    toolsets: str = ""


def plain_start(arguments: Sequence[str]) -> ServerStart | None:
    """The start that ``mcp [--home DIR] [--workspace NAME] [--toolsets a,b]`` asks for.

    ``None`` for anything else, which the full command line understands or explains. A bare
    start is what clients do, many times a day, so it does not load that machinery.
    """
    if list(arguments[:1]) != ["mcp"]:
        return None
    words = [part for word in repaired(arguments[1:]) for part in _parted(word)]
    given = dict(zip(words[::2], words[1::2], strict=False))
    names = {f"--{name}": name for name in ServerStart.__dataclass_fields__}
    values_look_right = not any(value.startswith("-") for value in given.values())
    if len(words) == 2 * len(given) and given.keys() <= names.keys() and values_look_right:
        return ServerStart(**{names[option]: value for option, value in given.items()})
    return None


def serve(start: ServerStart, environ: Mapping[str, str]) -> int:
    """Serve on standard input and output until the client ends."""
    from engine.mcp_server.server import serve_stdio
    from launchers import logs

    variables = dict(environ)
    if start.workspace:
        variables["JIYI_WORKSPACE"] = start.workspace
    home = native_path(start.home) if start.home else None
    # A home that cannot be used is told to the assistant by the server, not here.
    with suppress(JiyiError):
        level = variables.get("JIYI_LOG__LEVEL", "")
        logs.configure(resolve_home(home, variables), level, warn_on_stderr=True)
    return serve_stdio(home, variables, _names(start.toolsets))


def serve_over_http(
    start: ServerStart, session: Session, host: str | None, port: int | None
) -> int:
    """Serve over HTTP until ended; say where, and what to know of it."""
    from engine.mcp_server.http_server import HOST, Address, Serving, serve_http
    from launchers import logs

    output = session.output
    variables = dict(session.environ)
    if start.workspace:
        variables["JIYI_WORKSPACE"] = start.workspace
    logs.configure(session.home, variables.get("JIYI_LOG__LEVEL", ""), warn_on_stderr=True)

    def tell(serving: Serving) -> None:
        key = "http.serving" if serving.token_file else "http.serving_own_token"
        if output.format == "json":
            output.json({"url": serving.url, "token_file": serving.token_file})
        else:
            output.line(serving.url)
        output.note(key, url=serving.url, file=serving.token_file)
        if host not in (None, "localhost", HOST, "::1"):
            output.note("http.open_to_others")

    address = Address(host or HOST, port)
    return serve_http(session.home_option, variables, _names(start.toolsets), address, tell)


def check_server(start: ServerStart, session: Session) -> int:
    """Start the server as an assistant would, ask it something, and say that it is ready."""
    from engine.mcp_server.probing import ask_server

    command = [*jiyi_command(), "mcp", "--home", str(session.home)]
    if start.toolsets:
        command += ["--toolsets", start.toolsets]
    memories = ask_server(command, {}, session.home.parent)
    if session.output.format == "json":
        session.output.json({"ready": True, "memories": memories, "home": str(session.home)})
    else:
        session.output.line(
            session.output.say("install.ready", memories=memories, home=str(session.home))
        )
    return 0


def _parted(word: str) -> list[str]:
    name, mark, value = word.partition("=")
    return [name, value] if mark and name.startswith("--") else [word]


def _names(toolsets: str) -> tuple[str, ...] | None:
    names = tuple(name for name in (part.strip() for part in toolsets.split(",")) if name)
    return names or None
