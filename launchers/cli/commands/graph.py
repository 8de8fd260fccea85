"""``jiyi graph``: people and topics, what joins them, and the way between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.graph import Edge, Node
from engine.domain.vocabulary import check
from launchers.cli.explaining import way
from launchers.cli.failures import Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session

_NAMES = {"nodes": 0, "show": 1, "path": 2, "merge": 2, "rename": 2, "separate": 1}


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """What narrows what is shown."""

    type: Annotated[str | None, option("--type", key="node_type", metavar="person|topic|fact")] = (
        None
    )
    limit: Annotated[int, option("--limit", "-n", key="limit")] = 20


def graph_command(
    context: typer.Context,
    general: GeneralOptions,
    given: GraphOptions,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[nodes|show|path|merge|rename|separate]", help="cli.argument.graph_action"
        ),
    ] = "nodes",
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="cli.argument.graph_names")
    ] = None,
) -> int:
    """List nodes, show one with what surrounds it, or change names."""
    session = open_session(context, general)
    chosen = check("action", action, _NAMES)
    named = names or []
    if len(named) != _NAMES[chosen]:
        raise Misuse("cli.graph.names", action=chosen, count=_NAMES[chosen])
    with session.engine() as engine:
        if chosen == "nodes":
            return _nodes(session.output, engine, given)
        if chosen == "show":
            return _show(session.output, engine, named[0], given)
        if chosen == "path":
            return _path(session.output, engine, named)
        return _change(session, engine, chosen, named)


def _nodes(output: Output, engine: Engine, given: GraphOptions) -> int:
    nodes = engine.graph_nodes(given.type, given.limit)
    if output.format == "json":
        output.json([asdict(node) for node in nodes])
    elif not nodes:
        output.note("cli.graph.none")
    elif output.format == "tsv":
        output.tsv((node.name, node.type, node.memories) for node in nodes)
    else:
        columns = (
            Column(output.say("cli.column.node")),
            Column(output.say("cli.column.node_type")),
            Column(output.say("cli.column.memories"), right=True),
        )
        output.table(columns, [(n.name, n.type, str(n.memories)) for n in nodes])
    return 0


def _show(output: Output, engine: Engine, name: str, given: GraphOptions) -> int:
    found = engine.neighbourhood(name, given.type, given.limit)
    if output.format == "json":
        output.json(asdict(found))
        return 0
    rows = [_row(found.node, edge) for edge in found.edges]
    if output.format == "tsv":
        output.tsv(rows)
        return 0
    output.line(f"{found.node.name} ({found.node.type})")
    if found.aliases:
        output.line(output.say("cli.graph.also", names=", ".join(found.aliases)))
    columns = (
        Column(output.say("cli.column.relation")),
        Column(output.say("cli.column.node")),
        Column(output.say("cli.column.weight"), right=True),
        Column(output.say("cli.column.memories")),
    )
    output.table(columns, rows)
    ids = " ".join(f"#{memory_id}" for memory_id in found.memory_ids)
    output.line(output.say("cli.graph.memories", ids=ids))
    return 0


def _row(node: Node, edge: Edge) -> tuple[str, str, str, str]:
    outwards = edge.source.id == node.id
    other = edge.target if outwards else edge.source
    arrow = "→" if outwards else "←"
    ids = " ".join(f"#{memory_id}" for memory_id in edge.memory_ids[:8])
    return f"{edge.relation} {arrow}", other.name, f"{edge.weight:.2f}", ids


def _path(output: Output, engine: Engine, names: Sequence[str]) -> int:
    steps = engine.way_between(names[0], names[1])
    if output.format == "json":
        output.json([asdict(step) for step in steps])
    elif steps:
        output.line(way(steps))
    else:
        output.note("cli.graph.no_way")
    return 0 if steps else 1


def _change(session: Session, engine: Engine, action: str, names: Sequence[str]) -> int:
    output, caller = session.output, session.caller(engine)
    if action == "merge":
        node = engine.merge_nodes(names[0], names[1], caller)
        output.note("cli.graph.merged", name=names[0], node=node.name)
    elif action == "rename":
        node = engine.rename_node(names[0], names[1], caller)
        output.note("cli.graph.renamed", name=names[0], node=node.name)
    else:
        engine.separate_name(names[0], caller)
        output.note("cli.graph.separated", name=names[0])
    return 0
