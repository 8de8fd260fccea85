"""``jiyi pack``, ``jiyi context``, ``jiyi auto-context`` and ``jiyi briefing``."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.prompts import PromptForm, PromptText
from engine.domain.times import day
from engine.use_cases.auto_context import TaskRequest
from engine.use_cases.memory_context import ContextRequest, MemoryContext
from engine.use_cases.pack import PackRequest
from engine.use_cases.readiness import wait_for_model
from launchers.cli.options import FilterOptions, GeneralOptions, option
from launchers.cli.output import Output
from launchers.cli.requests import filters
from launchers.cli.session import Session, open_session
from launchers.cli.streams import read_stdin

_MODEL_WAIT_S = 10.0
Budget = Annotated[int | None, option("--budget", "-b", key="budget", metavar="TOKENS")]


def pack_command(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="cli.argument.query")],
    general: GeneralOptions,
    narrowing: FilterOptions,
    budget: Budget = None,
    compress: Annotated[bool, option("--compress")] = False,
) -> int:
    """Show the memories that answer a question as one text within a budget."""
    session = open_session(context, general)
    asked = _words(query)
    with session.engine() as engine:
        wait_for_model(engine.context, _MODEL_WAIT_S)
        request = PackRequest(
            asked,
            filters(engine, session, narrowing),
            _form(session, budget),
            compress=compress,
        )
        found = engine.pack(request)
        _show(session, engine, found, {"query": asked})
    return 0


def auto_context_command(
    context: typer.Context,
    task: Annotated[list[str], typer.Argument(metavar="TASK", help="cli.argument.task")],
    general: GeneralOptions,
    narrowing: FilterOptions,
    budget: Budget = None,
) -> int:
    """Show what is remembered about a task."""
    session = open_session(context, general)
    asked = _words(task)
    with session.engine() as engine:
        wait_for_model(engine.context, _MODEL_WAIT_S)
        wanted = filters(engine, session, narrowing)
        found = engine.auto_context(TaskRequest(asked, wanted, _form(session, budget)))
        _show(session, engine, found, {"task": asked})
    return 0


def context_command(
    context: typer.Context,
    general: GeneralOptions,
    topic: Annotated[
        list[str] | None, typer.Argument(metavar="TOPIC", help="cli.argument.topic")
    ] = None,
    mode: Annotated[
        str | None, option("--mode", key="context_mode", metavar="quick|chat|coding|project")
    ] = None,
    budget: Budget = None,
) -> int:
    """Show what an assistant should have in mind."""
    session = open_session(context, general)
    asked = _words(topic or []) or None
    with session.engine() as engine:
        if asked is not None:
            wait_for_model(engine.context, _MODEL_WAIT_S)
        request = ContextRequest(
            topic=asked,
            mode=mode,
            workspace=session.current_workspace(engine),
            form=_form(session, budget),
        )
        _show_context(session, engine, engine.memory_context(request))
    return 0


def briefing_command(
    context: typer.Context,
    general: GeneralOptions,
    refresh: Annotated[bool, option("--refresh")] = False,
    budget: Budget = None,
) -> int:
    """Show the whole briefing of a workspace."""
    session = open_session(context, general)
    with session.engine() as engine:
        workspace = session.current_workspace(engine)
        found = engine.briefing(workspace, _form(session, budget), refresh=refresh)
        _show_context(session, engine, found)
    return 0


def _words(given: list[str]) -> str:
    return read_stdin().strip() if given == ["-"] else " ".join(given)


def _form(session: Session, budget: int | None) -> PromptForm:
    return PromptForm(session.output.language, token_budget=budget)


def _show_context(session: Session, engine: Engine, found: MemoryContext) -> None:
    about: dict[str, object] = {
        "mode": found.mode,
        "topic": found.topic,
        "workspace": found.workspace,
        "briefing_age_s": round(found.age_s),
        "stale": found.stale,
    }
    _show(session, engine, found.prompt, about)


def _show(session: Session, engine: Engine, found: PromptText, about: dict[str, object]) -> None:
    """The text itself, also in a pipe, where a prompt is made of it; rows and JSON on request."""
    output = session.output
    if output.format == "json":
        output.json(about | _record(output, found))
    elif session.options.format == "tsv":
        output.tsv(_rows(engine, found))
    elif found.text:
        output.line(found.text)
    else:
        output.note("context.nothing_near" if found.queries else "context.nothing")
    _tell(output, found)


def _tell(output: Output, found: PromptText) -> None:
    for reason in found.degraded:
        output.note("cli.keywords_only", reason=output.sentence(reason))
    for key, count in (
        ("context.left_out", found.left_out),
        ("context.weaker", found.weaker),
    ):
        if count and output.format != "json":
            output.note(key, count=count)


def _rows(engine: Engine, found: PromptText) -> list[tuple[object, ...]]:
    zone = engine.context.zone
    return [
        (
            section.name,
            " ".join(f"#{memory.id}" for memory in line.memories),
            line.memories[0].kind if line.memories else "fact",
            day(line.memories[0].created_at, zone) if line.memories else "",
            line.tokens,
            line.text,
        )
        for section in found.sections
        for line in section.lines
    ]


def _record(output: Output, found: PromptText) -> dict[str, object]:
    return {
        "text": found.text,
        "items": [
            {
                "section": section.name,
                "ids": [memory.id for memory in line.memories],
                "score": line.score,
                "tokens": line.tokens,
                "line": line.text,
            }
            for section in found.sections
            for line in section.lines
        ],
        "used_tokens": found.used_tokens,
        "budget_tokens": found.budget_tokens,
        "truncated": found.truncated,
        "left_out": found.left_out,
        "weaker_left_out": found.weaker,
        "queries": list(found.queries),
        "degraded": [output.sentence(reason) for reason in found.degraded],
    }
