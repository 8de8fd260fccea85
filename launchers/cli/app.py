"""The tree of commands, built for one run."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_command

from engine import VERSION
from engine.config.messages import text
from launchers.cli.commands import COMMANDS
from launchers.cli.expansion import expanded
from launchers.cli.help import show_help
from launchers.cli.options import GENERAL_NAMES, GeneralOptions, option

_NO_HELP_OPTION: dict[object, object] = {"help_option_names": []}


def build(names: Iterable[str]) -> TyperGroup:
    """The commands called ``names`` under ``jiyi``; their help texts are message keys."""
    app = typer.Typer(
        name="jiyi",
        help="cli.help.jiyi",
        pretty_exceptions_enable=False,
        context_settings=_NO_HELP_OPTION,
    )
    app.callback(invoke_without_command=True)(expanded(_root))
    for name in names:
        module = importlib.import_module(f"launchers.cli.commands.{COMMANDS[name]}")
        command = expanded(getattr(module, f"{name.replace('-', '_')}_command"))
        app.command(name, help=f"cli.help.{name}", context_settings=_NO_HELP_OPTION)(command)
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for parameter in group.params:
        # Typer's own options speak English only.
        if parameter.name in ("install_completion", "show_completion"):
            setattr(parameter, "help", f"cli.option.{parameter.name}")  # noqa: B010
    return group


def localize(group: TyperGroup, language: str) -> None:
    """Turn message keys into sentences, for shells that show help while completing."""
    for command in (group, *group.commands.values()):
        command.help = text(command.help or "", language)
        for parameter in command.params:
            if isinstance(key := getattr(parameter, "help", None), str):
                setattr(parameter, "help", text(key, language))  # noqa: B010


def _root(
    context: typer.Context,
    general: GeneralOptions,
    show_version: Annotated[bool, option("--version", key="version")] = False,
) -> int:
    if show_version:
        typer.echo(f"jiyi {VERSION}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        show_help(context, GENERAL_NAMES)
    return 0
