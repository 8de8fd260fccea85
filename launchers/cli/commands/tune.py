"""``jiyi tune``: propose better weights; nothing is applied."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from engine.domain.errors import InvalidInput
from engine.evaluation.metrics import measure_named
from engine.evaluation.search import Proposal
from engine.evaluation.session import EvaluationRequest
from engine.use_cases.tune import MEASURE, TuneRequest
from launchers.cli.commands.eval import SetOptions, split_names
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session
from launchers.cli.streams import native_path
from launchers.cli.work import progress_bars

_MAX_TRIALS = 10_000


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What is searched for, where, and how long."""

    preset: Annotated[str | None, option("--preset", metavar="NAME")] = None
    tune_on: Annotated[str | None, option("--tune-on", metavar="A,B")] = None
    measure: Annotated[str, option("--measure", key="tune_measure", metavar="NAME@K")] = (
        MEASURE.name
    )
    trials: Annotated[int, option("--trials", key="tune_trials", metavar="N")] = 120


def tune_command(
    context: typer.Context,
    general: GeneralOptions,
    sets: SetOptions,
    given: SearchOptions,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[DIR|FILE]", help="cli.argument.eval_sets")
    ] = None,
) -> int:
    """Search for better weights on one part of the questions and report on the other."""
    session = open_session(context, general)
    if not 1 <= given.trials <= _MAX_TRIALS:
        raise InvalidInput("error.tune_trials", value=given.trials)
    request = TuneRequest(
        sets=EvaluationRequest(
            paths=tuple(Path(native_path(path)) for path in paths or ()),
            judgments=sets.judgments,
            spaces=split_names(sets.spaces),
        ),
        tune_on=split_names(given.tune_on),
        preset=given.preset,
        measure=measure_named(given.measure),
        max_trials=given.trials,
    )
    with session.engine() as engine, progress_bars(session.output) as show:
        found = engine.tune(request, show)
    _show(session.output, found)
    return 0


def _show(output: Output, found: Proposal) -> None:
    if output.format == "json":
        output.json(_record(found))
        return
    parts = [
        ("searched", found.searched_count, found.searched),
        ("held_out", found.held_out_count, found.held_out),
    ]
    scores = [
        (output.say(f"cli.tune.{name}"), count, f"{100 * before:.1f}", f"{100 * after:.1f}")
        for name, count, (before, after) in parts
    ]
    changes = [
        (key, f"{found.start.get(key, 0.0):g}", f"{value:g}")
        for key, value in found.changed.items()
    ]
    if output.format == "tsv":
        output.tsv([*scores, *changes])
        return
    heads = ("questions", "before", "after")
    output.table(_columns(output, found.measure, heads), scores)
    if changes:
        output.line()
        output.table(_columns(output, output.say("cli.tune.column.setting"), _CHANGE), changes)
    _tell(output, found)


_CHANGE = ("from", "to")


def _columns(output: Output, first: str, rest: tuple[str, ...]) -> list[Column]:
    numbers = (Column(output.say(f"cli.tune.column.{name}"), right=True) for name in rest)
    return [Column(first, wraps=True), *numbers]


def _tell(output: Output, found: Proposal) -> None:
    if not found.changed:
        output.note("cli.tune.nothing")
    elif found.held_out[1] <= found.held_out[0]:
        output.note("cli.tune.worse")
    else:
        output.note("cli.tune.apply")
        for key, value in found.changed.items():
            output.line(f"    jiyi config set {key} {value:g}")


def _record(found: Proposal) -> dict[str, object]:
    return {
        "measure": found.measure,
        "proposal": dict(found.changed),
        "from": {key: found.start.get(key, 0.0) for key in found.changed},
        "searched": _part(found.searched_count, found.searched),
        "held_out": _part(found.held_out_count, found.held_out),
        "trials": found.trials,
        "applied": False,
    }


def _part(count: int, values: tuple[float, float]) -> dict[str, float]:
    return {"n": count, "before": round(values[0], 6), "after": round(values[1], 6)}
