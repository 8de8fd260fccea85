"""A list of atoms."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len

from engine.use_cases.atoms import AtomView
from memory_tui.plain import fitted
from memory_tui.widgets.row_list import RowList

_DAY_S = 86_400.0
_BARS = " ▁▂▃▄▅▆▇█"


class AtomList(RowList[AtomView]):
    """Atoms with what is left of them. ``now`` is the moment they are shown for; ``type_name``
    turns a type into a word."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.now = 0.0
        self.type_name: Callable[[str], str] = str

    def written(self, row: AtomView, width: int, *, marked: bool) -> str:
        """Mark, worth, days left, type, text."""
        atom = row.atom
        head = f"{'●' if marked else ' '} {worth_bar(row.value)} {self._left(row):>6} "
        head += f"{fitted(self.type_name(atom.type), 8)} "
        return head + fitted(atom.text, max(1, width - cell_len(head)))

    def is_dim(self, row: AtomView) -> bool:
        """Not active any more."""
        return row.atom.state != "active"

    def _left(self, row: AtomView) -> str:
        end = row.atom.expires_at
        return "∞" if end is None else f"{(end - self.now) / _DAY_S:.0f}d"


def worth_bar(value: float) -> str:
    """One character, the higher the more an atom is worth now."""
    return _BARS[max(0, min(len(_BARS) - 1, round(value * (len(_BARS) - 1))))]
