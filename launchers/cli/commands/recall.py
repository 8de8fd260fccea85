"""``jiyi recall``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.use_cases.readiness import wait_for_model
from engine.use_cases.recall import Hit, RecallRequest, RecallResult
from launchers.cli.explaining import print_explanation
from launchers.cli.options import FilterOptions, GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.records import hit_record, preview, shown_day, shown_state
from launchers.cli.requests import filters
from launchers.cli.session import open_session
from launchers.cli.streams import read_stdin

_PREVIEW_CHARS = 160
_MODEL_WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """How an answer is made."""

    k: Annotated[int | None, option("-k", "--count", key="k", metavar="1-100")] = None
    mode: Annotated[str, option("--mode", metavar="auto|keyword|semantic|graph")] = "auto"
    preset: Annotated[str | None, option("--preset", metavar="NAME")] = None
    min_strength: Annotated[float | None, option("--min-strength", metavar="0-1")] = None
    explain: Annotated[bool, option("--explain")] = False
    no_touch: Annotated[bool, option("--no-touch")] = False


def recall_command(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="cli.argument.query")],
    general: GeneralOptions,
    ranking: RankingOptions,
    narrowing: FilterOptions,
) -> int:
    """Show the memories that answer a question, best first."""
    session = open_session(context, general)
    asked = read_stdin().strip() if query == ["-"] else " ".join(query)
    with session.engine() as engine:
        request = RecallRequest(
            query=asked,
            k=ranking.k,
            filters=filters(engine, session, narrowing),
            mode=ranking.mode,
            preset=ranking.preset,
            min_strength=ranking.min_strength,
            touch=not ranking.no_touch,
        )
        if ranking.mode != "keyword":
            wait_for_model(engine.context, _MODEL_WAIT_S)
        result = engine.recall(request)
        _show(session.output, engine, result, explain=ranking.explain)
    return 0


def tell_degraded(output: Output, result: RecallResult) -> None:
    """Say which way of searching did not take part, and why."""
    for item in result.degraded:
        key = "cli.keywords_only" if item.channel == "vector" else "cli.channel_off"
        reason = output.sentence(item.reason)
        output.note(key, channel=item.channel, reason=reason)


def shown_strength(output: Output, hit: Hit) -> str:
    """The match strength in per cent, a weak one marked with a word."""
    mark = f" {output.say('cli.weak')}" if hit.weak else ""
    return f"{hit.strength:.0%}{mark}"


def _show(output: Output, engine: Engine, result: RecallResult, *, explain: bool) -> None:
    tell_degraded(output, result)
    if output.format == "json":
        output.json(_record(output, engine, result, explained=explain))
        return
    if not result.hits:
        output.note("cli.nothing_cut" if result.cut else "cli.nothing", count=result.cut)
    elif output.format == "tsv":
        output.tsv(_tsv_row(engine, hit) for hit in result.hits)
    else:
        _table(output, engine, result)
    if explain:
        print_explanation(output, result, engine.context.zone)


def _table(output: Output, engine: Engine, result: RecallResult) -> None:
    zone = engine.context.zone
    columns = (
        Column("#", right=True),
        Column(output.say("cli.column.date")),
        Column(output.say("cli.column.workspace")),
        Column(output.say("cli.column.match"), right=True),
        Column(output.say("cli.column.text"), wraps=True),
    )
    rows = [
        (
            f"#{hit.memory.id}",
            shown_day(hit.memory, zone),
            hit.memory.workspace,
            shown_strength(output, hit),
            shown_state(hit.state, output) + preview(hit.memory.text, _PREVIEW_CHARS, output),
        )
        for hit in result.hits
    ]
    output.table(columns, rows)


def _tsv_row(engine: Engine, hit: Hit) -> tuple[object, ...]:
    return (
        f"#{hit.memory.id}",
        shown_day(hit.memory, engine.context.zone),
        hit.memory.workspace,
        f"{hit.strength:.3f}",
        "weak" if hit.weak else "",
        hit.state,
        hit.memory.text,
    )


def _record(
    output: Output, engine: Engine, result: RecallResult, *, explained: bool
) -> dict[str, object]:
    now, zone = engine.context.clock.now(), engine.context.zone
    return {
        "query": result.query,
        "results": [
            hit_record(hit, now, zone)
            | ({"explanation": asdict(hit.explanation)} if explained else {})
            for hit in result.hits
        ],
        "degraded": [
            {
                "channel": item.channel,
                "key": item.reason.key,
                "reason": output.sentence(item.reason),
            }
            for item in result.degraded
        ],
        "switched_off": list(result.switched_off),
        "cached": result.cached,
        "pool": result.pool,
        "cut": result.cut,
        "preset": result.preset,
        "config_version": result.config_version,
        "stages_ms": {name: round(ms, 3) for name, ms in result.stages_ms.items()},
    }
