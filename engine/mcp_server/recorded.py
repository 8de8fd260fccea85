"""How one memory is shown: its heading, and its body behind bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.config.messages import text
from engine.domain.memory import Memory
from engine.domain.times import day, iso, minute_with_offset
from engine.mcp_server.quoting import fitting, one_line, quoted, quoted_size, size

_DOT = " · "
_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class View:
    """For whom and when something is shown. ``limit`` is bytes of a whole answer."""

    language: str
    zone: tzinfo | None
    now: float
    limit: int

    def say(self, key: str, /, **params: object) -> str:
        """A sentence of the catalogue."""
        return text(key, self.language, **params)

    def time_line(self, memory: Memory) -> str:
        """The line with a memory's original time, empty when that is not known."""
        if memory.event_time is None:
            return ""
        return self.say("mcp.original_time", time=minute_with_offset(memory.event_time, self.zone))


def heading(memory: Memory, view: View, marks: Sequence[str] = ()) -> str:
    """One line that names a memory: id, day, kind, workspace, who said it, and marks."""
    parts = [
        f"#{memory.id}",
        day(memory.created_at, view.zone),
        memory.kind,
        one_line(memory.workspace, _NAME_CHARS),
        origin(memory, view),
        *state_marks(memory, view),
        *marks,
    ]
    return _DOT.join(parts)


def origin(memory: Memory, view: View) -> str:
    """Who a memory's text comes from, with a warning for outside sources."""
    trust = view.say(f"mcp.trust.{memory.trust}")
    return f"{trust} ({one_line(memory.source, _NAME_CHARS)})"


def state_marks(memory: Memory, view: View) -> list[str]:
    """Marks of everything that is not the usual state."""
    state = memory.state(view.now)
    marks = [] if state == "live" else [view.say(f"mcp.state.{state}")]
    return [*marks, view.say("mcp.pinned")] if memory.pinned else marks


def body(memory_text: str, limit: int, cut_mark: str) -> str:
    """A text behind bars in at most ``limit`` bytes, with ``cut_mark`` where it was cut."""
    if len(memory_text) <= limit and quoted_size(memory_text) <= limit:
        return quoted(memory_text)
    kept = fitting(memory_text, limit - size(cut_mark), quoted_size)
    return quoted(memory_text[:kept]) + cut_mark


def cut_mark(memory: Memory, view: View) -> str:
    """What stands at the end of a cut text: its length, and how to get the rest."""
    return view.say("mcp.cut_mark", length=len(memory.text), id=memory.id)


def facts(memory: Memory, view: View) -> dict[str, object]:
    """The short facts of a memory for programs, without its texts and lists."""
    found: dict[str, object | None] = {
        "id": memory.id,
        "uid": memory.uid,
        "kind": memory.kind,
        "workspace": memory.workspace,
        "importance": round(memory.importance * 10, 1),
        "source": memory.source[:_NAME_CHARS],
        "trust": memory.trust,
        "state": memory.state(view.now),
        "pinned": memory.pinned or None,
        "created_at": iso(memory.created_at, view.zone),
        "event_time": optional_instant(memory.event_time, view),
        "time_line": view.time_line(memory) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def optional_instant(instant: float | None, view: View) -> str | None:
    """ISO 8601 of a moment that may be unknown."""
    return None if instant is None else iso(instant, view.zone)
