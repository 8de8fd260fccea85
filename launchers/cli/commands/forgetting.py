"""``jiyi prune``, ``jiyi purge`` and ``jiyi forecast``: what fades, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import tzinfo
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.errors import InvalidInput
from engine.domain.retention import Doomed
from engine.domain.scope import Filters
from engine.domain.times import day, iso, parse_duration, parse_instant
from engine.lifecycle.forecast import Turn
from engine.use_cases.forecast import AtomForecast, MemoryForecast
from engine.use_cases.prune import Pruned, PruneRequest
from engine.use_cases.purge import Purged
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.records import preview
from launchers.cli.session import open_session

_PREVIEW_CHARS = 60
_SHOWN = 50
_ROWS_OF_A_CURVE = 14
_NUMBERS = ("#", "retention", "on_day", "importance_now", "salience", "worth")


@dataclass(frozen=True, slots=True)
class PruneOptions:
    """How to score, and whether to do it."""

    rate: Annotated[float | None, option("--rate", metavar="0-1")] = None
    frequency_weight: Annotated[float | None, option("--frequency-weight", metavar="0-10")] = None
    min_score: Annotated[float | None, option("--min-score", metavar="0-1")] = None
    now: Annotated[str | None, option("--now", key="simulated_now", metavar="7d|TIME")] = None
    apply: Annotated[bool, option("--apply", key="apply_forgetting")] = False


@dataclass(frozen=True, slots=True)
class PurgeOptions:
    """From which moment to look, and whether to do it."""

    now: Annotated[str | None, option("--now", key="simulated_now", metavar="7d|TIME")] = None
    apply: Annotated[bool, option("--apply", key="apply_forgetting")] = False


def prune_command(context: typer.Context, general: GeneralOptions, given: PruneOptions) -> int:
    """Show what is hardly worth keeping, or move it to the trash."""
    session = open_session(context, general)
    with session.engine() as engine:
        request = PruneRequest(
            rate=given.rate,
            frequency_weight=given.frequency_weight,
            min_score=given.min_score,
            filters=Filters(scope=session.scope(engine)),
            now=_moment(engine, given.now),
        )
        done = engine.forgetting.prune(request, session.reader(), apply=given.apply)
        _show_pruned(session.output, engine, done)
    return 0


def purge_command(context: typer.Context, general: GeneralOptions, given: PurgeOptions) -> int:
    """Show what can be reclaimed, or reclaim it."""
    session = open_session(context, general)
    with session.engine() as engine:
        now = _moment(engine, given.now)
        texts = _texts(engine, engine.forgetting.purge(session.reader(), apply=False, now=now))
        done = engine.forgetting.purge(session.reader(), apply=given.apply, now=now)
        _show_purged(session.output, engine, done, texts)
    return 0


def forecast_command(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="REF", help="cli.argument.forecast_ref")],
    general: GeneralOptions,
    days: Annotated[int, option("--days", key="forecast_days", metavar="N")] = 365,
    atom: Annotated[bool, option("--atom", key="forecast_atom")] = False,
) -> int:
    """Show how a memory or an atom will fade."""
    session = open_session(context, general)
    with session.engine() as engine:
        if atom:
            _show_atom(session.output, engine, engine.forgetting.forecast_atom(ref, days))
        else:
            _show_memory(session.output, engine, engine.forgetting.forecast(ref, days))
    return 0


def _moment(engine: Engine, given: str | None) -> float | None:
    """A moment as typed: a duration counts from now on."""
    if given is None:
        return None
    try:
        return engine.context.clock.now() + parse_duration(given)
    except InvalidInput:
        return parse_instant(given, engine.context.zone)


def _show_pruned(output: Output, engine: Engine, done: Pruned) -> None:
    if output.format == "json":
        output.json(
            {
                "memories": [{"id": m.memory_id, "score": m.score} for m in done.fading],
                "considered": done.considered,
                "min_score": done.policy.min_score,
                "applied": done.applied,
                "group": done.group_uid,
            }
        )
    elif output.format == "tsv":
        output.tsv((f"#{item.memory_id}", f"{item.score:.4f}") for item in done.fading)
    else:
        texts = engine.browsing.memories(item.memory_id for item in done.fading[:_SHOWN])
        rows = [
            (
                f"#{item.memory_id}",
                f"{item.score:.3f}",
                preview(texts[item.memory_id].text, _PREVIEW_CHARS, output),
            )
            for item in done.fading[:_SHOWN]
            if item.memory_id in texts
        ]
        _table(output, ("#", "retention", "text"), rows)
    _tell_pruned(output, done)


def _tell_pruned(output: Output, done: Pruned) -> None:
    count, considered = len(done.fading), done.considered
    if not done.fading:
        shown = f"{done.policy.min_score:g}"
        output.note("cli.prune.none", min_score=shown, considered=considered)
    elif done.applied:
        output.note("cli.prune.done", count=count, group=done.group_uid)
    else:
        output.note("cli.prune.would", count=count, considered=considered)


def _texts(engine: Engine, found: Purged) -> dict[int, str]:
    shown = engine.browsing.memories(item.memory_id for item in found.doomed[:_SHOWN])
    return {memory_id: memory.text for memory_id, memory in shown.items()}


def _show_purged(output: Output, engine: Engine, done: Purged, texts: dict[int, str]) -> None:
    zone = engine.context.zone
    if output.format == "json":
        output.json(
            {
                "memories": [_doomed_record(item, zone) for item in done.doomed],
                "counts": dict(done.counts),
                "applied": done.applied,
                "group": done.group_uid,
            }
        )
    elif output.format == "tsv":
        output.tsv((f"#{item.memory_id}", item.why, iso(item.since, zone)) for item in done.doomed)
    else:
        rows = [
            (
                f"#{item.memory_id}",
                output.say(f"cli.purge.{item.why}"),
                day(item.since, zone),
                preview(texts.get(item.memory_id, ""), _PREVIEW_CHARS, output),
            )
            for item in done.doomed[:_SHOWN]
        ]
        _table(output, ("#", "why", "since", "text"), rows)
    _tell_purged(output, done)


def _doomed_record(item: Doomed, zone: tzinfo | None) -> dict[str, object]:
    return {
        "id": item.memory_id,
        "uid": item.uid,
        "why": item.why,
        "since": iso(item.since, zone),
    }


def _tell_purged(output: Output, done: Purged) -> None:
    if not done.doomed:
        output.note("cli.purge.none")
    elif done.applied:
        output.note("cli.purge.done", **done.counts, group=done.group_uid)
    else:
        output.note("cli.purge.would", **done.counts)


def _show_memory(output: Output, engine: Engine, found: MemoryForecast) -> None:
    zone, memory = engine.context.zone, found.memory
    rows = [
        (
            point.day,
            day(point.at, zone),
            f"{point.importance_now:.3f}",
            f"{point.salience:.3f}",
            f"{point.retention:.3f}",
        )
        for point in found.points
    ]
    if output.format == "json":
        points = [asdict(point) | {"at": iso(point.at, zone)} for point in found.points]
        record = {
            "id": memory.id,
            "uid": memory.uid,
            "points": points,
            "turns": _turn_records(found.turns, zone),
            "half_life_days": found.half_life_days,
        }
        output.json(record)
    elif output.format == "tsv":
        output.tsv(rows)
    else:
        output.line(output.say("cli.forecast.memory", ref=f"#{memory.id}"))
        names = ("on_day", "date", "importance_now", "salience", "retention")
        _table(output, names, _some(rows))
        if found.half_life_days is not None:
            output.line(output.say("cli.forecast.half_life", days=f"{found.half_life_days:.3g}"))
        _tell_turns(output, found.turns, zone)


def _show_atom(output: Output, engine: Engine, found: AtomForecast) -> None:
    zone, atom = engine.context.zone, found.atom
    rows = [(point.day, day(point.at, zone), f"{point.value:.3f}") for point in found.points]
    if output.format == "json":
        points = [asdict(point) | {"at": iso(point.at, zone)} for point in found.points]
        output.json({"id": atom.id, "points": points, "turns": _turn_records(found.turns, zone)})
    elif output.format == "tsv":
        output.tsv(rows)
    else:
        output.line(output.say("cli.forecast.atom", ref=f"#{atom.id}"))
        _table(output, ("on_day", "date", "worth"), _some(rows))
        _tell_turns(output, found.turns, zone)


def _turn_records(turns: Iterable[Turn], zone: tzinfo | None) -> list[dict[str, object]]:
    return [{"kind": turn.kind, "at": iso(turn.at, zone), "below": turn.below} for turn in turns]


def _tell_turns(output: Output, turns: Sequence[Turn], zone: tzinfo | None) -> None:
    for turn in turns:
        below = "" if turn.below is None else f"{turn.below:g}"
        at = iso(turn.at, zone)[:16].replace("T", " ")
        output.line(output.say(f"cli.forecast.{turn.kind}", at=at, below=below))
    if not turns:
        output.line(output.say("cli.forecast.no_turns"))


def _some(rows: Sequence[Sequence[object]]) -> list[Sequence[object]]:
    """A few rows of a curve, evenly apart, with the first and the last."""
    step = max(1, (len(rows) - 1) // _ROWS_OF_A_CURVE)
    shown = list(rows[::step])
    return shown if shown[-1] == rows[-1] else [*shown, rows[-1]]


def _table(output: Output, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    if rows:
        output.table([_column(output, name) for name in names], rows)


def _column(output: Output, name: str) -> Column:
    heading = name if name == "#" else output.say(f"cli.column.{name}")
    return Column(heading, wraps=name == "text", right=name in _NUMBERS)
