"""``jiyi tui``: the terminal browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from engine.config.messages import Language
from engine.domain.errors import JiyiError
from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions
from launchers.cli.session import Session, open_session

if TYPE_CHECKING:
    from memory_tui.app import Browser


def tui_command(context: typer.Context, general: GeneralOptions) -> int:
    """Read and edit memories on the whole terminal."""
    session = open_session(context, general)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse("cli.tui.no_terminal")
    try:
        from memory_tui.app import Browser
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("textual"):
            raise
        raise JiyiError("cli.tui.missing") from error
    return _browse(session, Browser)


def _browse(session: Session, browser: type[Browser]) -> int:
    language: Language = "zh" if session.output.language == "zh" else "en"
    with session.engine() as engine:
        engine.start_background("tui")
        app = browser(engine, language)
        app.run()
        if app.failure is not None:
            # The terminal is as it was before; the fault is told like that of any command.
            raise app.failure
        return app.return_code or 0
