"""One memory as one row of a list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from engine.domain.memory import Memory
from engine.domain.times import day
from memory_tui.plain import fitted

_DATE_FROM = 50
_KIND_FROM = 76
_WORKSPACE_FROM = 100
_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class RowForm:
    """How a row is written: so many cells, dates in ``zone``."""

    width: int
    zone: tzinfo | None
    marked: bool = False


def row_text(memory: Memory, form: RowForm) -> str:
    """Mark, state, importance, date and text; kind and workspace where there is room."""
    parts = ["●" if form.marked else " ", state_mark(memory), importance_bar(memory.importance)]
    if form.width >= _DATE_FROM:
        parts.append(day(memory.event_time or memory.created_at, form.zone))
    if form.width >= _KIND_FROM:
        parts.append(fitted(memory.kind, 10))
    head = f"{parts[0]}{parts[1]}{' '.join(['', *parts[2:]])} "
    tail = f" {fitted(memory.workspace, 14)}" if form.width >= _WORKSPACE_FROM else ""
    room = max(1, form.width - len(head) - (15 if tail else 0))
    return f"{head}{fitted(memory.text, room)}{tail}"


def state_mark(memory: Memory) -> str:
    """One character for what is special about a memory."""
    if memory.deleted_at is not None:
        return "✗"
    if memory.superseded_at is not None:
        return "↷"
    if memory.archived_at is not None:
        return "▫"
    return "★" if memory.pinned else " "


def importance_bar(importance: float) -> str:
    """One character, the higher the more important."""
    return _BARS[min(len(_BARS) - 1, int(importance * len(_BARS)))]
