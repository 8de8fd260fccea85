"""The options that several commands share. Each ``help`` is the key of a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.models import OptionInfo

from engine.use_cases.memorize import AUTO
from launchers.cli.help import show_help


def _show_help(context: typer.Context, wanted: bool) -> None:
    if wanted:
        show_help(context, GENERAL_NAMES)
        raise typer.Exit()


def option(
    name: str,
    *others: str,
    key: str = "",
    metavar: str | None = None,
    parser: Callable[[str], object] | None = None,
) -> OptionInfo:
    """An option whose help is the message ``cli.option.<key>`` (by default its own name)."""
    own = key or name.lstrip("-").replace("-", "_")
    found: OptionInfo = typer.Option(
        name, *others, help=f"cli.option.{own}", metavar=metavar, show_default=False, parser=parser
    )
    return found


def read_importance(value: str) -> float | str:
    """A number, or the word that asks for the rules."""
    word = value.strip().casefold()
    try:
        return word if word == AUTO else float(word)
    except ValueError:
        raise typer.BadParameter("not a number") from None


@dataclass(frozen=True, slots=True)
class GeneralOptions:
    """Options of every command, before or after its name."""

    home: Annotated[str | None, option("--home", metavar="DIR")] = None
    workspace: Annotated[str | None, option("--workspace", "-w", metavar="NAME")] = None
    scope: Annotated[str | None, option("--scope", metavar="workspace|domain|all")] = None
    format: Annotated[str | None, option("--format", metavar="table|tsv|json")] = None
    json: Annotated[bool, option("--json")] = False
    lang: Annotated[str | None, option("--lang", metavar="zh|en")] = None
    help: Annotated[
        bool,
        typer.Option(
            "--help",
            "-h",
            help="cli.option.help",
            is_eager=True,
            callback=_show_help,
            expose_value=True,
            show_default=False,
        ),
    ] = False


GENERAL_NAMES = tuple(GeneralOptions.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class FieldOptions:
    """The authored fields of a memory, apart from its text. ``None``: not given."""

    kind: Annotated[str | None, option("--kind")] = None
    topic: Annotated[list[str] | None, option("--topic")] = None
    participant: Annotated[list[str] | None, option("--participant")] = None
    fact: Annotated[list[str] | None, option("--fact")] = None
    tag: Annotated[list[str] | None, option("--tag")] = None
    importance: Annotated[
        object, option("--importance", metavar="0-1|auto", parser=read_importance)
    ] = None
    summary: Annotated[str | None, option("--summary")] = None
    persona_summary: Annotated[str | None, option("--persona-summary")] = None
    sentiment: Annotated[str | None, option("--sentiment", metavar="positive|neutral|negative")] = (
        None
    )
    polarity: Annotated[int | None, option("--polarity", metavar="-1|0|1")] = None
    pin: Annotated[bool | None, option("--pin/--no-pin", key="pin")] = None
    private: Annotated[bool | None, option("--private/--no-private", key="private")] = None
    source: Annotated[str | None, option("--source")] = None
    source_ref: Annotated[str | None, option("--source-ref")] = None
    trust: Annotated[str | None, option("--trust", metavar="user|assistant|external")] = None
    event_time: Annotated[str | None, option("--event-time", metavar="TIME")] = None
    ttl: Annotated[str | None, option("--ttl", metavar="7d")] = None
    expires_at: Annotated[str | None, option("--expires-at", metavar="TIME")] = None
    detail: Annotated[list[str] | None, option("--detail", metavar="NAME=VALUE")] = None


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What narrows a recall or a list."""

    kind: Annotated[list[str] | None, option("--kind", key="only_kind")] = None
    tag: Annotated[list[str] | None, option("--tag", key="only_tag")] = None
    any_tag: Annotated[list[str] | None, option("--any-tag")] = None
    topic: Annotated[list[str] | None, option("--topic", key="only_topic")] = None
    participant: Annotated[list[str] | None, option("--participant", key="only_participant")] = None
    source: Annotated[list[str] | None, option("--source", key="only_source")] = None
    trust: Annotated[list[str] | None, option("--trust", key="only_trust")] = None
    since: Annotated[str | None, option("--since", metavar="7d|TIME")] = None
    until: Annotated[str | None, option("--until", metavar="TIME")] = None
    time_field: Annotated[str, option("--time-field", metavar="created_at|event_time")] = (
        "created_at"
    )
    min_importance: Annotated[float | None, option("--min-importance", metavar="0-1")] = None
    session: Annotated[str | None, option("--session", key="only_session")] = None
    persona: Annotated[str | None, option("--persona", key="only_persona")] = None
    pinned: Annotated[bool | None, option("--pinned/--not-pinned", key="only_pinned")] = None
    include_expired: Annotated[bool, option("--include-expired")] = False
    include_superseded: Annotated[bool, option("--include-superseded")] = False
    no_archived: Annotated[bool, option("--no-archived")] = False
