"""``jiyi stats``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer

from engine.use_cases.health import Health
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session
from launchers.cli.work import progress_bars

_FACETS = ("state", "kind", "source", "workspace", "tag")
_SHOWN_OF_A_FACET = 20
_HEALTH = (
    "live",
    "considered",
    "at_risk",
    "unused",
    "duplicates",
    "duplicate_groups",
    "clusters",
    "clustered",
)


def stats_command(
    context: typer.Context,
    general: GeneralOptions,
    health: Annotated[bool, option("--health")] = False,
) -> int:
    """Show what the store holds, or how much of it is fading."""
    session = open_session(context, general)
    output = session.output
    with session.engine() as engine:
        if health:
            with progress_bars(output) as show:
                on_progress = partial(show, "", "duplicates")
                return _health(output, engine.forgetting.health(on_progress=on_progress))
        counts = asdict(engine.statistics())
    if output.format == "json":
        output.json(counts)
    elif output.format == "tsv":
        output.tsv(_rows(counts, None))
    else:
        _table(output, counts)
    return 0


def _rows(counts: dict[str, object], most: int | None) -> Iterator[tuple[str, str, object]]:
    for name in ("total", "pinned", "vectors", "journal_entries"):
        yield name, "", counts[name]
    for facet in _FACETS:
        values = counts[f"by_{facet}"]
        assert isinstance(values, dict)
        for value, count in list(values.items())[:most]:
            yield facet, value, count


def _table(output: Output, counts: dict[str, object]) -> None:
    columns = (
        Column(""),
        Column("", wraps=True),
        Column(output.say("cli.column.count"), right=True),
    )
    rows, last = [], ""
    for name, value, count in _rows(counts, _SHOWN_OF_A_FACET):
        rows.append((output.say(f"cli.stats.{name}") if name != last else "", value, count))
        last = name
    output.table(columns, rows)


def _health(output: Output, health: Health) -> int:
    if output.format == "json":
        output.json(asdict(health))
    elif output.format == "tsv":
        output.tsv(_health_rows(health))
    else:
        rows, last = [], ""
        for name, value, count in _health_rows(health):
            rows.append((output.say(f"cli.stats.{name}") if name != last else "", value, count))
            last = name
        columns = (Column(""), Column(""), Column(output.say("cli.column.count"), right=True))
        output.table(columns, rows)
    return 0


def _health_rows(health: Health) -> Iterator[tuple[str, str, int]]:
    for name in _HEALTH:
        if (count := getattr(health, name)) is not None:
            yield name, "", count
    for risk in health.forecast:
        yield "at_risk_in", str(risk.days), risk.at_risk
    step = 1.0 / len(health.histogram)
    for place, count in enumerate(health.histogram):
        yield "histogram", f"{place * step:.1f}-{(place + 1) * step:.1f}", count
