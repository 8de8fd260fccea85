"""What the tools on links, conflicts and the graph do. Runs on worker threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.domain.caller import Caller
from engine.domain.graph import Edge
from engine.domain.links import ClashingPair, Neighbour
from engine.domain.scope import Filters
from engine.mcp_server.core_tools import Call
from engine.mcp_server.fitting import data_frame, fitted, fitted_json, preview
from engine.mcp_server.quoting import one_line
from engine.mcp_server.recorded import View
from engine.mcp_server.requests import scope_of
from engine.use_cases.conflicts import ConflictQuery
from engine.use_cases.graph import Neighbourhood
from engine.use_cases.links import NeighbourQuery

_TEXT_CHARS = 200
_DEFAULT_PAIRS = 20
_DEFAULT_EDGES = 24


def link_memories(call: Call) -> str:
    """Link two memories."""
    given = call.arguments
    relation = given.text("relation") or "related"
    source, target = given.text("source") or "", given.text("target") or ""
    done = call.engine.links.link(source, target, _caller(call), relation=relation)
    key = "mcp.links.linked" if done.relations else "mcp.links.linked_before"
    ends = {"source": f"#{done.source.id}", "target": f"#{done.target.id}"}
    return call.view.say(key, relation=relation, **ends)


def unlink_memories(call: Call) -> str:
    """Take links from one memory to another back."""
    given = call.arguments
    source, target = given.text("source") or "", given.text("target") or ""
    done = call.engine.links.unlink(source, target, _caller(call), relation=given.text("relation"))
    ends = {"source": f"#{done.source.id}", "target": f"#{done.target.id}"}
    if not done.relations:
        return call.view.say("mcp.links.none_between", **ends)
    return call.view.say("mcp.links.unlinked", relations=", ".join(done.relations), **ends)


def neighbors(call: Call) -> str:
    """What a memory is linked with."""
    given, view = call.arguments, call.view
    found = call.engine.links.neighbours(
        NeighbourQuery(
            given.text("id") or "",
            given.text("relation"),
            given.text("direction") or "both",
            given.whole("depth") or 1,
        )
    )
    if call.wants_json:
        entries = [_neighbour_entry(one, view) for one in found]
        return fitted_json({"notice": view.say("mcp.notice")}, "links", entries, view)
    if not found:
        return view.say("mcp.links.none")
    lines = [_neighbour_line(one, view) for one in found]
    top = [view.say("mcp.links.found", count=len(found)), *data_frame(lines[:1], view)]
    return fitted(top, lines[1:], view)


def find_conflicts(call: Call) -> str:
    """Pairs that contradict or repeat each other."""
    given, view = call.arguments, call.view
    query = ConflictQuery(
        given.text("id"),
        Filters(scope_of(given, call.workspace())),
        given.whole("limit") or _DEFAULT_PAIRS,
    )
    found = call.engine.links.conflicts(query, call.line.progress)
    if call.wants_json:
        entries = [_pair_entry(pair) for pair in found.pairs]
        whole = {"total": found.total, "scanned": found.scanned, "notice": view.say("mcp.notice")}
        return fitted_json(whole, "pairs", entries, view)
    if not found.pairs:
        return view.say("mcp.links.no_conflicts", count=found.scanned)
    lines = [_pair_lines(pair, view) for pair in found.pairs]
    top = view.say("mcp.links.conflicts", count=found.total, scanned=found.scanned)
    return fitted([top, *data_frame(lines[:1], view)], lines[1:], view)


def graph_neighbourhood(call: Call) -> str:
    """What surrounds a person, topic or fact."""
    given = call.arguments
    limit = given.whole("limit") or _DEFAULT_EDGES
    found = call.engine.neighbourhood(given.text("name") or "", given.text("type"), limit)
    if call.wants_json:
        return neighbourhood_json(found, call.view)
    return neighbourhood_text(found, call.view)


RUN: Mapping[str, Callable[[Call], str]] = {
    "link_memories": link_memories,
    "unlink_memories": unlink_memories,
    "neighbors": neighbors,
    "find_conflicts": find_conflicts,
    "graph_neighbourhood": graph_neighbourhood,
}


def neighbourhood_text(found: Neighbourhood, view: View) -> str:
    """A node, its names, its connections and its memories."""
    node = found.node
    ids = ", ".join(f"#{memory_id}" for memory_id in found.memory_ids)
    top = [
        view.say(
            "mcp.links.node",
            name=one_line(node.name),
            type=node.type,
            count=node.memories,
            ids=ids or "-",
        )
    ]
    if found.aliases:
        names = ", ".join(one_line(name) for name in found.aliases)
        top.append(view.say("mcp.links.aliases", names=names))
    lines = [_edge_line(edge) for edge in found.edges]
    return fitted([*top, *data_frame(lines[:1], view)], lines[1:], view)


def neighbourhood_json(found: Neighbourhood, view: View) -> str:
    """The same for programs."""
    whole: dict[str, object] = {
        "name": found.node.name,
        "type": found.node.type,
        "memories": list(found.memory_ids),
        "aliases": list(found.aliases),
    }
    entries = [
        {
            "source": edge.source.name,
            "relation": edge.relation,
            "target": edge.target.name,
            "weight": round(edge.weight, 3),
        }
        for edge in found.edges
    ]
    return fitted_json(whole, "edges", entries, view)


def _edge_line(edge: Edge) -> str:
    ends = one_line(edge.source.name, _TEXT_CHARS), one_line(edge.target.name, _TEXT_CHARS)
    return f"- {ends[0]} {edge.relation} {ends[1]} ({edge.weight:.2f})"


def _neighbour_line(one: Neighbour, view: View) -> str:
    arrow = "→" if one.outwards else "←"
    state = one.memory.state(view.now)
    mark = "" if state == "live" else f" ({view.say(f'mcp.state.{state}')})"
    link = f"{arrow} {one.link.relation} #{one.memory.id}"
    return f"- {one.hop}: {link}{mark} {preview(one.memory.text)}"


def _neighbour_entry(one: Neighbour, view: View) -> dict[str, object]:
    return {
        "id": one.memory.id,
        "relation": one.link.relation,
        "source": one.link.source_id,
        "target": one.link.target_id,
        "hop": one.hop,
        "state": one.memory.state(view.now),
        "text": one.memory.text[:_TEXT_CHARS],
    }


def _pair_lines(pair: ClashingPair, view: View) -> str:
    verdict = view.say(f"mcp.links.{pair.verdict}")
    first = f"- #{pair.newer.id} {verdict} #{pair.older.id} ({pair.reason})"
    return "\n".join([first, preview(pair.newer.text), preview(pair.older.text)])


def _pair_entry(pair: ClashingPair) -> dict[str, object]:
    return {
        "older": pair.older.id,
        "newer": pair.newer.id,
        "verdict": pair.verdict,
        "reason": pair.reason,
        "similarity": None if pair.similarity is None else round(pair.similarity, 3),
        "older_text": pair.older.text[:_TEXT_CHARS],
        "newer_text": pair.newer.text[:_TEXT_CHARS],
    }


def _caller(call: Call) -> Caller:
    return call.surroundings.caller(call.asker, call.workspace())
