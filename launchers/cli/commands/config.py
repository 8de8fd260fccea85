"""``jiyi config``: the settings in force, and where each value comes from."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Annotated

import typer

from engine.config.live import LiveSettings
from engine.config.reference import SettingRow, setting_rows
from engine.domain.errors import ConfigInvalid, NotFound
from engine.domain.vocabulary import nearest
from launchers.cli.options import GeneralOptions
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session

PATH = "path"


def config_command(
    context: typer.Context,
    general: GeneralOptions,
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY|path]", help="cli.argument.key")
    ] = None,
) -> int:
    """Show settings: all, one, a section, or where the file is."""
    session = open_session(context, general)
    output, home = session.output, session.home
    live = LiveSettings(home, session.environ)
    if key == PATH:
        output.line(str(live.path))
        if not live.path.exists():
            output.note("cli.no_config_file")
        return 0
    rows = _chosen(setting_rows(live, output.language), key)
    problems = [error for error in (live.problem, *live.warnings) if error is not None]
    _show(output, live, rows, problems, one=key is not None and len(rows) == 1)
    return 1 if live.problem else 0


def _chosen(rows: tuple[SettingRow, ...], key: str | None) -> list[SettingRow]:
    if key is None:
        return list(rows)
    wanted = key.strip().casefold()
    found = [row for row in rows if row.key == wanted or row.key.startswith(f"{wanted}.")]
    if found:
        return found
    near = nearest(wanted, [row.key for row in rows])
    raise NotFound(
        "cli.unknown_setting_near" if near else "cli.unknown_setting", name=key[:60], nearest=near
    )


def _show(
    output: Output,
    live: LiveSettings,
    rows: list[SettingRow],
    problems: list[ConfigInvalid],
    *,
    one: bool,
) -> None:
    if output.format == "json":
        output.json(
            {
                "path": str(live.path),
                "settings": [asdict(row) for row in rows],
                "problems": [output.sentence(problem) for problem in problems],
            }
        )
        return
    if output.format == "tsv":
        output.tsv((row.key, row.value, row.default, row.source) for row in rows)
    elif one:
        _details(output, rows[0])
    else:
        _table(output, live, rows)
    for problem in problems:
        output.error(problem)


def _table(output: Output, live: LiveSettings, rows: list[SettingRow]) -> None:
    names = ("key", "value", "default", "source", "range", "acts", "help")
    wrapping = ("range", "help")
    columns = [Column(output.say(f"cli.column.{name}"), wraps=name in wrapping) for name in names]
    output.table(columns, [[_cell(output, row, name) for name in names] for row in rows])
    output.note("cli.config_file", path=live.path)


def _details(output: Output, row: SettingRow) -> None:
    names = [field.name for field in fields(row) if field.name != "group"]
    pairs = [(output.say(f"cli.column.{name}"), _cell(output, row, name)) for name in names]
    output.table((Column(""), Column("", wraps=True)), pairs)


def _cell(output: Output, row: SettingRow, name: str) -> str:
    value = str(getattr(row, name))
    if name == "acts" or (name == "source" and value in ("default", "file")):
        return output.say(f"cli.{name}.{value}")
    return value
