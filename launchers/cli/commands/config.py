"""``jiyi config``: the settings in force, where each value comes from, and setting one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Annotated

import typer

from engine.config.editing import set_value
from engine.config.live import LiveSettings
from engine.config.reference import SettingRow, setting_rows
from engine.domain.errors import ConfigInvalid, NotFound
from engine.domain.vocabulary import nearest
from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session

PATH = "path"
SET = "set"


def config_command(
    context: typer.Context,
    general: GeneralOptions,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY|path|set KEY VALUE]", help="cli.argument.key"),
    ] = None,
) -> int:
    """Show settings: all, one, a section, or where the file is; or set one."""
    session = open_session(context, general)
    output, home = session.output, session.home
    live = LiveSettings(home, session.environ)
    key, more = (words[0], words[1:]) if words else (None, [])
    if key == SET:
        return _set(output, live, more)
    if more:
        raise Misuse("cli.usage.surplus", words=" ".join(more))
    if key == PATH:
        output.line(str(live.path))
        if not live.path.exists():
            output.note("cli.no_config_file")
        return 0
    return _report(output, live, key)


def _report(output: Output, live: LiveSettings, key: str | None) -> int:
    rows = _chosen(setting_rows(live, output.language), key)
    problems = [error for error in (live.problem, *live.warnings) if error is not None]
    _show(output, live, rows, problems, one=key is not None and len(rows) == 1)
    return 1 if live.problem else 0


def _set(output: Output, live: LiveSettings, words: Sequence[str]) -> int:
    """Change one line of the file, and show what holds from now on."""
    if len(words) != 2:
        raise Misuse("cli.set_needs_both")
    key, value = words
    row = _one(_chosen(setting_rows(live, output.language), key), key)
    set_value(live.path, row.key, value)
    code = _report(output, live, row.key)
    (row,) = _chosen(setting_rows(live, output.language), row.key)
    if row.source not in ("default", "file"):
        output.note("cli.set_overridden", variable=row.source)
    elif code == 0:
        acts = output.say(f"cli.acts.{row.acts}")
        output.note("cli.set_done", name=row.key, value=row.value, acts=acts, path=live.path)
    return code


def _one(rows: Sequence[SettingRow], key: str) -> SettingRow:
    if rows[0].key != key.strip().casefold():
        raise Misuse("cli.set_one", name=key[:60], nearest=rows[0].key)
    return rows[0]


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
