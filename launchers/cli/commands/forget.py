"""``jiyi forget`` and ``jiyi restore``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.errors import JiyiError, NotFound
from engine.use_cases.erase import Erased
from engine.use_cases.forget import StateChange
from launchers.cli import streams
from launchers.cli.failures import FAILED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Output, tell
from launchers.cli.records import preview
from launchers.cli.session import Session, open_session

_PREVIEW_CHARS = 80
_YES = ("y", "yes", "是", "好")

Refs = Annotated[list[str], typer.Argument(metavar="REF", help="cli.argument.refs")]


def forget_command(
    context: typer.Context,
    refs: Refs,
    general: GeneralOptions,
    erase: Annotated[bool, option("--erase")] = False,
    yes: Annotated[bool, option("--yes", "-y", key="yes")] = False,
) -> int:
    """Move memories to the trash, or with ``--erase`` remove them for good."""
    session = open_session(context, general)
    with session.engine() as engine:
        if erase:
            return _erase(session, engine, refs, asked=yes)
        caller = session.reader()
        return _change(session, refs, "forgotten", lambda ref: engine.delete(ref, caller))


def restore_command(context: typer.Context, refs: Refs, general: GeneralOptions) -> int:
    """Bring memories back from the trash."""
    session = open_session(context, general)
    with session.engine() as engine:
        caller = session.reader()
        return _change(session, refs, "restored", lambda ref: engine.restore(ref, caller))


def _change(session: Session, refs: list[str], done: str, act: Callable[[str], StateChange]) -> int:
    output, records, failures = session.output, [], 0
    for ref in refs:
        try:
            change = act(ref)
        except JiyiError as error:
            output.error(error)
            failures += 1
            continue
        records.append(_record(change))
        if output.format == "table":
            key = f"cli.{done}" if change.changed else f"cli.already_{done}"
            if change.changed and done == "restored":
                key = f"cli.restored_from.{change.was}"
            output.line(output.say(key, ref=f"#{change.memory.id}"))
        elif output.format == "tsv":
            output.tsv([(f"#{change.memory.id}", done if change.changed else "unchanged")])
    if output.format == "json":
        output.json({"results": records, "failed": failures})
    return FAILED if failures else 0


def _record(change: StateChange) -> dict[str, object]:
    memory = change.memory
    return {"id": memory.id, "uid": memory.uid, "changed": change.changed, "was": change.was}


def _erase(session: Session, engine: Engine, refs: list[str], *, asked: bool) -> int:
    output = session.output
    doomed = dict(_doomed(engine, refs))
    if not asked and not _confirmed(output, doomed):
        output.note("cli.erase_cancelled")
        return FAILED
    done = engine.erase_all(list(doomed), session.reader())
    if output.format == "json":
        output.json(_erased_record(output, done))
    elif output.format == "tsv":
        output.tsv((f"#{memory_id}", "erased") for memory_id in doomed)
    else:
        for memory_id in doomed:
            output.line(output.say("cli.erased", ref=f"#{memory_id}"))
    _tell_reach(output, done)
    return 0


def _erased_record(output: Output, done: Erased) -> dict[str, object]:
    return {
        "erased": [{"id": memory.id, "uid": memory.uid} for memory in done.memories],
        "purged": list(done.purged),
        "failed": 0,
        "journal_entries": done.entries,
        "archive_files": done.archive_files,
        "backups": list(done.backups),
        "unreached": [output.say(notice.key, **notice.params) for notice in done.unreached],
    }


def _tell_reach(output: Output, done: Erased) -> None:
    if done.backups:
        output.note("erase.backups", count=len(done.backups), names=", ".join(done.backups))
    if done.entries or done.archive_files:
        output.note("erase.journal", entries=done.entries, files=done.archive_files)
    for notice in done.unreached:
        output.note(notice.key, **notice.params)


def _doomed(engine: Engine, refs: list[str]) -> Iterator[tuple[int, str]]:
    """Numbers and texts; of a purged memory the journal may still hold a copy."""
    for ref in refs:
        try:
            memory = engine.get(ref)
            yield memory.id, memory.text
        except NotFound:
            entries = [e for e in engine.journal.history(ref) if e.subject_kind == "memory"]
            texts = [str(e.changes["text"][0]) for e in entries if "text" in e.changes]
            yield entries[-1].subject_id, texts[-1] if texts else ""


def _confirmed(output: Output, doomed: Mapping[int, str]) -> bool:
    output.note("cli.erase_shows", count=len(doomed))
    for memory_id, content in doomed.items():
        tell(f"  #{memory_id}  {preview(content, _PREVIEW_CHARS, output)}")
    if sys.stdin is None or not sys.stdin.isatty():
        raise Misuse("cli.needs_yes")
    sys.stderr.write(streams.visible(output.say("cli.erase_ask", count=len(doomed))) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES
