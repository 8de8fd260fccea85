"""One memory in full: metadata first, the text in pages of a bounded size."""

from __future__ import annotations

import json
from dataclasses import dataclass

from engine.domain.memory import Memory
from engine.domain.times import iso
from engine.mcp_server.quoting import fair_shares, fitting, json_size, quoted, quoted_size, size
from engine.mcp_server.recorded import View, body, facts, heading, optional_instant
from engine.mcp_server.requests import importance_steps
from engine.use_cases.memorize import Memorized

_TEXT_FIELDS = (
    "summary",
    "persona_summary",
    "key_facts",
    "topics",
    "participants",
    "tags",
    "source_ref",
)
_PLAIN_FIELDS = ("details", "sentiment", "polarity", "private", "session_id", "persona_id", "agent")
_SPARE = 48


@dataclass(frozen=True, slots=True)
class _Range:
    """A page of a text: characters ``start`` to ``end`` of ``length``."""

    start: int
    end: int
    length: int

    @property
    def more(self) -> bool:
        return self.end < self.length


def conflict_lines(stored: Memorized, view: View) -> list[str]:
    """Which memories a new one repeats or contradicts, one line for each verdict."""
    lines = []
    for verdict in ("contradiction", "duplicate"):
        met = [clash.memory_id for clash in stored.conflicts if clash.verdict == verdict]
        ids = ", ".join(f"#{memory_id}" for memory_id in met if memory_id not in stored.twins)
        if ids:
            lines.append(view.say(f"mcp.conflict_{verdict}", ids=ids))
    return lines


def rule_lines(stored: Memorized, view: View) -> list[str]:
    """By which rules the kind and the importance of a new memory were chosen, if by any."""
    memory, lines = stored.memory, []
    if stored.kind_rule is not None:
        lines.append(view.say("rules.kind", kind=memory.kind, rule=stored.kind_rule))
    if stored.importance_rule is not None:
        shown = f"{importance_steps(memory.importance)}/10"
        lines.append(view.say("rules.importance", importance=shown, rule=stored.importance_rule))
    if stored.suggested_kind is not None:
        lines.append(view.say("rules.suggested_mcp", kind=stored.suggested_kind))
    return lines


def as_text(memory: Memory, view: View, offset: int) -> str:
    """A page of the text behind bars; on the first page also the metadata."""
    lines = [heading(memory, view, [_importance(memory, view)]), *_dates(memory, view)]
    lines.append(view.say("mcp.frame_begin"))
    if offset == 0:
        lines += _metadata(memory, view)
    lines += [line for line in [view.time_line(memory)] if line]
    end = view.say("mcp.frame_end")
    page_line = _page_line(_Range(len(memory.text), len(memory.text) + 1, len(memory.text)), view)
    room = view.limit - size("\n".join([*lines, page_line, end])) - _SPARE
    rest = memory.text[offset:]
    page = _Range(offset, offset + fitting(rest, room, quoted_size), len(memory.text))
    if page.more or offset:
        lines.append(_page_line(page, view))
    return "\n".join([*lines, quoted(rest[: page.end - offset]), end])


def as_json(memory: Memory, view: View, offset: int) -> str:
    """One object; its ``text`` is an exact slice, so that joined pages are the whole text."""
    whole: dict[str, object] = facts(memory, view)
    whole["revision"] = memory.revision
    if offset == 0:
        whole |= _json_metadata(memory, view)
    whole["notice"] = view.say("mcp.notice")
    length = len(memory.text)
    frame = {"text": "", "offset": length, "end": length, "length": length, "next_offset": length}
    room = view.limit - size(json.dumps(whole | frame, ensure_ascii=False))
    rest = memory.text[offset:]
    end = offset + fitting(rest, room, json_size)
    whole |= {"text": memory.text[offset:end], "offset": offset, "end": end, "length": length}
    if end < length:
        whole["next_offset"] = end
    return json.dumps(whole, ensure_ascii=False)


def _page_line(page: _Range, view: View) -> str:
    key = "mcp.page_more" if page.more else "mcp.page_last"
    return view.say(key, start=page.start, end=page.end, length=page.length)


def _importance(memory: Memory, view: View) -> str:
    return view.say("mcp.importance", steps=importance_steps(memory.importance))


def _dates(memory: Memory, view: View) -> list[str]:
    parts = [
        f"uid {memory.uid}",
        f"revision {memory.revision}",
        f"created_at {iso(memory.created_at, view.zone)}",
        f"updated_at {iso(memory.updated_at, view.zone)}",
    ]
    if memory.expires_at is not None:
        parts.append(f"expires_at {iso(memory.expires_at, view.zone)}")
    if memory.superseded_by is not None:
        parts.append(f"superseded_by #{memory.superseded_by}")
    return [" · ".join(parts)]


def _metadata(memory: Memory, view: View) -> list[str]:
    texts = _texts(memory)
    shares = fair_shares([quoted_size(text) for text in texts.values()], view.limit // 3)
    lines: list[str] = []
    for (name, text), share in zip(texts.items(), shares, strict=True):
        mark = view.say("mcp.value_cut", length=len(text))
        lines += [f"{name}:", body(text, max(share, size(mark)), mark)]
    return [*lines, "text:"]


def _texts(memory: Memory) -> dict[str, str]:
    """Metadata that is free text, by field; lists joined."""
    found: dict[str, str] = {}
    for name in (*_TEXT_FIELDS, *_PLAIN_FIELDS):
        value = getattr(memory, name)
        joint = " | " if name == "key_facts" else ", "
        text = joint.join(value) if isinstance(value, tuple) else str(value or "")
        if text:
            found[name] = text
    return found


def _json_metadata(memory: Memory, view: View) -> dict[str, object]:
    values = {name: getattr(memory, name) for name in (*_TEXT_FIELDS, *_PLAIN_FIELDS)}
    given = {name: value for name, value in values.items() if value}
    wanted = {name: size(json.dumps(value, ensure_ascii=False)) for name, value in given.items()}
    shares = dict(zip(wanted, fair_shares(list(wanted.values()), view.limit // 3), strict=True))
    kept = {name: value for name, value in given.items() if wanted[name] <= shares[name]}
    times: dict[str, object] = {
        "updated_at": iso(memory.updated_at, view.zone),
        "expires_at": optional_instant(memory.expires_at, view),
        "superseded_by": memory.superseded_by,
    }
    cut = {name: _cut_value(given[name], shares[name]) for name in given if name not in kept}
    marks: dict[str, object] = {"cut_fields": list(cut)} if cut else {}
    return {name: value for name, value in times.items() if value is not None} | kept | cut | marks


def _cut_value(value: object, share: int) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return text[: fitting(text, share - 2, json_size)]
