"""``jiyi eval``: how well recall answers questions whose answers are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from engine.evaluation.metrics import MEASURES, Measure, measure_named
from engine.evaluation.runner import Outcome, Score
from engine.evaluation.session import EvaluationRequest
from engine.evaluation.trial import Setup
from engine.use_cases.evaluate import SetReport
from launchers.cli.failures import FAILED
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session
from launchers.cli.streams import native_path
from launchers.cli.work import progress_bars

MODES = {"text": "keyword", "vectors": "semantic"}
"""Names of channels, which a measurement speaks of, beside the modes of recall."""
_SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class SetOptions:
    """What is asked."""

    spaces: Annotated[str | None, option("--spaces", key="eval_spaces", metavar="A,B")] = None
    judgments: Annotated[bool, option("--judgments", key="eval_judgments")] = False


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """How it is answered and measured."""

    preset: Annotated[str | None, option("--preset", metavar="NAME")] = None
    against: Annotated[str | None, option("--against", key="eval_against", metavar="NAME")] = None
    mode: Annotated[str, option("--mode", key="eval_mode", metavar="auto|text|vectors")] = "auto"
    no_vectors: Annotated[bool, option("--no-vectors", key="eval_no_vectors")] = False
    measure: Annotated[
        list[str] | None, option("--measure", key="eval_measure", metavar="NAME@K")
    ] = None


def eval_command(
    context: typer.Context,
    general: GeneralOptions,
    sets: SetOptions,
    setup: SetupOptions,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[DIR|FILE]", help="cli.argument.eval_sets")
    ] = None,
) -> int:
    """Measure recall on sets of questions with known answers."""
    session = open_session(context, general)
    output = session.output
    request = EvaluationRequest(
        paths=tuple(Path(native_path(path)) for path in paths or ()),
        judgments=sets.judgments,
        setups=_setups(setup),
        measures=_measures(setup.measure or ()),
        spaces=split_names(sets.spaces),
    )
    with session.engine() as engine, progress_bars(output) as show:
        reports = engine.evaluate(request, show)
    _show(output, setup, reports)
    for report in reports:
        _tell(output, report)
    return FAILED if any(report.problems for report in reports) else 0


def split_names(given: str | None) -> tuple[str, ...]:
    """Names from ``a,b``."""
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


def tell_problems(output: Output, report: SetReport) -> None:
    """Name the lines that were left out."""
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        output.error(problem)
    if report.problems:
        output.note("cli.eval.problems", name=report.name, count=len(report.problems))


def score_record(score: Score) -> dict[str, float]:
    """A score as the documented JSON has it."""
    return {"n": score.n} | {name: round(value, 6) for name, value in score.values.items()}


def _setups(given: SetupOptions) -> tuple[Setup, ...]:
    folded = given.mode.strip().casefold()
    mode = "keyword" if given.no_vectors else MODES.get(folded, folded)
    first = Setup(given.preset, mode)
    return (first,) if given.against is None else (first, Setup(given.against, mode))


def _measures(names: Sequence[str]) -> tuple[Measure, ...]:
    wanted = {measure.name: measure for measure in MEASURES}
    wanted |= {measure.name: measure for measure in map(measure_named, names)}
    return tuple(wanted.values())


def _show(output: Output, setup: SetupOptions, reports: Sequence[SetReport]) -> None:
    if output.format == "json":
        output.json(_record(setup, reports))
        return
    names = tuple(reports[0].outcomes[0].overall.values)
    labels = [setup.preset or "", setup.against] if setup.against else [""]
    rows = [row for report in reports for row in _rows(output, report, labels)]
    if setup.against is None:
        rows = [row[:-1] for row in rows]
    if output.format == "tsv":
        output.tsv(rows)
        return
    columns = [Column(output.say(f"cli.eval.column.{name}"), wraps=True) for name in _PLACE]
    if setup.against is not None:
        columns.append(Column(output.say("cli.eval.column.preset")))
        rows = [(*row[:2], row[-1], *row[2:-1]) for row in rows]
    heads = ("n", *names, "p50", "p95")
    output.table([*columns, *(Column(head, right=True) for head in heads)], rows)


_PLACE = ("set", "part")


def _rows(output: Output, report: SetReport, labels: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Rows of set, part, figures in per cent, milliseconds and, last, the preset."""
    first = report.outcomes[0]
    for part, scores in _parts(output, report.outcomes):
        for place, (label, score) in enumerate(zip(labels, scores, strict=True)):
            if score is None:
                continue
            whole = score is report.outcomes[place].overall
            outcome = report.outcomes[place]
            times = _times(outcome) if whole else ("", "")
            shown = report.name if whole and outcome is first else ""
            figures = (f"{100 * value:.1f}" for value in score.values.values())
            yield (shown or report.name, part, score.n, *figures, *times, label)


def _parts(output: Output, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Score | None]]]:
    yield output.say("cli.eval.overall"), [outcome.overall for outcome in outcomes]
    for groups in _groups(outcomes):
        # One part alone says what the whole says.
        if len(groups[0]) > 1:
            for name in groups[0]:
                yield name or "-", [group.get(name) for group in groups]


def _groups(outcomes: Sequence[Outcome]) -> Iterator[list[Mapping[str, Score]]]:
    yield [outcome.by_category for outcome in outcomes]
    yield [outcome.by_space for outcome in outcomes]


def _times(outcome: Outcome) -> tuple[str, str]:
    return f"{outcome.query_ms_p50:.1f} ms", f"{outcome.query_ms_p95:.1f} ms"


def _record(setup: SetupOptions, reports: Sequence[SetReport]) -> dict[str, object]:
    record: dict[str, object] = {"sets": _sets(reports, 0)}
    if setup.against is not None:
        record["against"] = {"preset": setup.against, "sets": _sets(reports, 1)}
    return record


def _sets(reports: Sequence[SetReport], place: int) -> dict[str, object]:
    return {report.name: _outcome(report.outcomes[place]) for report in reports}


def _outcome(outcome: Outcome) -> dict[str, object]:
    return {
        "overall": score_record(outcome.overall),
        "by_category": {name: score_record(s) for name, s in outcome.by_category.items()},
        "by_space": {name: score_record(s) for name, s in outcome.by_space.items()},
        "query_ms": {
            "p50": round(outcome.query_ms_p50, 3),
            "p95": round(outcome.query_ms_p95, 3),
        },
    }


def _tell(output: Output, report: SetReport) -> None:
    """What a reader of the figures should know, on standard error."""
    tell_problems(output, report)
    if report.without_gold:
        output.note("cli.eval.without_gold", name=report.name, count=report.without_gold)
    reasons = [reason for outcome in report.outcomes for reason in outcome.degraded]
    if report.without_vectors is not None:
        reasons.append(report.without_vectors)
    for sentence in dict.fromkeys(output.sentence(reason) for reason in reasons):
        output.note("cli.eval.degraded", name=report.name, reason=sentence)
    stages = report.outcomes[0].stages_ms
    shown = ", ".join(f"{name} {ms:.1f}" for name, ms in stages.items())
    output.note("cli.eval.took", name=report.name, seconds=f"{report.took_s:.1f}", stages=shown)
