"""``jiyi export``, ``jiyi import`` and ``jiyi info``: memories out to files and in from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.bootstrap import Engine
from engine.config.messages import render
from engine.domain.embedding import SpaceIdentity
from engine.domain.scope import Filters
from engine.domain.times import iso
from engine.domain.vocabulary import KINDS, check
from engine.use_cases.time_bounds import time_bounds
from launchers.cli.failures import FAILED
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session
from launchers.cli.streams import native_path
from launchers.cli.work import progress_bars

if TYPE_CHECKING:
    from engine.exchange.records import Unreadable
    from engine.use_cases.import_memories import Imported
    from engine.use_cases.inspect_file import FileReport

_COUNTS = ("new", "same", "changed", "deleted", "written", "pending", "links", "loose", "facts")
_SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What an export takes and how it is written."""

    form: Annotated[str, option("--form", metavar="archive|markdown")] = "archive"
    kind: Annotated[list[str] | None, option("--kind", key="only_kind")] = None
    tag: Annotated[list[str] | None, option("--tag", key="only_tag")] = None
    since: Annotated[str | None, option("--since", metavar="7d|TIME")] = None
    until: Annotated[str | None, option("--until", metavar="TIME")] = None
    no_archived: Annotated[bool, option("--no-archived")] = False
    no_expired: Annotated[bool, option("--no-expired")] = False
    no_superseded: Annotated[bool, option("--no-superseded")] = False
    trash: Annotated[bool, option("--with-trash")] = False
    history: Annotated[bool, option("--with-history")] = False
    no_vectors: Annotated[bool, option("--no-vectors")] = False
    overwrite: Annotated[bool, option("--overwrite")] = False


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file comes in."""

    dry_run: Annotated[bool, option("--dry-run", key="import_dry_run")] = False
    on_collision: Annotated[
        str, option("--on-collision", metavar="skip|overwrite|rename|error")
    ] = "skip"
    reembed: Annotated[bool, option("--reembed")] = False
    revive: Annotated[bool, option("--revive")] = False
    trust: Annotated[
        str | None, option("--trust", key="import_trust", metavar="user|assistant|external")
    ] = None


def export_command(
    context: typer.Context,
    general: GeneralOptions,
    given: ExportOptions,
    path: Annotated[str, typer.Argument(metavar="PATH", help="cli.argument.export_path")],
) -> int:
    """Write memories into an archive or a folder of notes."""
    from engine.use_cases.export_memories import ExportRequest

    session = open_session(context, general)
    output = session.output
    with session.engine() as engine, progress_bars(output) as show:
        request = ExportRequest(
            path=_path(path),
            form=given.form,
            filters=_filters(engine, session, given),
            trash=given.trash,
            vectors=not given.no_vectors,
            history=given.history,
            overwrite=given.overwrite,
        )
        done = engine.transfer.export(request, partial(show, path, "export"))
    if output.format == "json":
        output.json(
            {"path": str(done.path), "form": done.form, "bytes": done.bytes}
            | {"counts": dict(done.counts)}
        )
    elif output.format == "tsv":
        output.tsv(done.counts.items())
    else:
        memories, others = done.counts.get("memory", 0), _others(output, done.counts)
        output.line(output.say("cli.transfer.exported", memories=memories, path=done.path))
        if others:
            output.line(output.say("cli.transfer.exported_more", more=others))
    return 0


def import_command(
    context: typer.Context,
    general: GeneralOptions,
    given: ImportOptions,
    path: Annotated[str, typer.Argument(metavar="PATH", help="cli.argument.import_path")],
) -> int:
    """Read memories from a file or a folder. Fails when nothing could be read of it."""
    from engine.use_cases.import_memories import ImportRequest

    session = open_session(context, general)
    output = session.output
    with session.engine() as engine, progress_bars(output) as show:
        request = ImportRequest(
            path=_path(path),
            collision=given.on_collision,
            reembed=given.reembed,
            revive=given.revive,
            dry_run=given.dry_run,
            workspace=session.options.workspace,
            trust=given.trust,
        )
        on_progress = partial(show, path, "import")
        done = engine.transfer.import_(request, session.reader(), on_progress)
    _show_import(output, done)
    read = done.new + done.same + done.changed + done.deleted + done.links + done.facts
    return FAILED if done.bad and not read else 0


def info_command(
    context: typer.Context,
    general: GeneralOptions,
    path: Annotated[str, typer.Argument(metavar="PATH", help="cli.argument.info_path")],
) -> int:
    """Say what a file holds, without opening the store."""
    from engine.use_cases.inspect_file import inspect_file

    session = open_session(context, general)
    _show_info(session.output, inspect_file(_path(path)))
    return 0


def _path(given: str) -> Path:
    return Path(native_path(given)).expanduser()


def _filters(engine: Engine, session: Session, given: ExportOptions) -> Filters:
    now, zone = engine.context.clock.now(), engine.context.zone
    since, until = time_bounds(given.since, given.until, now, zone)
    return Filters(
        scope=session.scope(engine),
        kinds=tuple(check("--kind", kind, KINDS) for kind in given.kind or ()),
        tags_all=tuple(given.tag or ()),
        since=since,
        until=until,
        include_archived=not given.no_archived,
        include_expired=not given.no_expired,
        include_superseded=not given.no_superseded,
    )


def _others(output: Output, counts: Mapping[str, int]) -> str:
    named = (
        f"{count} {output.say(f'cli.transfer.record.{name}')}"
        for name, count in counts.items()
        if name != "memory" and count
    )
    return ", ".join(named)


def _show_import(output: Output, done: Imported) -> None:
    counts = {name: getattr(done, name) for name in (*_COUNTS, "own_blocks", "bad")}
    if output.format == "json":
        about = {"path": str(done.path), "format": done.format, "encoding": done.encoding}
        rest = {"group": done.group_uid, "problems": _problems(output, done.problems)}
        output.json(about | {"dry_run": done.dry_run} | counts | rest)
        return
    if output.format == "tsv":
        output.tsv(counts.items())
    else:
        if done.dry_run:
            output.line(output.say("cli.transfer.would"))
        rows = [
            (output.say(f"cli.transfer.{name}"), str(count))
            for name, count in counts.items()
            if count or name in ("new", "same", "changed")
        ]
        form = f"{done.format} {done.encoding}".strip()
        output.table((Column(""), Column("")), [(output.say("cli.transfer.format"), form), *rows])
    for key, count in done.secrets:
        output.note(key, count=count)
    _tell_problems(output, done.problems, done.bad)
    if done.group_uid is not None and output.format == "table":
        output.line(output.say("cli.transfer.undo", group=done.group_uid))


def _problems(output: Output, problems: Sequence[Unreadable]) -> list[dict[str, str]]:
    return [
        {"place": problem.place, "reason": render(problem.reason, output.language)}
        for problem in problems
    ]


def _tell_problems(output: Output, problems: Sequence[Unreadable], bad: int) -> None:
    for problem in problems[:_SHOWN_PROBLEMS]:
        reason = render(problem.reason, output.language)
        output.note("cli.transfer.problem", place=problem.place, reason=reason)
    if bad > _SHOWN_PROBLEMS:
        output.note("cli.transfer.more_problems", count=bad - _SHOWN_PROBLEMS)


def _show_info(output: Output, report: FileReport) -> None:
    record = _info_record(report)
    if output.format == "json":
        output.json(record | {"problems": _problems(output, report.problems)})
        return
    rows = [
        (_label(output, name), str(value))
        for name, value in record.items()
        if name not in ("counts", "complete", "bad", "header") and value not in (None, "")
    ]
    rows += [
        (output.say(f"cli.transfer.record.{name}"), str(count))
        for name, count in report.counts.items()
    ]
    if output.format == "tsv":
        output.tsv(rows)
    else:
        output.table((Column(""), Column("", wraps=True)), rows)
    _tell_problems(output, report.problems, report.bad)
    if not report.complete and report.bad == 0:
        output.note("cli.transfer.incomplete")


def _label(output: Output, name: str) -> str:
    return name if name == "path" else output.say(f"cli.transfer.{name}")


def _info_record(report: FileReport) -> dict[str, object]:
    header = report.header
    return {
        "path": str(report.path),
        "format": report.format,
        "encoding": report.encoding,
        "exported_at": header.exported_at if header else None,
        "product": header.product if header else None,
        "space": SpaceIdentity.from_key(header.space).model if header and header.space else None,
        "oldest": None if report.oldest_at is None else iso(report.oldest_at),
        "newest": None if report.newest_at is None else iso(report.newest_at),
        "counts": dict(report.counts),
        "bad": report.bad,
        "complete": report.complete,
        "header": None
        if header is None
        else {"options": dict(header.options), "counts": dict(header.counts)},
    }
