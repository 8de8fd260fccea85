"""``jiyi mcp``, when it is asked for in another way than assistants do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.server_start import ServerStart, check_server, serve, serve_over_http
from launchers.cli.session import open_session


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Whether to serve over HTTP, and where."""

    http: Annotated[bool, option("--http")] = False
    host: Annotated[str | None, option("--host", key="http_host", metavar="ADDRESS")] = None
    port: Annotated[int | None, option("--port", key="http_port", metavar="N")] = None


def mcp_command(
    context: typer.Context,
    general: GeneralOptions,
    given: HttpOptions,
    toolsets: Annotated[str | None, option("--toolsets", metavar="core,…")] = None,
    check: Annotated[bool, option("--check", key="mcp_check")] = False,
) -> int:
    """Serve on standard input and output until the client ends, or over HTTP until ended."""
    session = open_session(context, general)
    options = session.options
    start = ServerStart(options.home or "", options.workspace or "", toolsets or "")
    if check:
        return check_server(start, session)
    if given.http:
        return serve_over_http(start, session, given.host, given.port)
    if given.host is not None or given.port is not None:
        raise Misuse("http.needs_http")
    return serve(start, session.environ)
