"""``jiyi panel``: the web panel."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING, Annotated

import typer

from engine.domain.errors import JiyiError
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Output
from launchers.cli.session import open_session

if TYPE_CHECKING:
    from web_panel.server import Opening


def panel_command(
    context: typer.Context,
    general: GeneralOptions,
    port: Annotated[int | None, option("--port", key="panel_port", metavar="N")] = None,
    no_browser: Annotated[bool, option("--no-browser", key="no_browser")] = False,
) -> int:
    """Set, watch and tend the memory in a browser."""
    session = open_session(context, general)
    try:
        from web_panel import server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith(("web_panel", "engine", "launchers")):
            raise
        raise JiyiError("cli.panel.missing") from error
    running = server.find_running(session.home)
    if running is not None:
        _tell(session.output, running, browser=not no_browser)
        return 0
    with session.engine() as engine:
        engine.start_background("panel")
        wanted = engine.context.settings.panel.port if port is None else port
        server.serve(
            engine, wanted, lambda found: _tell(session.output, found, browser=not no_browser)
        )
    return 0


def _tell(output: Output, opening: Opening, *, browser: bool) -> None:
    """One line with the address on the output; all else is a note beside it."""
    if output.format == "json":
        output.json({"url": opening.url, "port": opening.port, "already": opening.already})
    else:
        output.line(opening.url)
    if opening.already:
        output.note("cli.panel.already", port=opening.port)
    elif opening.wanted is not None:
        output.note("cli.panel.other_port", wanted=opening.wanted, port=opening.port)
    if browser and not webbrowser.open(opening.url):
        output.note("cli.panel.no_browser")
