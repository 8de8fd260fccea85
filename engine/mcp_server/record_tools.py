"""What the tools do that record what has a structure or sum up. Runs on worker threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from engine.config.messages import render
from engine.domain import details
from engine.mcp_server.core_tools import Call
from engine.mcp_server.parameters import Arguments
from engine.mcp_server.quoting import fitting, json_size, quoted, quoted_size, size
from engine.mcp_server.recorded import body
from engine.mcp_server.requests import importance_steps, memorize_request
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.records import RECORD_KINDS, RecordRequest
from engine.use_cases.summarize import SummaryDraft, SummaryRequest

_LISTED = ("topics", "participants", "key_facts")
_SPARE = 200


def record(kind: str, call: Call) -> str:
    """Store one record and name it, with the question that it closed."""
    request = _request(kind, call)
    current = None if request.workspace else call.workspace(adopt=True)
    caller = call.surroundings.caller(call.asker, current)
    done = call.engine.records.record(request, caller)
    memory, view = done.stored.memory, call.view
    importance = importance_steps(memory.importance)
    lines = [view.say("mcp.record.stored", id=memory.id, kind=kind, importance=importance)]
    if done.question is not None:
        lines.append(view.say("mcp.record.answered", id=done.question.id))
    lines += [view.say(notice.key, **notice.params) for notice in done.stored.notices]
    if done.stored.pending:
        lines.append(view.say("mcp.pending"))
    return "\n".join(lines)


def summarize_memory(call: Call) -> str:
    """Sum a conversation up, and store that if it is wanted."""
    given = call.arguments
    request = SummaryRequest(given.text("conversation"), given.text("session"))
    draft = call.engine.records.summarize(request)
    stored = _stored(call, draft) if given.text("store") == "yes" else None
    return _as_json(call, draft, stored) if call.wants_json else _as_text(call, draft, stored)


def _recorder(kind: str) -> Callable[[Call], str]:
    return lambda call: record(kind, call)


RUN: Mapping[str, Callable[[Call], str]] = {
    **{f"record_{kind}": _recorder(kind) for kind in RECORD_KINDS},
    "summarize_memory": summarize_memory,
}


def _request(kind: str, call: Call) -> RecordRequest:
    given = call.arguments
    names = (*details.FIELDS_BY_KIND.get(kind, {}), "text")
    found: dict[str, object] = {
        name: value for name in names if (value := given.values.get(name)) is not None
    }
    if "alternatives" in found:
        parts = str(found["alternatives"]).replace("；", ";").split(";")
        found["alternatives"] = [part.strip() for part in parts if part.strip()]
    more = _more_fields(call)
    fields = {name: value for name, value in more.fields.items() if name not in ("text", "kind")}
    workspace = given.text("workspace") or more.workspace
    return RecordRequest(kind, found, fields, workspace, given.text("answers"))


def _more_fields(call: Call) -> MemorizeRequest:
    """The named fields, read as those of ``memorize``."""
    values = {"fields": call.arguments.pairs("fields"), "text": "-"}
    return memorize_request(Arguments(values), call.moment)


def _stored(call: Call, draft: SummaryDraft) -> int:
    workspace = call.arguments.text("workspace")
    fields = {**draft.fields, "source": "summary"}
    session_id = call.arguments.text("session")
    request = MemorizeRequest(fields, workspace=workspace, session_id=session_id)
    current = None if workspace else call.workspace(adopt=True)
    caller = call.surroundings.caller(call.asker, current)
    return call.engine.memorize(request, caller).memory.id


def _as_text(call: Call, draft: SummaryDraft, stored: int | None) -> str:
    view = call.view
    top = [view.say(f"mcp.summary.{draft.summarizer}")]
    if draft.problem is not None:
        top.append(render(draft.problem, view.language))
    for name in _LISTED:
        value = draft.fields.get(name)
        if isinstance(value, tuple) and value:
            shown = "; ".join(value)
            top.append(f"{name}: {shown[: fitting(shown, view.limit // 5, size)]}")
    end = view.say("mcp.summary.review" if stored is None else "mcp.summary.stored", id=stored)
    frame = [*top, view.say("mcp.frame_begin"), view.say("mcp.frame_end"), end]
    room = view.limit - size("\n".join(frame)) - _SPARE
    text = str(draft.fields["text"])
    mark = view.say("mcp.value_cut", length=len(text))
    shown = quoted(text) if quoted_size(text) <= room else body(text, room, mark)
    return "\n".join([*top, frame[-3], shown, frame[-2], end])


def _as_json(call: Call, draft: SummaryDraft, stored: int | None) -> str:
    view = call.view
    problem = None if draft.problem is None else render(draft.problem, view.language)
    fields = {
        name: value[: fitting(value, view.limit // 3, json_size)]
        if isinstance(value, str)
        else value
        for name, value in draft.fields.items()
    }
    whole = {"summarizer": draft.summarizer, "problem": problem, "stored": stored}
    return json.dumps(
        {**whole, "memory": fields, "notice": view.say("mcp.notice")}, ensure_ascii=False
    )
