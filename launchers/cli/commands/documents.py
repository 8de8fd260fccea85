"""``jiyi ingest`` and ``jiyi scan-secrets``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.bootstrap import Engine
from launchers.cli import streams
from launchers.cli.failures import FAILED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session
from launchers.cli.streams import native_path
from launchers.cli.vectors import settled_vectors, tell_waiting
from launchers.cli.work import progress_bars

if TYPE_CHECKING:
    from engine.use_cases.ingest import Ingested, IngestedFile, IngestRequest
    from engine.use_cases.scan_secrets import Finding, Scanned

_YES = ("y", "yes", "是", "好")
_SHOWN = 50


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How documents come in."""

    dry_run: Annotated[bool, option("--dry-run", key="ingest_dry_run")] = False
    trust: Annotated[
        str, option("--trust", key="ingest_trust", metavar="user|assistant|external")
    ] = "external"


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What becomes of secrets that are found."""

    apply: Annotated[bool, option("--apply", key="scan_apply")] = False
    yes: Annotated[bool, option("--yes", "-y", key="yes")] = False


def ingest_command(
    context: typer.Context,
    general: GeneralOptions,
    given: IngestOptions,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="cli.argument.documents")],
) -> int:
    """Store documents, one memory for each chunk. Fails when none could be read."""
    from engine.use_cases.ingest import IngestRequest

    session = open_session(context, general)
    output = session.output
    with session.engine() as engine:
        request = IngestRequest(
            paths=[Path(native_path(path)).expanduser() for path in paths],
            trust=given.trust,
            dry_run=given.dry_run,
        )
        caller = session.reader() if given.dry_run else session.caller(engine)
        if given.dry_run:
            request = _into_current(session, engine, request)
        with progress_bars(output) as show:
            on_progress = partial(show, paths[0], "ingest")
            done = engine.documents.ingest(request, caller, on_progress)
        waiting = settled_vectors(engine) if any(file.pending for file in done.files) else 0
    _show_ingest(output, done)
    tell_waiting(output, waiting, None)
    failed = [file for file in done.files if file.error is not None]
    return FAILED if failed and len(failed) == len(done.files) else 0


def scan_secrets_command(
    context: typer.Context, general: GeneralOptions, given: ScanOptions
) -> int:
    """Look for keys and passwords in what is stored, and mask them if that is asked for."""
    session = open_session(context, general)
    output = session.output
    with session.engine() as engine:
        found = _scan(output, engine, session, apply=False)
        if not given.apply or not found.places:
            _show_scan(output, found)
            return 0
        if not given.yes and not _confirmed(output, found):
            output.note("cli.secrets.cancelled")
            return FAILED
        _show_scan(output, _scan(output, engine, session, apply=True))
    return 0


def _into_current(session: Session, engine: Engine, request: IngestRequest) -> IngestRequest:
    """A look at what would be done makes no workspace."""
    return replace(request, workspace=session.current_workspace(engine))


def _scan(output: Output, engine: Engine, session: Session, *, apply: bool) -> Scanned:
    with progress_bars(output) as show:
        on_progress = partial(show, "", "scan")
        return engine.documents.scan_secrets(session.reader(), apply=apply, on_progress=on_progress)


def _show_ingest(output: Output, done: Ingested) -> None:
    if output.format == "json":
        records = [_file_record(output, file) for file in done.files]
        output.json({"files": records, "dry_run": done.dry_run, "group": done.group_uid})
    elif output.format == "tsv":
        output.tsv(_file_row(file) for file in done.files)
    else:
        for file in done.files:
            if file.error is None:
                output.line(_file_line(output, file, dry_run=done.dry_run))
        if done.group_uid is not None:
            output.line(output.say("cli.ingest.undo"))
    for file in done.files:
        if file.error is not None:
            output.note("cli.ingest.failed", path=file.path, reason=output.sentence(file.error))
        for notice in file.notices:
            output.note(notice.key, **notice.params)
    if not done.files:
        output.note("cli.ingest.none")


def _file_line(output: Output, file: IngestedFile, *, dry_run: bool) -> str:
    if file.unchanged:
        return output.say("cli.ingest.unchanged", path=file.path, count=file.chunks)
    key = "cli.ingest.would" if dry_run else "cli.ingest.done"
    counts = {"added": file.added, "kept": file.kept, "removed": file.removed}
    return output.say(key, path=file.path, **counts)


def _file_row(file: IngestedFile) -> tuple[str, ...]:
    counts = (file.chunks, file.added, file.kept, file.removed)
    return str(file.path), *map(str, counts), file.error.key if file.error else ""


def _file_record(output: Output, file: IngestedFile) -> dict[str, object]:
    return {
        "path": str(file.path),
        "chunks": file.chunks,
        "added": file.added,
        "kept": file.kept,
        "removed": file.removed,
        "unchanged": file.unchanged,
        "pending": file.pending,
        "secrets": {notice.key: notice.params["count"] for notice in file.notices},
        "error": None if file.error is None else output.sentence(file.error),
    }


def _show_scan(output: Output, found: Scanned) -> None:
    if output.format == "json":
        output.json(_scan_record(found))
    elif output.format == "tsv":
        output.tsv(
            (one.place, str(one.id), one.field, ",".join(one.kinds), one.text)
            for one in found.findings
        )
    else:
        _show_findings(output, found)
    for key, params in _after_words(found):
        output.note(key, **params)


def _show_findings(output: Output, found: Scanned) -> None:
    say = output.say
    looked = {"memories": found.memories, "entries": found.entries}
    if not found.places:
        output.line(say("cli.secrets.none", **looked))
        return
    columns = (
        Column(say("cli.column.secret_place")),
        Column(say("cli.column.secret_field")),
        Column(say("cli.column.secret_kinds")),
        Column(say("cli.column.secret_text"), wraps=True),
    )
    output.table(columns, [_row(output, one) for one in found.findings[:_SHOWN]])
    if found.masked:
        output.line(say("cli.secrets.applied", count=found.count, places=found.places))
    else:
        output.line(say("cli.secrets.found", count=found.count, places=found.places, **looked))


def _row(output: Output, one: Finding) -> tuple[str, str, str, str]:
    kinds = ", ".join(output.say(f"secrets.kind.{kind}") for kind in dict.fromkeys(one.kinds))
    return f"{output.say(f'secrets.where.{one.place}')} #{one.id}", one.field, kinds, one.text


def _after_words(found: Scanned) -> Iterator[tuple[str, dict[str, object]]]:
    if found.masked:
        yield "cli.secrets.reach", {}
        if found.backups:
            yield "cli.secrets.backups", {"count": found.backups}
        if not found.compacted:
            yield "cli.secrets.not_compacted", {}


def _scan_record(found: Scanned) -> dict[str, object]:
    return {
        "count": found.count,
        "places": found.places,
        "memories": found.memories,
        "entries": found.entries,
        "masked": found.masked,
        "archived_files": found.archived,
        "backups": found.backups,
        "findings": [
            {
                "place": one.place,
                "id": one.id,
                "field": one.field,
                "kinds": list(one.kinds),
                "text": one.text,
            }
            for one in found.findings
        ],
    }


def _confirmed(output: Output, found: Scanned) -> bool:
    output.note("cli.secrets.shows", count=found.count, places=found.places)
    if sys.stdin is None or not sys.stdin.isatty():
        raise Misuse("cli.secrets.needs_yes")
    sys.stderr.write(streams.visible(output.say("cli.secrets.ask")) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES
