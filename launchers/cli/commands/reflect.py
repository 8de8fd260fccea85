"""``jiyi reflect``: what happened, summed up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from engine.domain.reflection import Reflected, Reflection, ReflectRequest
from engine.use_cases.readiness import wait_for_model
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session
from launchers.cli.work import progress_bars

_MODEL_WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class ReflectOptions:
    """How to sum up; what is left out is as the settings say."""

    apply: Annotated[bool, option("--apply", key="reflect_apply")] = False
    threshold: Annotated[
        float | None, option("--threshold", key="reflect_threshold", metavar="0-1")
    ] = None
    min_cluster: Annotated[int | None, option("--min-cluster", key="reflect_min_cluster")] = None
    consolidate: Annotated[
        bool | None, option("--consolidate/--no-consolidate", key="reflect_consolidate")
    ] = None
    summarizer: Annotated[
        str | None, option("--summarizer", key="reflect_summarizer", metavar="extractive|chat")
    ] = None


def reflect_command(context: typer.Context, general: GeneralOptions, given: ReflectOptions) -> int:
    """Show what would be summed up, or store it."""
    session = open_session(context, general)
    request = ReflectRequest(
        workspace=session.reader().workspace,
        threshold=given.threshold,
        min_cluster=given.min_cluster,
        consolidate=given.consolidate,
        summarizer=given.summarizer,
        apply=given.apply,
    )
    with session.engine() as engine, progress_bars(session.output) as show:
        wait_for_model(engine.context, _MODEL_WAIT_S)
        on_progress = partial(show, "", "reflect")
        found = engine.reflection.reflect(request, session.reader(), on_progress)
        least = request.min_cluster or engine.context.settings.reflect.min_cluster
    _show(session, found, least)
    return 0


def _show(session: Session, found: Reflected, least: int) -> None:
    output = session.output
    if output.format == "json":
        output.json(_record(output, found))
        return
    if output.format == "tsv":
        output.tsv(_row(item) for item in found.reflections)
    elif found.reflections:
        columns = (
            Column(output.say("cli.reflect.column_summary"), wraps=True),
            Column(output.say("cli.reflect.column_sources"), wraps=True),
        )
        rows = [(_summary(output, item), _sources(item)) for item in found.reflections]
        output.table(columns, rows)
    _tell(output, found, least)


def _summary(output: Output, item: Reflection) -> str:
    draft = item.draft
    head = output.say(
        "cli.reflect.head",
        workspace=draft.workspace,
        importance=f"{float(str(draft.fields['importance'])):.2f}",
        trust=draft.fields["trust"],
        tags=", ".join(_tags(item)),
    )
    return f"{item.text}\n{head}"


def _tell(output: Output, found: Reflected, least: int) -> None:
    sources = sum(len(item.source_ids) for item in found.reflections)
    if not found.reflections:
        output.note("cli.reflect.none", least=least)
    elif found.applied:
        stored = len(found.reflections) - found.skipped
        output.note("cli.reflect.done", count=stored, sources=sources, group=found.group_uid)
    else:
        output.note("cli.reflect.shows", count=len(found.reflections), sources=sources)
    for key, count in (
        ("cli.reflect.archived", found.archived),
        ("cli.reflect.skipped", found.skipped),
        ("cli.reflect.without_vectors", found.without_vectors),
        ("cli.reflect.left_out", found.left_out),
    ):
        if count:
            output.note(key, count=count)
    reasons = [output.sentence(item.warning) for item in found.reflections if item.warning]
    for reason in dict.fromkeys(reasons):
        output.note("cli.reflect.warning", reason=reason)


def _row(item: Reflection) -> tuple[str, ...]:
    made = "" if item.memory is None else f"#{item.memory.id}"
    return made, item.draft.workspace, item.summarizer, _sources(item), item.text


def _sources(item: Reflection) -> str:
    return " ".join(f"#{memory_id}" for memory_id in item.source_ids)


def _tags(item: Reflection) -> list[str]:
    tags = item.draft.fields["tags"]
    return list(tags) if isinstance(tags, tuple) else []


def _record(output: Output, found: Reflected) -> dict[str, object]:
    return {
        "reflections": [
            {
                "id": None if item.memory is None else item.memory.id,
                "workspace": item.draft.workspace,
                "text": item.text,
                "importance": item.draft.fields["importance"],
                "trust": item.draft.fields["trust"],
                "tags": _tags(item),
                "sources": list(item.source_ids),
                "summarizer": item.summarizer,
                "warning": None if item.warning is None else output.sentence(item.warning),
            }
            for item in found.reflections
        ],
        "considered": found.considered,
        "without_vectors": found.without_vectors,
        "left_out": found.left_out,
        "applied": found.applied,
        "group": found.group_uid or None,
        "archived": found.archived,
        "skipped": found.skipped,
    }
