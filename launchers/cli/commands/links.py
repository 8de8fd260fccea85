"""``jiyi link``, ``unlink``, ``neighbors`` and ``supersede``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from engine.domain.ids import short_uid
from engine.domain.times import iso
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.records import preview
from launchers.cli.session import open_session

if TYPE_CHECKING:
    from datetime import tzinfo

    from engine.domain.links import Neighbour
    from engine.use_cases.links import Linked

_PREVIEW_CHARS = 60
_RELATIONS = "supersedes|refines|derived_from|example_of|contradicts|related"

Source = Annotated[str, typer.Argument(metavar="FROM", help="cli.argument.link_from")]
Target = Annotated[str, typer.Argument(metavar="TO", help="cli.argument.link_to")]


def link_command(
    context: typer.Context,
    general: GeneralOptions,
    source: Source,
    target: Target,
    relation: Annotated[str, option("--relation", "-r", metavar=_RELATIONS)] = "related",
) -> int:
    """Link one memory with another."""
    session = open_session(context, general)
    with session.engine() as engine:
        done = engine.links.link(source, target, session.reader(), relation=relation)
    _tell(session.output, done, "cli.links.linked", "cli.links.linked_already")
    return 0


def unlink_command(
    context: typer.Context,
    general: GeneralOptions,
    source: Source,
    target: Target,
    relation: Annotated[
        str | None, option("--relation", "-r", key="only_relation", metavar=_RELATIONS)
    ] = None,
) -> int:
    """Take links from one memory to another back."""
    session = open_session(context, general)
    with session.engine() as engine:
        done = engine.links.unlink(source, target, session.reader(), relation=relation)
    _tell(session.output, done, "cli.links.unlinked", "cli.links.not_linked")
    return 0


def neighbors_command(
    context: typer.Context,
    general: GeneralOptions,
    ref: Annotated[str, typer.Argument(metavar="REF", help="cli.argument.ref")],
    relation: Annotated[
        str | None, option("--relation", "-r", key="only_relation", metavar=_RELATIONS)
    ] = None,
    direction: Annotated[str, option("--direction", metavar="in|out|both")] = "both",
    depth: Annotated[int, option("--depth", metavar="1-5")] = 1,
) -> int:
    """What a memory is linked with."""
    from engine.use_cases.links import NeighbourQuery

    session = open_session(context, general)
    with session.engine() as engine:
        found = engine.links.neighbours(NeighbourQuery(ref, relation, direction, depth))
        _show(session.output, found, engine.context.zone)
    return 0


def supersede_command(
    context: typer.Context,
    general: GeneralOptions,
    old: Annotated[str, typer.Argument(metavar="OLD", help="cli.argument.superseded")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="cli.argument.successor")],
) -> int:
    """Hide a memory in favour of another one."""
    session = open_session(context, general)
    output = session.output
    with session.engine() as engine:
        done = engine.links.supersede(old, new, session.reader())
    shown = {"old": f"#{done.old.id}", "new": f"#{done.new.id}"}
    if output.format == "json":
        output.json({"old": done.old.id, "new": done.new.id, "changed": done.changed})
    elif output.format == "tsv":
        output.tsv([(*shown.values(), "superseded" if done.changed else "unchanged")])
    else:
        key = "cli.links.superseded" if done.changed else "cli.links.superseded_already"
        output.line(output.say(key, **shown))
    return 0


def _tell(output: Output, done: Linked, key: str, nothing: str) -> None:
    source, target = f"#{done.source.id}", f"#{done.target.id}"
    if output.format == "json":
        relations = list(done.relations)
        output.json({"from": done.source.id, "to": done.target.id, "relations": relations})
    elif output.format == "tsv":
        output.tsv((source, target, relation) for relation in done.relations)
    elif done.relations:
        output.line(output.say(key, source=source, target=target, count=len(done.relations)))
    else:
        output.line(output.say(nothing, source=source, target=target))


def _show(output: Output, rows: Sequence[Neighbour], zone: tzinfo | None) -> None:
    if output.format == "json":
        output.json([_record(row, zone) for row in rows])
    elif output.format == "tsv":
        output.tsv(_cells(row, output) for row in rows)
    elif not rows:
        output.note("cli.links.none")
    else:
        columns = (
            Column(output.say("cli.column.hop"), right=True),
            Column(output.say("cli.column.link")),
            Column("#", right=True),
            Column(output.say("cli.column.text"), wraps=True),
        )
        output.table(columns, [_cells(row, output) for row in rows])


def _cells(row: Neighbour, output: Output) -> tuple[str, ...]:
    near = row.link.source_id if row.outwards else row.link.target_id
    arrow = "→" if row.outwards else "←"
    text = preview(row.memory.text, _PREVIEW_CHARS, output)
    return str(row.hop), f"#{near} {row.link.relation} {arrow}", f"#{row.memory.id}", text


def _record(row: Neighbour, zone: tzinfo | None) -> dict[str, object]:
    return {
        "hop": row.hop,
        "from": row.link.source_id,
        "to": row.link.target_id,
        "relation": row.link.relation,
        "created_at": iso(row.link.created_at, zone),
        "id": row.memory.id,
        "uid": row.memory.uid,
        "short_uid": short_uid(row.memory.uid),
        "text": row.memory.text,
    }
