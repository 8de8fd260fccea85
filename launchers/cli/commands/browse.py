"""``jiyi list`` and ``jiyi show``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.ids import short_uid
from engine.domain.memory import Memory
from engine.domain.times import iso
from launchers.cli.commands.journal import past_moment
from launchers.cli.options import FilterOptions, GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.records import (
    journal_record,
    memory_record,
    preview,
    shown_day,
    shown_state,
)
from launchers.cli.requests import filters
from launchers.cli.session import open_session

_PREVIEW_CHARS = 100
_HIDDEN = ("text", "content_hash")


def list_command(
    context: typer.Context,
    general: GeneralOptions,
    narrowing: FilterOptions,
    limit: Annotated[int, option("--limit", "-n", metavar="1-1000")] = 20,
    cursor: Annotated[str | None, option("--cursor")] = None,
    trash: Annotated[bool, option("--trash")] = False,
) -> int:
    """Show memories, newest first."""
    session = open_session(context, general)
    with session.engine() as engine:
        wanted = filters(engine, session, narrowing, trash=trash)
        page = engine.list(wanted, limit=limit, cursor=cursor)
        _show_list(session.output, engine, page.memories)
        if session.output.format == "json":
            now, zone = engine.context.clock.now(), engine.context.zone
            records = [memory_record(memory, now, zone) for memory in page.memories]
            session.output.json(
                {"memories": records, "total": page.total, "next_cursor": page.next_cursor}
            )
        elif not page.memories:
            session.output.note("cli.list_empty_trash" if trash else "cli.list_empty")
        elif page.next_cursor:
            session.output.note("cli.more", total=page.total, cursor=page.next_cursor)
    return 0


def show_command(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="REF", help="cli.argument.ref")],
    general: GeneralOptions,
    text_only: Annotated[bool, option("--text", key="text_only")] = False,
    history: Annotated[bool, option("--history")] = False,
    at: Annotated[str | None, option("--at", key="show_at", metavar="7d|TIME")] = None,
) -> int:
    """Show one memory whole, in whatever state it is."""
    session = open_session(context, general)
    output = session.output
    with session.engine() as engine:
        memory = engine.get(ref, touch=True) if at is None else _past(engine, ref, at)
        if text_only:
            output.exact(memory.text)
        elif output.format == "json":
            output.json(_record(engine, memory, with_history=history))
        elif output.format == "tsv":
            output.tsv(_pairs(engine, memory))
        else:
            _page(output, engine, memory)
        if history and output.format != "json" and not text_only:
            _show_history(output, engine, ref)
    return 0


def _past(engine: Engine, ref: str, at: str) -> Memory:
    return engine.journal.get_at(ref, past_moment(engine, at))


def _show_list(output: Output, engine: Engine, memories: tuple[Memory, ...]) -> None:
    now, zone = engine.context.clock.now(), engine.context.zone
    if output.format == "tsv":
        output.tsv(
            (f"#{m.id}", shown_day(m, zone), m.workspace, m.kind, m.state(now), m.text)
            for m in memories
        )
    elif output.format == "table" and memories:
        columns = (
            Column("#", right=True),
            Column(output.say("cli.column.date")),
            Column(output.say("cli.column.workspace")),
            Column(output.say("cli.column.kind")),
            Column(output.say("cli.column.text"), wraps=True),
        )
        rows = [
            (
                f"#{m.id}",
                shown_day(m, zone),
                m.workspace,
                m.kind,
                shown_state(m.state(now), output) + preview(m.text, _PREVIEW_CHARS, output),
            )
            for m in memories
        ]
        output.table(columns, rows)


def _record(engine: Engine, memory: Memory, *, with_history: bool) -> dict[str, object]:
    zone = engine.context.zone
    record = memory_record(memory, engine.context.clock.now(), zone)
    if with_history:
        entries = engine.history(memory.id)
        record["history"] = [journal_record(entry, zone) for entry in entries]
    return record


def _pairs(engine: Engine, memory: Memory) -> Iterator[tuple[str, str]]:
    record = memory_record(memory, engine.context.clock.now(), engine.context.zone)
    for name, value in record.items():
        yield name, _plain(value)


def _page(output: Output, engine: Engine, memory: Memory) -> None:
    state = memory.state(engine.context.clock.now())
    title = f"#{memory.id}  {short_uid(memory.uid)}  {shown_state(state, output)}"
    output.line(title.rstrip())
    rows = [
        (name, value)
        for name, value in _pairs(engine, memory)
        if value and name not in _HIDDEN and name not in ("id", "state")
    ]
    output.table((Column(""), Column("", wraps=True)), rows)
    output.line()
    output.line(memory.text)


def _show_history(output: Output, engine: Engine, ref: str) -> None:
    zone = engine.context.zone
    entries = engine.history(ref)
    rows = [
        (iso(entry.at, zone), entry.operation, entry.actor, ", ".join(entry.changes))
        for entry in entries
    ]
    if output.format == "tsv":
        output.tsv(("history", *row) for row in rows)
        return
    headings = ("time", "operation", "actor", "fields")
    output.line()
    output.table(
        [Column(output.say(f"cli.column.{name}"), wraps=name == "fields") for name in headings],
        rows,
    )


def _plain(value: object) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "true"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value)
