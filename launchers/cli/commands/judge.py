"""``jiyi judge``: which memories answer a question; the store's own gold set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.errors import NotFound
from engine.domain.ids import short_uid
from engine.domain.judgment import Judgment
from engine.domain.times import day, iso
from engine.use_cases.judge import JudgeRequest
from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session

_PREVIEW_CHARS = 60


@dataclass(frozen=True, slots=True)
class JudgingOptions:
    """What is said of the memories, or that it is taken back."""

    irrelevant: Annotated[list[str] | None, option("--not", key="judge_not", metavar="ID")] = None
    grade: Annotated[float | None, option("--grade", key="judge_grade", metavar="0-10")] = None
    category: Annotated[str | None, option("--category", key="judge_category")] = None
    remove: Annotated[bool, option("--remove", key="judge_remove")] = False


def judge_command(
    context: typer.Context,
    general: GeneralOptions,
    given: JudgingOptions,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="cli.argument.judge_query")
    ] = None,
    refs: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]", help="cli.argument.judge_refs")
    ] = None,
) -> int:
    """Say that memories answer a question, or do not; without memories, list what was said."""
    session = open_session(context, general)
    relevant, irrelevant = tuple(refs or ()), tuple(given.irrelevant or ())
    if given.remove and query is None:
        raise Misuse("cli.judge.needs_query")
    with session.engine() as engine:
        if given.remove:
            wanted = (*relevant, *irrelevant)
            count = engine.remove_judgments(query or "", session.options.workspace, wanted)
            session.output.note("cli.judge.removed", count=count)
            return 0
        if query is None or not (relevant or irrelevant):
            _show(session.output, engine, engine.judgments(query))
            return 0
        request = JudgeRequest(
            query, relevant, irrelevant, given.grade, given.category, session.options.workspace
        )
        made = engine.judge(request, session.reader())
        _tell(session.output, engine, made)
    return 0


def _tell(output: Output, engine: Engine, made: Sequence[Judgment]) -> None:
    if output.format == "json":
        _show(output, engine, made)
        return
    yes = sum(judgment.relevant for judgment in made)
    output.note("cli.judge.kept", relevant=yes, irrelevant=len(made) - yes)


def _show(output: Output, engine: Engine, judged: Sequence[Judgment]) -> None:
    zone = engine.context.zone
    if output.format == "json":
        output.json(
            [
                {
                    "query": judgment.query,
                    "uid": judgment.memory_uid,
                    "relevant": judgment.relevant,
                    "grade": judgment.grade,
                    "category": judgment.category,
                    "workspace": judgment.workspace or None,
                    "at": iso(judgment.at, zone),
                    "actor": judgment.actor,
                }
                for judgment in judged
            ]
        )
        return
    if not judged:
        output.note("cli.judge.none")
        return
    rows = [
        (
            day(judgment.at, zone),
            judgment.query,
            output.say("cli.judge.yes" if judgment.relevant else "cli.judge.no"),
            "" if judgment.grade is None else f"{judgment.grade:g}",
            judgment.category or "",
            short_uid(judgment.memory_uid),
            _text(engine, judgment.memory_uid),
        )
        for judgment in judged
    ]
    if output.format == "tsv":
        output.tsv(rows)
        return
    names = ("day", "query", "verdict", "grade", "category", "uid", "text")
    wrapping = ("query", "text")
    columns = [Column(output.say(f"cli.judge.column.{n}"), wraps=n in wrapping) for n in names]
    output.table(columns, rows)


def _text(engine: Engine, uid: str) -> str:
    """The beginning of a memory; nothing of one that was erased."""
    try:
        text = engine.get(uid).text
    except NotFound:
        return ""
    line = " ".join(text.split())
    return line if len(line) <= _PREVIEW_CHARS else f"{line[: _PREVIEW_CHARS - 1]}…"
