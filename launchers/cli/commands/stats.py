"""``jiyi stats``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import typer

from launchers.cli.options import GeneralOptions
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session

_FACETS = ("state", "kind", "source", "workspace", "tag")
_SHOWN_OF_A_FACET = 20


def stats_command(context: typer.Context, general: GeneralOptions) -> int:
    """Show what the store holds."""
    session = open_session(context, general)
    output = session.output
    with session.engine() as engine:
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
