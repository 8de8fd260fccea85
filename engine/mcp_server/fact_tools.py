"""What the tools on facts do, and the one that sums up. Runs on worker threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from engine.config.messages import render
from engine.domain.display import in_one_line
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.fact import AddedFact, Fact, FactQuery, FactRequest
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.reflection import Reflected, Reflection, ReflectRequest
from engine.domain.scope import Scope
from engine.mcp_server.core_tools import Call
from engine.mcp_server.quoting import size
from engine.mcp_server.recorded import View, optional_instant
from engine.mcp_server.requests import list_filters

_TOP_SIZE = 700
_TERM_CHARS = 200
_SUMMARY_CHARS = 600


def fact_add(call: Call) -> str:
    """Store a fact; name it and what ended with it."""
    given, moment = call.arguments, call.moment
    workspace = given.text("workspace") or call.workspace(adopt=True)
    start, end = given.text("valid_from"), given.text("valid_to")
    request = FactRequest(
        subject=given.text("subject") or "",
        predicate=given.text("predicate") or "",
        object=given.text("object") or "",
        valid_from=None if start is None else moment.instant(start),
        valid_to=None if end is None else moment.instant(end),
        confidence=_share(given.text("confidence")),
        memory=given.text("memory_id"),
        workspace=given.text("workspace"),
    )
    done = call.engine.facts.add(request, call.surroundings.caller(call.asker, workspace))
    return "\n".join(_added(done, call.view))


def fact_query(call: Call) -> str:
    """What is true of an entity."""
    as_of = call.arguments.text("as_of")
    at = None if as_of is None else call.moment.instant(as_of)
    return _shown(call, call.engine.facts.query(_query(call, at)))


def fact_timeline(call: Call) -> str:
    """Every version of an entity's facts."""
    return _shown(call, call.engine.facts.timeline(_query(call, None)))


def fact_invalidate(call: Call) -> str:
    """End a fact."""
    at = call.arguments.text("at")
    caller = call.surroundings.caller(call.asker, call.workspace())
    done = call.engine.facts.invalidate(
        call.arguments.text("id") or "", caller, None if at is None else call.moment.instant(at)
    )
    key = "mcp.fact.ended" if done.changed else "mcp.fact.ended_before"
    return _say(call.view, key, done.fact)


def fact_stats(call: Call) -> str:
    """Counts of facts."""
    found = call.engine.facts.stats(_scope(call))
    if call.wants_json:
        return _dumped(asdict(found) | {"by_predicate": dict(found.by_predicate)})
    return call.view.say("mcp.fact.counts", **asdict(found))


def reflect(call: Call) -> str:
    """Show or store summaries."""
    given = call.arguments
    apply, consolidate = given.text("apply") == "yes", given.text("consolidate")
    request = ReflectRequest(
        workspace=given.text("workspace"),
        consolidate=None if consolidate is None else consolidate == "yes",
        summarizer=given.text("summarizer"),
        apply=apply,
    )
    caller = call.surroundings.caller(call.asker, call.workspace())
    found = call.engine.reflection.reflect(request, caller, call.line.progress)
    return _reflected_json(found, call.view) if call.wants_json else _reflected(found, call.view)


RUN: Mapping[str, Callable[[Call], str]] = {
    "fact_add": fact_add,
    "fact_query": fact_query,
    "fact_invalidate": fact_invalidate,
    "fact_timeline": fact_timeline,
    "fact_stats": fact_stats,
    "reflect": reflect,
}


def _share(given: str | None) -> float:
    try:
        return 1.0 if given is None else float(given)
    except ValueError:
        raise InvalidInput("error.expected_number", name="confidence") from None


def _query(call: Call, at: float | None) -> FactQuery:
    given = call.arguments
    return FactQuery(
        given.text("entity") or "",
        given.text("predicate"),
        at,
        given.text("direction") or "both",
        _scope(call),
    )


def _scope(call: Call) -> Scope:
    return list_filters(call.arguments, call.moment, call.workspace() or GLOBAL_WORKSPACE).scope


def _added(done: AddedFact, view: View) -> list[str]:
    lines = [_say(view, "mcp.fact.added" if done.added else "mcp.fact.known", done.fact)]
    for key, some in (("closed", done.closed), ("resumed", done.resumed)):
        lines += [_say(view, f"mcp.fact.{key}", fact) for fact in some]
    return lines + [view.say(notice.key, **notice.params) for notice in done.notices]


def _say(view: View, key: str, fact: Fact) -> str:
    return view.say(
        key,
        id=fact.id,
        subject=_term(fact.subject),
        predicate=_term(fact.predicate),
        object=_term(fact.object),
        period=_period(fact, view),
    )


def _period(fact: Fact, view: View) -> str:
    key, values = fact.period.told(view.zone)
    return view.say(key, **values)


