"""A page of the list of memories, as text for models and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.domain.memory import Memory
from engine.mcp_server.quoting import fair_shares, needs, quoted_size, size
from engine.mcp_server.recall_answer import fill_texts
from engine.mcp_server.recorded import View, body, cut_mark, facts, heading
from engine.mcp_server.requests import importance_steps
from engine.storage.memories import Page

_LEAST_BODY = 80
_PREVIEW_CHARS = 300
_JSON_OVERHEAD = 500
_SPARE = 24


def fitting_count(page: Page, view: View, notes: Sequence[str]) -> int:
    """How many memories of a page, from its start, an answer can show, each with at least the
    beginning of its text."""
    frame = [_top(page, view), *notes, view.say("mcp.frame_begin"), _bottom(page, view)]
    room = view.limit - size("\n".join(frame)) - _SPARE
    for count, memory in enumerate(page.memories):
        room -= size(_head(memory, view)) + _LEAST_BODY + size(cut_mark(memory, view)) + 2
        if room < 0:
            return max(count, 1)
    return len(page.memories)


def json_fitting_count(page: Page, view: View, notes: Sequence[str]) -> int:
    """The same for the JSON form."""
    room = view.limit - _JSON_OVERHEAD - size("\n".join(notes))
    for count, memory in enumerate(page.memories):
        room -= size(json.dumps(facts(memory, view), ensure_ascii=False)) + _LEAST_BODY * 2
        if room < 0:
            return max(count, 1)
    return len(page.memories)


def as_text(page: Page, view: View, notes: Sequence[str]) -> str:
    """Headings with the beginning of each text, and how to go on."""
    top = "\n".join([_top(page, view), *notes])
    if not page.memories:
        return top
    heads = [_head(memory, view) for memory in page.memories]
    frame = [top, view.say("mcp.frame_begin"), *heads, _bottom(page, view)]
    room = view.limit - size("\n".join(frame)) - len(heads) - _SPARE
    wanted = needs([memory.text[:_PREVIEW_CHARS] for memory in page.memories], room, quoted_size)
    bodies = [
        _preview(memory, view, share)
        for memory, share in zip(page.memories, fair_shares(_with_marks(wanted), room), strict=True)
    ]
    lines = [line for pair in zip(heads, bodies, strict=True) for line in pair]
    return "\n".join([top, view.say("mcp.frame_begin"), *lines, _bottom(page, view)])


def as_json(page: Page, view: View, notes: Sequence[str]) -> str:
    """One object with the page and the cursor of the next one."""
    entries = [facts(memory, view) for memory in page.memories]
    whole: dict[str, object] = {
        "memories": entries,
        "total": page.total,
        "next_cursor": page.next_cursor,
        "notes": list(notes),
        "notice": view.say("mcp.notice"),
    }
    used = size(json.dumps(whole, ensure_ascii=False))
    fill_texts(entries, [memory.text for memory in page.memories], view, used)
    return json.dumps(whole, ensure_ascii=False)


def _with_marks(wanted: Sequence[int]) -> list[int]:
    return [want + 2 * _SPARE for want in wanted]


def _preview(memory: Memory, view: View, share: int) -> str:
    mark = cut_mark(memory, view)
    if len(memory.text) <= _PREVIEW_CHARS:
        return body(memory.text, share, mark)
    return body(memory.text, min(share, quoted_size(memory.text[:_PREVIEW_CHARS])), mark)


def _head(memory: Memory, view: View) -> str:
    importance = view.say("mcp.importance", steps=importance_steps(memory.importance))
    lines = [heading(memory, view, [importance]), view.time_line(memory)]
    return "\n".join(line for line in lines if line)


def _top(page: Page, view: View) -> str:
    if not page.memories:
        return view.say("mcp.list_empty")
    return view.say("mcp.list_top", count=len(page.memories), total=page.total)


def _bottom(page: Page, view: View) -> str:
    end = view.say("mcp.frame_end")
    if page.next_cursor is None:
        return end
    return f"{end} {view.say('mcp.list_more', cursor=page.next_cursor)}"
