"""``jiyi remember``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.times import iso
from engine.use_cases.memorize import Memorized, MemorizeRequest
from launchers.cli.options import FieldOptions, GeneralOptions, option
from launchers.cli.output import Output
from launchers.cli.records import preview
from launchers.cli.requests import authored_fields
from launchers.cli.session import open_session
from launchers.cli.streams import read_stdin
from launchers.cli.vectors import settled_vectors, tell_waiting

_PREVIEW_CHARS = 80
_DEFAULTS = {"source": "cli", "trust": "user"}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What goes with a memory beside its fields."""

    session_id: Annotated[str | None, option("--session")] = None
    persona: Annotated[str | None, option("--persona")] = None
    on_conflict: Annotated[
        str | None, option("--on-conflict", metavar="ignore|warn|supersede|reject")
    ] = None


def remember_command(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="cli.argument.text")],
    general: GeneralOptions,
    given: FieldOptions,
    along: WriteOptions,
) -> int:
    """Store one memory and print its id."""
    session = open_session(context, general)
    content = read_stdin() if text == "-" else text
    with session.engine() as engine:
        request = MemorizeRequest(
            fields=_DEFAULTS | authored_fields(engine, given) | {"text": content},
            ttl=given.ttl,
            session_id=along.session_id,
            persona_id=along.persona,
            on_conflict=along.on_conflict,
        )
        stored = engine.memorize(request, session.caller(engine))
        waiting = settled_vectors(engine) if stored.pending else 0
        _show(session.output, engine, stored, pending=waiting > 0)
        tell_waiting(session.output, waiting, stored.keywords_only)
    return 0


def _show(output: Output, engine: Engine, stored: Memorized, *, pending: bool) -> None:
    memory = stored.memory
    if output.format == "json":
        output.json(_record(engine, stored, pending))
    elif output.format == "tsv":
        output.line(f"#{memory.id}")
    else:
        output.line(output.say("cli.remembered", ref=f"#{memory.id}", workspace=memory.workspace))
        _show_rules(output, stored)
    for notice in stored.notices:
        output.note(notice.key, **notice.params)
    _tell_conflicts(output, engine, stored)
    if stored.twins:
        twins = ", ".join(f"#{twin}" for twin in stored.twins)
        output.note("cli.twins", refs=twins)


def _tell_conflicts(output: Output, engine: Engine, stored: Memorized) -> None:
    twins = set(stored.twins)
    for clash in stored.conflicts:
        ref, text = f"#{clash.memory_id}", preview(clash.text, _PREVIEW_CHARS, output)
        if clash.memory_id not in twins:
            output.note(f"cli.conflicts.met_{clash.verdict}", ref=ref, text=text)
        if engine.get(clash.memory_id).superseded_by == stored.memory.id:
            output.note("cli.conflicts.superseded", ref=ref)


def _show_rules(output: Output, stored: Memorized) -> None:
    memory = stored.memory
    if stored.kind_rule is not None:
        output.line(output.say("rules.kind", kind=memory.kind, rule=stored.kind_rule))
    if stored.importance_rule is not None:
        shown, rule = f"{memory.importance:g}", stored.importance_rule
        output.line(output.say("rules.importance", importance=shown, rule=rule))
    if stored.suggested_kind is not None:
        ref, kind = f"#{memory.id}", stored.suggested_kind
        output.line(output.say("rules.suggested_cli", ref=ref, kind=kind))


def _record(engine: Engine, stored: Memorized, pending: bool) -> dict[str, object]:
    memory = stored.memory
    return {
        "id": memory.id,
        "uid": memory.uid,
        "workspace": memory.workspace,
        "kind": memory.kind,
        "kind_rule": stored.kind_rule,
        "suggested_kind": stored.suggested_kind,
        "importance": memory.importance,
        "importance_rule": stored.importance_rule,
        "revision": memory.revision,
        "created_at": iso(memory.created_at, engine.context.zone),
        "twins": list(stored.twins),
        "conflicts": [asdict(clash) for clash in stored.conflicts],
        "secrets": [notice.key.removeprefix("secrets.") for notice in stored.notices],
        "pending": pending,
    }