def _term(text: str) -> str:
    shown = in_one_line(text)
    return shown if len(shown) <= _TERM_CHARS else shown[: _TERM_CHARS - 1] + "…"


def _shown(call: Call, found: Sequence[Fact]) -> str:
    view = call.view
    untrusted = {fact.id for fact in found if _is_external(call, fact)}
    if call.wants_json:
        return _as_json(found, untrusted, view)
    if not found:
        return view.say("mcp.found_nothing")
    lines = [_line(fact, view, is_external=fact.id in untrusted) for fact in found]
    return _framed([view.say("mcp.found", count=len(found))], lines, view)


def _framed(top: Sequence[str], lines: Sequence[str], view: View) -> str:
    """As many of the lines as fit, in the frame that says what they are."""
    room, shown = view.limit - _TOP_SIZE - size("\n".join(top)), 0
    while shown < len(lines) and (room := room - size(lines[shown]) - 1) >= 0:
        shown += 1
    end = view.say("context.frame_end")
    if shown < len(lines):
        end += " " + view.say("mcp.left_out", count=len(lines) - shown)
    return "\n".join([*top, view.say("context.frame_begin"), *lines[:shown], end])


def _line(fact: Fact, view: View, *, is_external: bool) -> str:
    period = _period(fact, view)
    state = fact.state(view.now)
    if state != "active":
        period += ", " + view.say(f"fact.state.{state}")
    if is_external:
        period += ", " + view.say("mcp.trust.external")
    return view.say(
        "fact.line",
        id=fact.id,
        period=period,
        subject=_term(fact.subject),
        predicate=_term(fact.predicate),
        object=_term(fact.object),
    )


def _is_external(call: Call, fact: Fact) -> bool:
    if fact.memory_id is None:
        return False
    try:
        return call.engine.get(fact.memory_id).trust == "external"
    except NotFound:  # erased since the search
        return True


def _as_json(found: Sequence[Fact], untrusted: set[int], view: View) -> str:
    entries = [_entry(fact, view, trusted=fact.id not in untrusted) for fact in found]
    whole: dict[str, object] = {"notice": view.say("mcp.notice")}
    while entries and size(_dumped(whole | {"facts": entries, "left_out": 0})) + 10 > view.limit:
        entries.pop()
    return _dumped(whole | {"facts": entries, "left_out": len(found) - len(entries)})


def _entry(fact: Fact, view: View, *, trusted: bool) -> dict[str, object]:
    return {
        "id": fact.id,
        "subject": _term(fact.subject),
        "predicate": _term(fact.predicate),
        "object": _term(fact.object),
        "valid_from": optional_instant(fact.valid_from, view),
        "valid_to": optional_instant(fact.valid_to, view),
        "state": fact.state(view.now),
        "confidence": fact.confidence,
        "memory_id": fact.memory_id,
        "workspace": fact.workspace,
        "trusted": trusted,
    }


def _reflected(found: Reflected, view: View) -> str:
    if not found.reflections:
        return view.say("mcp.reflect.none")
    key = "mcp.reflect.done" if found.applied else "mcp.reflect.shows"
    top = [view.say(key, count=len(found.reflections) - found.skipped)]
    reasons = [render(item.warning, view.language) for item in found.reflections if item.warning]
    top += [view.say("mcp.reflect.warning", reason=reason) for reason in dict.fromkeys(reasons)]
    return _framed(top, [_summary(item) for item in found.reflections], view)


def _summary(item: Reflection) -> str:
    """``- (workspace; its sources) text [#id]``."""
    sources = " ".join(f"#{memory_id}" for memory_id in item.source_ids)
    made = "" if item.memory is None else f" [#{item.memory.id}]"
    workspace = _term(item.draft.workspace)
    return f"- ({workspace}; {sources}) {in_one_line(item.text)[:_SUMMARY_CHARS]}{made}"


def _reflected_json(found: Reflected, view: View) -> str:
    entries: list[dict[str, object]] = [
        {
            "id": None if item.memory is None else item.memory.id,
            "workspace": item.draft.workspace,
            "text": item.text[:_SUMMARY_CHARS],
            "sources": list(item.source_ids),
            "summarizer": item.summarizer,
            "warning": None if item.warning is None else render(item.warning, view.language),
        }
        for item in found.reflections
    ]
    whole: dict[str, object] = {
        "notice": view.say("mcp.notice"),
        "applied": found.applied,
        "considered": found.considered,
        "without_vectors": found.without_vectors,
        "archived": found.archived,
    }
    count = len(entries)
    while entries and size(_dumped(whole | {"reflections": entries, "left_out": 0})) > view.limit:
        entries.pop()
    return _dumped(whole | {"reflections": entries, "left_out": count - len(entries)})


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
