"""``jiyi history``, ``journal``, ``undo`` and ``redo``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.differences import ADDED, REMOVED, FieldDifference, Stretch
from engine.domain.errors import InvalidInput
from engine.domain.memory import FieldValue, JournalEntry
from engine.domain.times import iso, parse_duration, parse_instant
from engine.domain.trail import TailFilters
from engine.domain.vocabulary import check
from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.records import journal_record, preview
from launchers.cli.session import Session, open_session

if TYPE_CHECKING:
    from engine.use_cases.undo import Undone

_ACTIONS = ("tail", "show")
_PREVIEW_CHARS = 60
_MARKS = {ADDED: "{+%s+}", REMOVED: "[-%s-]"}


@dataclass(frozen=True, slots=True)
class TailOptions:
    """Which of the last changes to show."""

    limit: Annotated[int, option("--limit", "-n", metavar="1-1000")] = 20
    operation: Annotated[str | None, option("--operation", key="journal_operation")] = None
    actor: Annotated[str | None, option("--actor", key="journal_actor")] = None
    since: Annotated[str | None, option("--since", key="journal_since", metavar="7d|TIME")] = None


def history_command(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="REF", help="cli.argument.ref")],
    general: GeneralOptions,
    diff: Annotated[str | None, option("--diff", key="history_diff", metavar="7d|TIME")] = None,
) -> int:
    """Show what happened to a memory, oldest first, or what differs since a moment."""
    session = open_session(context, general)
    with session.engine() as engine:
        if diff is not None:
            found = engine.journal.differences(ref, past_moment(engine, diff))
            _show_differences(session.output, found)
            return 0
        entries = engine.journal.history(ref)
        _show_entries(session.output, engine, entries)
    return 0


def journal_command(
    context: typer.Context,
    general: GeneralOptions,
    given: TailOptions,
    action: Annotated[
        str, typer.Argument(metavar="[tail|show]", help="cli.argument.journal_action")
    ] = "tail",
    entry: Annotated[
        str | None, typer.Argument(metavar="[ENTRY]", help="cli.argument.journal_entry")
    ] = None,
) -> int:
    """Show what happened last in the store, or one entry whole."""
    session = open_session(context, general)
    chosen = check("action", action, _ACTIONS)
    if (chosen == "show") != (entry is not None):
        raise Misuse("cli.journal.needs_entry")
    with session.engine() as engine:
        if entry is not None:
            _show_one(session.output, engine, entry_number(entry))
            return 0
        moment = None if given.since is None else past_moment(engine, given.since)
        filters = TailFilters(given.operation, given.actor, moment)
        _show_entries(session.output, engine, engine.journal.tail(given.limit, filters))
    return 0


def undo_command(
    context: typer.Context,
    general: GeneralOptions,
    target: Annotated[
        str | None, typer.Argument(metavar="[ENTRY|GROUP]", help="cli.argument.undo_target")
    ] = None,
    memory: Annotated[str | None, option("--memory", key="undo_memory", metavar="REF")] = None,
    dry_run: Annotated[bool, option("--dry-run", key="undo_dry_run")] = False,
) -> int:
    """Take back the last change, or the one named, as far as nothing was changed since."""
    from engine.use_cases.undo import UndoRequest

    session = open_session(context, general)
    request = UndoRequest(memory=memory)
    if target is not None:
        short = target.strip().removeprefix("#")
        request = (
            UndoRequest(entry=int(short), memory=memory)
            if short.isdecimal() and short.isascii() and len(short) < 8
            else UndoRequest(group=short, memory=memory)
        )
    with session.engine() as engine:
        done = engine.journal.undo(session.reader(), request, apply=not dry_run)
        _show_undone(session, engine, done)
    return 0


def redo_command(
    context: typer.Context,
    general: GeneralOptions,
    dry_run: Annotated[bool, option("--dry-run", key="undo_dry_run")] = False,
) -> int:
    """Bring back what was undone last."""
    session = open_session(context, general)
    with session.engine() as engine:
        done = engine.journal.redo(session.reader(), apply=not dry_run)
        _show_undone(session, engine, done)
    return 0


def past_moment(engine: Engine, given: str) -> float:
    """A moment as typed: a duration counts back from now."""
    try:
        return engine.context.clock.now() - parse_duration(given)
    except InvalidInput:
        return parse_instant(given, engine.context.zone)


def entry_number(given: str) -> int:
    """The number of an entry as typed."""
    number = given.strip().removeprefix("#")
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise InvalidInput("error.bad_entry", value=given[:60])
    return int(number)


def _show_entries(output: Output, engine: Engine, entries: Sequence[JournalEntry]) -> None:
    undone = engine.journal.undone_among(entries)
    zone = engine.context.zone
    if output.format == "json":
        records = [
            journal_record(entry, zone) | {"undone": entry.id in undone} for entry in entries
        ]
        output.json({"entries": records})
    elif output.format == "tsv":
        output.tsv(
            (e.id, iso(e.at, zone), e.operation, e.actor, _subject(e), ",".join(e.changes))
            for e in entries
        )
    elif not entries:
        output.note("cli.journal.empty")
    else:
        _table(output, engine, entries, undone)


def _table(
    output: Output, engine: Engine, entries: Sequence[JournalEntry], undone: Collection[int]
) -> None:
    zone = engine.context.zone
    names = ("entry", "time", "operation", "actor", "subject", "fields")
    columns = [
        Column(output.say(f"cli.column.{name}"), wraps=name == "fields", right=name == "entry")
        for name in names
    ]
    rows = [
        (
            entry.id,
            iso(entry.at, zone),
            entry.operation + (output.say("cli.journal.undone_mark") if entry.id in undone else ""),
            entry.actor,
            _subject(entry),
            ", ".join(entry.changes),
        )
        for entry in entries
    ]
    output.table(columns, rows)


def _show_one(output: Output, engine: Engine, number: int) -> None:
    view, zone = engine.journal.entry(number), engine.context.zone
    entry = view.entry
    if output.format == "json":
        output.json(
            journal_record(entry, zone) | {"group_size": view.group_size, "undone": view.undone}
        )
        return
    heading = (entry.id, iso(entry.at, zone), entry.operation, entry.actor, _subject(entry))
    rows = [(name, _shown(old), _shown(new)) for name, (old, new) in entry.changes.items()]
    if output.format == "tsv":
        output.tsv([heading, *rows])
        return
    output.line("  ".join(map(str, heading)))
    output.note("cli.journal.group", group=entry.group_uid, count=view.group_size)
    if view.undone:
        output.note("cli.journal.is_undone")
    names = ("fields", "before", "after")
    output.table([Column(output.say(f"cli.column.{n}"), wraps=True) for n in names], rows)


def _show_differences(output: Output, found: Sequence[FieldDifference]) -> None:
    if output.format == "json":
        output.json(
            [
                {
                    "field": item.name,
                    "before": item.before,
                    "after": item.after,
                    "parts": [{"change": s.change, "text": s.text} for s in item.stretches],
                }
                for item in found
            ]
        )
    elif not found:
        output.note("cli.journal.same")
    else:
        for item in found:
            shown = "".join(map(_marked, item.stretches))
            output.line(f"{item.name}: {shown or _shown(item.before) + ' → ' + _shown(item.after)}")


def _show_undone(session: Session, engine: Engine, done: Undone) -> None:
    output, zone = session.output, engine.context.zone
    if output.format == "json":
        output.json(
            {
                "operation": done.operation,
                "group": done.group_uid,
                "applied": done.applied,
                "memories": list(done.memory_ids),
                "left_out": done.left_out,
                "entries": [journal_record(entry, zone) for entry in done.entries],
            }
        )
        return
    if output.format == "tsv":
        output.tsv((e.id, e.operation, _subject(e), ",".join(e.changes)) for e in done.entries)
        return
    newest = done.entries[0]
    key = f"cli.journal.{done.operation}{'' if done.applied else '_preview'}"
    what = f"{newest.operation} {_subject(newest)}"
    output.line(output.say(key, what=what, at=iso(newest.at, zone), count=len(done.entries)))
    if len(done.memory_ids) == 1 and done.applied:
        now = engine.browsing.memories(done.memory_ids)
        output.line(
            "  ".join(preview(memory.text, _PREVIEW_CHARS, output) for memory in now.values())
        )


def _subject(entry: JournalEntry) -> str:
    """What an entry is about, as people name it."""
    if entry.subject_kind == "memory":
        return f"#{entry.subject_id}"
    if entry.subject_kind == "link":
        return f"#{entry.subject_id} → #{entry.other_id}"
    if entry.subject_kind == "fact":
        return f"f{entry.subject_id}"
    if entry.subject_kind == "node":
        return entry.subject_uid
    return entry.subject_kind + (f" {entry.subject_id}" if entry.subject_id else "")


def _shown(value: FieldValue) -> str:
    if value is None:
        return "–"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _marked(stretch: Stretch) -> str:
    return _MARKS.get(stretch.change, "%s") % stretch.text
