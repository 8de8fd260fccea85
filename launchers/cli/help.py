"""Help pages in the user's language, aligned also where characters are wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import typer

from launchers.cli.commands import COMMANDS
from launchers.cli.output import Column, Output

_PANELS = ("arguments", "options", "general")


def show_help(context: typer.Context, general_names: Sequence[str]) -> None:
    """Print the page of the command that ``context`` belongs to."""
    output = Output("table", context.find_root().obj.language)
    command, is_root = context.command, context.parent is None
    output.line(output.say("cli.usage_line", usage=_usage(context, output, is_root=is_root)))
    output.line()
    output.line(f"  {output.say(command.help or '')}")
    if is_root:
        _section(output, "commands", [(name, output.say(f"cli.help.{name}")) for name in COMMANDS])
    for panel in _PANELS:
        rows = [
            _row(output, parameter)
            for parameter in command.params
            if _panel(parameter, general_names) == panel
        ]
        _section(output, panel, rows)


def _usage(context: typer.Context, output: Output, *, is_root: bool) -> str:
    words = [context.command_path, output.say("cli.usage_options")]
    words += [output.say("cli.usage_command")] if is_root else list(_arguments(context))
    return " ".join(words)


def _arguments(context: typer.Context) -> Iterator[str]:
    for parameter in context.command.params:
        if parameter.param_type_name == "argument":
            yield f"{_metavar(parameter)}{'…' if parameter.nargs == -1 else ''}"


def _panel(parameter: object, general_names: Sequence[str]) -> str:
    if getattr(parameter, "param_type_name", "") == "argument":
        return "arguments"
    return "general" if getattr(parameter, "name", "") in general_names else "options"


def _row(output: Output, parameter: object) -> tuple[str, str]:
    flags = [*getattr(parameter, "opts", ()), *getattr(parameter, "secondary_opts", ())]
    if getattr(parameter, "param_type_name", "") == "argument":
        flags = []
    short_first = sorted(flags, key=len)
    words = [", ".join(short_first), _metavar(parameter)]
    return " ".join(filter(None, words)), output.say(getattr(parameter, "help", "") or "")


def _metavar(parameter: object) -> str:
    shown = getattr(parameter, "metavar", None)
    if shown or getattr(parameter, "is_flag", False):
        return str(shown or "")
    return str(getattr(parameter, "name", "")).upper().replace("_", "-")


def _section(output: Output, name: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        output.line()
        output.line(output.say(f"cli.panel.{name}"))
        output.table((Column(""), Column(""), Column("", wraps=True)), [("", *row) for row in rows])
