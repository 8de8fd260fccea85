"""``jiyi forget`` and ``jiyi restore``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.errors import JiyiError
from engine.domain.memory import Memory
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
    doomed = list({memory.id: memory for memory in map(engine.get, refs)}.values())
    if not asked and not _confirmed(output, doomed):
        output.note("cli.erase_cancelled")
        return FAILED
    caller = session.reader()
    erased = [engine.erase(memory.id, caller) for memory in doomed]
    if output.format == "json":
        records = [{"id": memory.id, "uid": memory.uid} for memory in erased]
        output.json({"erased": records, "failed": 0})
    elif output.format == "tsv":
        output.tsv((f"#{memory.id}", "erased") for memory in erased)
    else:
        for memory in erased:
            output.line(output.say("cli.erased", ref=f"#{memory.id}"))
    output.note("cli.erase_reach")
    return 0


def _confirmed(output: Output, doomed: list[Memory]) -> bool:
    output.note("cli.erase_shows", count=len(doomed))
    for memory in doomed:
        tell(f"  #{memory.id}  {preview(memory.text, _PREVIEW_CHARS, output)}")
    if sys.stdin is None or not sys.stdin.isatty():
        raise Misuse("cli.needs_yes")
    sys.stderr.write(streams.visible(output.say("cli.erase_ask", count=len(doomed))) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES
