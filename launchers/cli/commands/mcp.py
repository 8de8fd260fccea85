"""``jiyi mcp``, when it is asked for in another way than assistants do."""

from __future__ import annotations

from typing import Annotated

import typer

from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.server_start import ServerStart, serve, serve_over_http
from launchers.cli.session import open_session


def mcp_command(
    context: typer.Context,
    general: GeneralOptions,
    toolsets: Annotated[str | None, option("--toolsets", metavar="core,…")] = None,
    http: Annotated[bool, option("--http")] = False,
    host: Annotated[str | None, option("--host", key="http_host", metavar="ADDRESS")] = None,
    port: Annotated[int | None, option("--port", key="http_port", metavar="N")] = None,
) -> int:
    """Serve on standard input and output until the client ends, or over HTTP until ended."""
    session = open_session(context, general)
    options = session.options
    start = ServerStart(options.home or "", options.workspace or "", toolsets or "")
    if http:
        return serve_over_http(start, session, host, port)
    if host is not None or port is not None:
        raise Misuse("http.needs_http")
    return serve(start, session.environ)
