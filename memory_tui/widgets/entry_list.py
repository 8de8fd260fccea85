"""A list of journal entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

from rich.cells import cell_len

from engine.domain.memory import JournalEntry
from engine.domain.times import minute_with_offset
from memory_tui.plain import fitted
from memory_tui.widgets.row_list import RowList


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry, and whether it is taken back now."""

    entry: JournalEntry
    undone: bool


class EntryList(RowList[Entry]):
    """What happened, newest first. ``operation_name`` turns an operation into a word."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.zone: tzinfo | None = None
        self.operation_name: Callable[[str], str] = str

    def written(self, row: Entry, width: int, *, marked: bool) -> str:
        """When, what, of which memory, by whom."""
        entry = row.entry
        when = minute_with_offset(entry.at, self.zone)[5:16]
        head = f"{'↶' if row.undone else ' '} {when} "
        head += f"{fitted(self.operation_name(entry.operation), 9)} {subject(entry):<9} "
        tail = ", ".join(entry.changes)
        rest = f"{entry.actor}  {tail}" if tail else entry.actor
        return head + fitted(rest, max(1, width - cell_len(head)))

    def is_dim(self, row: Entry) -> bool:
        """Taken back."""
        return row.undone


def subject(entry: JournalEntry) -> str:
    """What an entry is about, short."""
    if entry.subject_kind == "store":
        return "·"
    mark = "#" if entry.subject_kind == "memory" else f"{entry.subject_kind} "
    return f"{mark}{entry.subject_id}"
