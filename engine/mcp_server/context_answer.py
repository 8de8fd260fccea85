"""What was put together for a prompt, as text for models and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.config.messages import render
from engine.domain.prompts import PackedLine, PromptForm, PromptText
from engine.mcp_server.quoting import json_size, one_line, size
from engine.mcp_server.recorded import View
from engine.use_cases.memory_context import MemoryContext

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3_600, 86_400
# Room for the lines above the text: what it is, what took no part, what is missing.
_TOP_SIZE = 900
_ITEM_SIZE = size('{"id": 0000000, "kind": "procedural", "tokens": 0000, "score": 0.0000}, ')
_SHOWN_QUERY_CHARS = 80


def form_for(view: View, token_budget: int | None, *, as_json: bool) -> PromptForm:
    """The form of a text that fits into an answer."""
    room = view.limit - min(_TOP_SIZE, view.limit // 3)
    if as_json:
        return PromptForm(view.language, token_budget, room, _json_line_size)
    return PromptForm(view.language, token_budget, room)


def pack_text(found: PromptText, view: View, notes: Sequence[str]) -> str:
    """A pack below one line about it."""
    top = [view.say("context.packed", **_counts(found)), *_remarks(found, view)]
    if not found.text:
        top[0] = view.say("context.nothing_near" if found.queries else "context.nothing")
    return _joined(top, notes, found, view)


def context_text(context: MemoryContext, view: View, notes: Sequence[str]) -> str:
    """A context below one line that says how it came about and how old it is."""
    found = context.prompt
    return _joined([_headline(context, view), *_remarks(found, view)], notes, found, view)


def pack_json(found: PromptText, view: View, notes: Sequence[str]) -> str:
    """The text with the ids, scores and tokens of its lines."""
    return _dumped(_document(found, view, notes))


def context_json(context: MemoryContext, view: View, notes: Sequence[str]) -> str:
    """The same for a context, with its mode and the age of the briefing."""
    how: dict[str, object] = {
        "mode": context.mode,
        "workspace": context.workspace,
        "briefing_age_s": round(context.age_s),
        "stale": context.stale,
    }
    return _dumped(how | _document(context.prompt, view, notes))


def shown_age(age_s: float, view: View) -> str:
    """A duration in its largest whole unit, minutes at least."""
    if age_s < _HOUR_S:
        return view.say("context.minutes", count=int(age_s // _MINUTE_S))
    if age_s < 2 * _DAY_S:
        return view.say("context.hours", count=int(age_s // _HOUR_S))
    return view.say("context.days", count=int(age_s // _DAY_S))


def _headline(context: MemoryContext, view: View) -> str:
    found = context.prompt
    if not found.text:
        return view.say("context.nothing_near" if context.topic else "context.nothing")
    if context.topic is not None:
        return view.say("context.topic", mode=context.mode, **_counts(found))
    return view.say(
        "context.briefing_stale" if context.stale else "context.briefing",
        workspace=one_line(context.workspace),
        mode=context.mode,
        age=shown_age(context.age_s, view),
        **_counts(found),
    )


def _counts(found: PromptText) -> dict[str, object]:
    return {
        "count": len({memory.id for line in found.lines for memory in line.memories}),
        "used": found.used_tokens,
        "budget": found.budget_tokens,
    }


def _remarks(found: PromptText, view: View) -> list[str]:
    """What the reader must know about what is not shown."""
    remarks = [
        view.say(key, count=count)
        for key, count in (
            ("context.left_out", found.left_out),
            ("context.shortened", found.shortened),
            ("context.weaker", found.weaker),
        )
        if count
    ]
    if len(found.queries) > 1:
        queries = " | ".join(one_line(query, _SHOWN_QUERY_CHARS) for query in found.queries)
        remarks.append(view.say("context.searched", queries=queries))
    remarks += [
        view.say("mcp.keywords_only", reason=render(reason, view.language))
        for reason in found.degraded
    ]
    return remarks


def _joined(top: Sequence[str], notes: Sequence[str], found: PromptText, view: View) -> str:
    gap = "" if view.language == "zh" else " "
    return "\n".join(part for part in [gap.join(top), *notes, found.text] if part)


def _document(found: PromptText, view: View, notes: Sequence[str]) -> dict[str, object]:
    lines = [_item(line) for section in found.sections for line in section.lines]
    return {
        "text": found.text,
        "items": [item for item in lines if "id" in item],
        "compressed": [item for item in lines if "ids" in item],
        "used_tokens": found.used_tokens,
        "budget_tokens": found.budget_tokens,
        "truncated": found.truncated,
        "left_out": found.left_out,
        "weaker_left_out": found.weaker,
        "queries": [one_line(query, _SHOWN_QUERY_CHARS) for query in found.queries],
        "degraded": [render(reason, view.language) for reason in found.degraded],
        "notes": list(notes),
    }


def _item(line: PackedLine) -> dict[str, object]:
    if len(line.memories) > 1:
        return {"ids": [memory.id for memory in line.memories], "tokens": line.tokens}
    if not line.memories:
        return {"tokens": line.tokens}
    (memory,) = line.memories
    entry: dict[str, object] = {"id": memory.id, "kind": memory.kind, "tokens": line.tokens}
    return entry | ({"score": round(line.score, 4)} if line.score else {})


def _json_line_size(line: str) -> int:
    return json_size(line) + len("\\n") + _ITEM_SIZE


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
