"""What the tool on atoms does: the single facts that memories state. Runs on worker threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from engine.domain.display import in_one_line
from engine.domain.errors import NotFound
from engine.domain.times import day, iso
from engine.mcp_server.core_tools import Call, notes_for
from engine.mcp_server.quoting import size
from engine.mcp_server.recorded import View
from engine.mcp_server.requests import list_filters
from engine.use_cases.atoms import AtomQuery, AtomView

DEFAULT_FOUND = 10
_TEXT_CHARS = 400
_SHOWN_MEMORIES = 5
_TOP_SIZE = 700


def search_atoms(call: Call) -> str:
    """Facts that answer a question, each with what it is worth now and where it stands."""
    query = AtomQuery(
        query=call.arguments.text("query") or "",
        k=call.arguments.whole("k") or DEFAULT_FOUND,
        types=call.arguments.labels("types") or (),
        filters=list_filters(call.arguments, call.moment, call.workspace()),
    )
    found = call.engine.search_atoms(query)
    untrusted = {view.atom.id for view in found if _is_untrusted(call, view)}
    notes = notes_for(call, empty=not found)
    answer = _as_json if call.wants_json else _as_text
    return answer(found, untrusted, call.view, notes)


RUN: Mapping[str, Callable[[Call], str]] = {"search_atoms": search_atoms}


def _is_untrusted(call: Call, view: AtomView) -> bool:
    """Whether nobody vouches for a fact: only texts from outside state it."""
    return all(_is_external(call, memory_id) for memory_id in view.memory_ids)


def _is_external(call: Call, memory_id: int) -> bool:
    try:
        return call.engine.get(memory_id).trust == "external"
    except NotFound:  # erased since the search
        return True


def _as_text(
    found: Sequence[AtomView], untrusted: set[int], view: View, notes: Sequence[str]
) -> str:
    if not found:
        return "\n".join([view.say("mcp.found_nothing"), *notes])
    lines = [_line(item, untrusted, view) for item in found]
    room, shown = view.limit - _TOP_SIZE - size("\n".join(notes)), 0
    while shown < len(lines) and (room := room - size(lines[shown]) - 1) >= 0:
        shown += 1
    end = view.say("context.frame_end")
    if shown < len(lines):
        end += " " + view.say("mcp.left_out", count=len(lines) - shown)
    top = [view.say("mcp.found", count=len(found)), *notes, view.say("context.frame_begin")]
    return "\n".join([*top, *lines[:shown], end])


def _line(item: AtomView, untrusted: set[int], view: View) -> str:
    """``- (type, date, what it is worth) text [atom #id; memories]``."""
    atom = item.atom
    marks = [atom.type, day(atom.created_at, view.zone)]
    if atom.deadline is not None:
        marks.append(view.say("context.due", day=day(atom.deadline, view.zone)))
    marks.append(view.say("context.worth", share=f"{item.value:.0%}"))
    if atom.id in untrusted:
        marks.append(view.say("mcp.trust.external"))
    memories = " ".join(f"#{memory_id}" for memory_id in item.memory_ids[:_SHOWN_MEMORIES])
    source = view.say("context.stated_by", memories=memories)
    return f"- ({', '.join(marks)}) {_shown_text(atom.text)} [atom {atom.id}; {source}]"


def _shown_text(text: str) -> str:
    shown = in_one_line(text[: 2 * _TEXT_CHARS])
    return shown if len(shown) <= _TEXT_CHARS else shown[: _TEXT_CHARS - 1] + "…"


def _as_json(
    found: Sequence[AtomView], untrusted: set[int], view: View, notes: Sequence[str]
) -> str:
    whole: dict[str, object] = {"notes": list(notes), "notice": view.say("mcp.notice")}
    shown = [_entry(item, untrusted, view) for item in found]
    while shown and size(_dumped(whole | {"atoms": shown, "left_out": 0})) + 10 > view.limit:
        shown.pop()
    return _dumped(whole | {"atoms": shown, "left_out": len(found) - len(shown)})


def _entry(item: AtomView, untrusted: set[int], view: View) -> dict[str, object]:
    atom = item.atom
    return {
        "id": atom.id,
        "type": atom.type,
        "text": _shown_text(atom.text),
        "value": round(item.value, 3),
        "confidence": round(atom.confidence, 2),
        "state": atom.state,
        "deadline": None if atom.deadline is None else iso(atom.deadline, view.zone),
        "created_at": iso(atom.created_at, view.zone),
        "trusted": atom.id not in untrusted,
        "memory_ids": list(item.memory_ids[:_SHOWN_MEMORIES]),
    }


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
