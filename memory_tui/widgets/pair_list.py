"""A list of pairs of memories that clash."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len

from engine.domain.links import ClashingPair
from memory_tui.plain import fitted
from memory_tui.widgets.row_list import RowList


class PairList(RowList[ClashingPair]):
    """Contradictions and repetitions; the id of a row is its place. ``verdict_name`` turns a
    verdict into a word."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.verdict_name: Callable[[str], str] = str

    def written(self, row: ClashingPair, width: int, *, marked: bool) -> str:
        """Verdict, both ids, the newer text."""
        head = f"{fitted(self.verdict_name(row.verdict), 8)} #{row.older.id} ⇄ #{row.newer.id} "
        return head + fitted(row.newer.text, max(1, width - cell_len(head)))

    def is_dim(self, row: ClashingPair) -> bool:
        """None is."""
        return False
