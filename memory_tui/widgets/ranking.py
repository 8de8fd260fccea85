"""One ranking of the recall lab."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from engine.use_cases.recall import Hit
from memory_tui.plain import fitted
from memory_tui.widgets.row_list import RowList

_JUDGED = {True: "✓", False: "✗", None: " "}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A result at its rank (from 1), and its rank in the other ranking; ``None``: not there.

    ``relevant`` is what was judged of it, ``None`` for nothing.
    """

    hit: Hit
    rank: int
    other: int | None
    relevant: bool | None


class Ranking(RowList[Ranked]):
    """Results of one setting; movement tells how much better or worse than in the other one."""

    def written(self, row: Ranked, width: int, *, marked: bool) -> str:
        """Rank, movement, judgment, score, text."""
        head = f"{row.rank:>3} {movement(row):<4}{_JUDGED[row.relevant]} {row.hit.score:6.3f} "
        return head + fitted(row.hit.memory.text, max(1, width - cell_len(head)))

    def is_dim(self, row: Ranked) -> bool:
        """A weak match."""
        return row.hit.weak


def movement(row: Ranked) -> str:
    """``↑2`` for two places better than in the other ranking, ``new`` where that lacks it."""
    if row.other is None:
        return "new"
    if row.other == row.rank:
        return "="
    return f"↑{row.other - row.rank}" if row.other > row.rank else f"↓{row.rank - row.other}"
