"""``jiyi state-at``: the store as it was."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.domain.times import iso
from launchers.cli.commands.journal import past_moment
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column
from launchers.cli.records import memory_record, preview, shown_day, shown_state
from launchers.cli.session import open_session

_PREVIEW_CHARS = 100


def state_at_command(
    context: typer.Context,
    moment: Annotated[str, typer.Argument(metavar="7d|TIME", help="cli.argument.moment")],
    general: GeneralOptions,
    limit: Annotated[int, option("--limit", "-n", metavar="1-1000")] = 20,
    offset: Annotated[int, option("--offset", key="state_offset", metavar="N")] = 0,
    trash: Annotated[bool, option("--trash", key="state_trash")] = False,
) -> int:
    """Show the memories as they were at a moment, newest first."""
    session = open_session(context, general)
    output = session.output
    with session.engine() as engine:
        at, zone = past_moment(engine, moment), engine.context.zone
        page = engine.journal.state_at(at, with_trash=trash, limit=limit, offset=offset)
        reach = page.reaches_back_to
        if output.format == "json":
            output.json(
                {
                    "at": iso(at, zone),
                    "memories": [memory_record(memory, at, zone) for memory in page.memories],
                    "total": page.total,
                    "erased": page.erased,
                    "reaches_back_to": None if reach is None else iso(reach, zone),
                    "next_offset": page.next_offset,
                }
            )
            return 0
        rows = [
            (
                f"#{memory.id}",
                shown_day(memory, zone),
                memory.workspace,
                memory.kind,
                shown_state(memory.state(at), output)
                + preview(memory.text, _PREVIEW_CHARS, output),
            )
            for memory in page.memories
        ]
        if output.format == "tsv":
            output.tsv(rows)
        elif rows:
            names = ("", "date", "workspace", "kind", "text")
            columns = [Column("#", right=True)]
            columns += [Column(output.say(f"cli.column.{n}"), wraps=n == "text") for n in names[1:]]
            output.table(columns, rows)
        output.note("cli.journal.state", at=iso(at, zone), total=page.total)
        if page.erased:
            output.note("cli.journal.erased_since", count=page.erased)
        if reach is not None:
            output.note("cli.journal.reach", earliest=iso(reach, zone))
        if page.next_offset is not None:
            output.note("cli.journal.more", offset=page.next_offset)
    return 0
