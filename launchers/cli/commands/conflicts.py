"""``jiyi conflicts`` and ``jiyi consolidate``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from engine.bootstrap import Engine
from launchers.cli import streams
from launchers.cli.failures import Misuse
from launchers.cli.options import FilterOptions, GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.records import preview
from launchers.cli.requests import filters
from launchers.cli.session import Session, open_session
from launchers.cli.work import progress_bars

if TYPE_CHECKING:
    from engine.domain.links import ClashingPair
    from engine.use_cases.conflicts import Conflicts
    from engine.use_cases.consolidate import Consolidated, Merge

_PREVIEW_CHARS = 60
_CHOICES = ("b", "s", "m", "n", "q")


@dataclass(frozen=True, slots=True)
class ConflictOptions:
    """How conflicts are shown."""

    limit: Annotated[int, option("--limit", "-n", key="limit")] = 100
    settle: Annotated[bool, option("--settle")] = False


def conflicts_command(
    context: typer.Context,
    general: GeneralOptions,
    narrowing: FilterOptions,
    given: ConflictOptions,
    ref: Annotated[
        str | None, typer.Argument(metavar="[REF]", help="cli.argument.conflict_ref")
    ] = None,
) -> int:
    """Memories that repeat or contradict each other."""
    from engine.use_cases.conflicts import ConflictQuery

    session = open_session(context, general)
    if given.settle and (sys.stdin is None or not sys.stdin.isatty()):
        raise Misuse("cli.conflicts.needs_terminal")
    with session.engine() as engine:
        wanted = filters(engine, session, narrowing)
        with progress_bars(session.output) as show:
            query = ConflictQuery(ref, wanted, given.limit)
            found = engine.links.conflicts(query, partial(show, "", "compare"))
        if given.settle:
            return _settle(session, engine, found.pairs)
    _show(session.output, found)
    return 0


def consolidate_command(
    context: typer.Context,
    general: GeneralOptions,
    narrowing: FilterOptions,
    apply: Annotated[bool, option("--apply", key="apply_merges")] = False,
) -> int:
    """Merge memories that say the same; only shown without ``--apply``."""
    session = open_session(context, general)
    with session.engine() as engine:
        wanted = filters(engine, session, narrowing)
        with progress_bars(session.output) as show:
            done = engine.links.consolidate(
                wanted,
                session.reader(),
                apply=apply,
                on_progress=partial(show, "", "compare"),
            )
    _show_merges(session.output, done, applied=apply)
    return 0


def _show(output: Output, found: Conflicts) -> None:
    if output.format == "json":
        pairs = [_record(pair) for pair in found.pairs]
        output.json({"conflicts": pairs, "total": found.total, "scanned": found.scanned})
    elif output.format == "tsv":
        output.tsv(_cells(pair, output) for pair in found.pairs)
    elif not found.pairs:
        output.note("cli.conflicts.none", count=found.scanned)
    else:
        columns = (
            Column(output.say("cli.column.conflict")),
            Column(output.say("cli.column.older"), right=True),
            Column(output.say("cli.column.newer"), right=True),
            Column(output.say("cli.column.text"), wraps=True),
        )
        output.table(columns, [_cells(pair, output) for pair in found.pairs])
        output.note("cli.conflicts.found", count=found.total, scanned=found.scanned)


def _cells(pair: ClashingPair, output: Output) -> tuple[str, ...]:
    older = preview(pair.older.text, _PREVIEW_CHARS, output)
    newer = preview(pair.newer.text, _PREVIEW_CHARS, output)
    kind = output.say(f"cli.conflicts.{pair.verdict}")
    return kind, f"#{pair.older.id}", f"#{pair.newer.id}", f"{older} / {newer}"


def _record(pair: ClashingPair) -> dict[str, object]:
    return {
        "verdict": pair.verdict,
        "reason": pair.reason,
        "similarity": pair.similarity,
        "older": {"id": pair.older.id, "text": pair.older.text, "part": pair.old_part},
        "newer": {"id": pair.newer.id, "text": pair.newer.text, "part": pair.new_part},
    }


def _settle(session: Session, engine: Engine, pairs: Sequence[ClashingPair]) -> int:
    """Ask about one pair after the other: keep both, supersede, merge, skip."""
    output, gone = session.output, set[int]()
    for pair in pairs:
        if {pair.older.id, pair.newer.id} & gone:
            continue
        output.line("\t".join(_cells(pair, output)))
        choice = _asked(output)
        if choice == "q":
            break
        gone |= _done(session, engine, pair, choice)
    return 0


def _done(session: Session, engine: Engine, pair: ClashingPair, choice: str) -> set[int]:
    """Do what was chosen; return the memories that are out of sight now."""
    caller, links = session.reader(), engine.links
    if choice == "b":
        relation = "contradicts" if pair.verdict == "contradiction" else "related"
        links.link(pair.newer.id, pair.older.id, caller, relation=relation)
    elif choice == "s":
        links.supersede(pair.older.id, pair.newer.id, caller)
        return {pair.older.id}
    elif choice == "m":
        links.merge(pair.newer.id, pair.older.id, caller)
        return {pair.older.id}
    return set()


def _asked(output: Output) -> str:
    while True:
        sys.stderr.write(streams.visible(output.say("cli.conflicts.ask")) + " ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().casefold()[:1] if line else "q"
        if answer in _CHOICES:
            return answer


def _show_merges(output: Output, done: Consolidated, *, applied: bool) -> None:
    if output.format == "json":
        output.json(
            {
                "applied": applied,
                "groups": [_merge_record(group) for group in done.groups],
                "trashed": done.trashed,
                "scanned": done.scanned,
                "skipped": done.skipped,
                "group": done.group_uid,
            }
        )
    elif output.format == "tsv":
        output.tsv(_merge_cells(group, output) for group in done.groups)
    elif not done.groups:
        output.note("cli.consolidate.none", count=done.scanned)
    else:
        columns = (
            Column(output.say("cli.column.stays"), right=True),
            Column(output.say("cli.column.goes")),
            Column(output.say("cli.column.text"), wraps=True),
        )
        output.table(columns, [_merge_cells(group, output) for group in done.groups])
        key = "cli.consolidate.done" if applied else "cli.consolidate.would"
        output.note(key, count=len(done.groups), trashed=done.trashed)


def _merge_cells(group: Merge, output: Output) -> tuple[str, ...]:
    goes = " ".join(f"#{memory.id}" for memory in group.merged)
    return f"#{group.survivor.id}", goes, preview(group.survivor.text, _PREVIEW_CHARS, output)


def _merge_record(group: Merge) -> dict[str, object]:
    return {
        "survivor": group.survivor.id,
        "merged": [memory.id for memory in group.merged],
        "gains": dict(group.gains),
        "links": [
            {"from": link.source_id, "to": link.target_id, "relation": link.relation}
            for link in group.links
        ],
        "text": group.survivor.text,
    }
