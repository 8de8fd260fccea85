"""``jiyi mcp``, when it is asked for in another way than assistants do."""

from __future__ import annotations

from typing import Annotated

import typer

from launchers.cli.options import GeneralOptions, option
from launchers.cli.server_start import ServerStart, serve
from launchers.cli.session import open_session


def mcp_command(
    context: typer.Context,
    general: GeneralOptions,
    toolsets: Annotated[str | None, option("--toolsets", metavar="core,…")] = None,
) -> int:
    """Serve on standard input and output until the client ends."""
    session = open_session(context, general)
    options = session.options
    start = ServerStart(options.home or "", options.workspace or "", toolsets or "")
    return serve(start, session.environ)
