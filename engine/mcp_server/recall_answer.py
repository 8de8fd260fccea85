"""The answer to a recall, as text for models and as JSON for programs, within its size."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.config.messages import render
from engine.mcp_server.quoting import fair_shares, fitting, json_size, needs, quoted_size, size
from engine.mcp_server.recorded import View, body, cut_mark, facts, heading
from engine.use_cases.recall import Hit, RecallResult

_LEAST_BODY = 60
_SPARE = 24


def as_text(result: RecallResult, view: View, *, explain: bool, notes: Sequence[str]) -> str:
    """Compact lines: what was found, then each memory quoted, the rest cut fairly."""
    top = "\n".join([_summary(result, view), *notes])
    if not result.hits:
        return top
    shown = list(result.hits)
    heads = [_head(hit, view, explain) for hit in shown]
    while _frame_size(top, heads, view) + _LEAST_BODY * len(heads) > view.limit and len(heads) > 1:
        heads.pop()
        shown.pop()
    room = view.limit - _frame_size(top, heads, view)
    wanted = needs([hit.memory.text for hit in shown], view.limit, quoted_size)
    bodies = [
        body(hit.memory.text, share, cut_mark(hit.memory, view))
        for hit, share in zip(shown, fair_shares(wanted, room), strict=True)
    ]
    lines = [line for pair in zip(heads, bodies, strict=True) for line in pair]
    end = _end(view, len(result.hits) - len(shown))
    return "\n".join([top, view.say("mcp.frame_begin"), *lines, end])


def as_json(result: RecallResult, view: View, *, explain: bool, notes: Sequence[str]) -> str:
    """One object with the results; cut texts carry ``cut`` and their ``length``."""
    degraded = [
        {"channel": item.channel, "reason": render(item.reason, view.language)}
        for item in result.degraded
    ]
    shown = [_entry(hit, view, explain) for hit in result.hits]
    whole: dict[str, object] = {
        "results": shown,
        "degraded": degraded,
        "notes": list(notes),
        "weaker_left_out": result.cut,
        "notice": view.say("mcp.notice"),
    }
    least = _LEAST_BODY + size('"cut": true, "length": 0000000, "text": ""')
    while size(_dumped(whole)) + least * len(shown) > view.limit and len(shown) > 1:
        shown.pop()
        whole["left_out"] = len(result.hits) - len(shown)
    fill_texts(shown, [hit.memory.text for hit in result.hits], view, size(_dumped(whole)))
    return _dumped(whole)


def fill_texts(
    entries: Sequence[dict[str, object]], texts: Sequence[str], view: View, used: int
) -> None:
    """Put ``text`` into each entry, cut fairly to what ``used`` bytes leave of the limit."""
    cost = size('"text": "", "cut": true, "length": 0000000, ')
    room = view.limit - used - cost * len(entries)
    texts = texts[: len(entries)]
    shares = fair_shares(needs(texts, view.limit, json_size), room)
    for entry, text, share in zip(entries, texts, shares, strict=True):
        kept = fitting(text, share, json_size)
        entry["text"] = text[:kept]
        if kept < len(text):
            entry |= {"cut": True, "length": len(text)}


def _summary(result: RecallResult, view: View) -> str:
    key = "mcp.found" if result.hits else "mcp.found_nothing"
    parts = [view.say(key, count=len(result.hits))]
    if result.hits and all(hit.weak for hit in result.hits):
        parts.append(view.say("mcp.all_weak"))
    for item in result.degraded:
        sentence = "mcp.keywords_only" if result.keywords_only else "mcp.channel_missing"
        reason = render(item.reason, view.language)
        parts.append(view.say(sentence, channel=item.channel, reason=reason))
    if result.cut:
        parts.append(view.say("mcp.weaker_left_out", count=result.cut))
    return ("" if view.language == "zh" else " ").join(parts)


def _head(hit: Hit, view: View, explain: bool) -> str:
    marks = [view.say("mcp.weak")] if hit.weak else []
    along = hit.expansion
    if along is None:
        marks.append(view.say("mcp.match", strength=f"{hit.strength:.2f}"))
    else:
        ref = f"#{along.source_id}"
        marks.append(view.say("mcp.linked", relation=along.relation, ref=ref))
    lines = [heading(hit.memory, view, marks)]
    if explain:
        signals = " + ".join(f"{line.signal} {line.contribution:.3f}" for line in hit.signals)
        words = ", ".join(hit.matched) or "-"
        lines.append(view.say("mcp.explained", score=f"{hit.score:.3f}", sum=signals, words=words))
    lines += [line for line in [view.time_line(hit.memory)] if line]
    return "\n".join(lines)


def _entry(hit: Hit, view: View, explain: bool) -> dict[str, object]:
    entry = facts(hit.memory, view) | {"strength": round(hit.strength, 3), "weak": hit.weak}
    if hit.expansion is not None:
        entry["linked_from"] = hit.expansion.source_id
    if explain:
        entry["score"] = round(hit.score, 4)
        entry["signals"] = {line.signal: round(line.contribution, 4) for line in hit.signals}
        entry["matched"] = list(hit.matched)
    return entry


def _frame_size(top: str, heads: Sequence[str], view: View) -> int:
    lines = [top, view.say("mcp.frame_begin"), *heads, _end(view, len(heads))]
    return size("\n".join(lines)) + len(heads) + _SPARE


def _end(view: View, left_out: int) -> str:
    end = view.say("mcp.frame_end")
    return f"{end} {view.say('mcp.left_out', count=left_out)}" if left_out else end


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
