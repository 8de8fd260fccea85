"""A list of memories."""

from __future__ import annotations

from datetime import tzinfo

from engine.domain.memory import Memory
from memory_tui.widgets.memory_row import RowForm, row_text
from memory_tui.widgets.row_list import RowList


class MemoryList(RowList[Memory]):
    """Memories; ``zone`` is the one in which their dates are shown, ``weak`` are found ones that
    hardly fit."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.zone: tzinfo | None = None
        self.weak: frozenset[int] = frozenset()

    def written(self, row: Memory, width: int, *, marked: bool) -> str:
        """Mark, state, importance, date, kind, text, workspace."""
        return row_text(row, RowForm(width, self.zone, marked=marked))

    def is_dim(self, row: Memory) -> bool:
        """In the trash, superseded, archived, or a weak match."""
        hidden = row.deleted_at or row.superseded_at or row.archived_at
        return bool(hidden) or row.id in self.weak
