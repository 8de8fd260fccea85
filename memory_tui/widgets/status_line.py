"""The top line: where one is, which store it is, and what happened last."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from memory_tui.plain import one_line

_BAR_CELLS = 12


class StatusLine(Static):
    """Place and store at the left, then the last thing that happened."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._place = ""
        self._store = ""
        self._count = ""
        self._told = ""
        self._style = ""
        self._progress = ""

    def place(self, name: str, store: str) -> None:
        """Where one is."""
        self._place, self._store = name, store
        self._draw()

    def count(self, text: str) -> None:
        """How many things are shown."""
        self._count = text
        self._draw()

    def tell(self, sentence: str) -> None:
        """What happened."""
        self._told, self._style = sentence, ""
        self._draw()

    def warn(self, sentence: str) -> None:
        """What went wrong."""
        self._told, self._style = sentence, "$text-error"
        self._draw()

    def progress(self, done: int, of: int) -> None:
        """How far long work is; ``of`` 0 for no work."""
        full = round(_BAR_CELLS * min(1.0, done / of)) if of else 0
        bar = "▰" * full + "▱" * (_BAR_CELLS - full)
        self._progress = f"{bar} {done}/{of} Esc ✕" if of else ""
        self._draw()

    @property
    def told(self) -> str:
        """The last thing that happened."""
        return self._told

    def _draw(self) -> None:
        parts = [Content.styled(f" {self._place} ", "$status-place")]
        parts += [Content(f" {one_line(text)} ") for text in (self._store, self._count) if text]
        if self._progress:
            parts.append(Content.styled(f" {self._progress} ", "bold $accent"))
        if self._told:
            parts.append(Content.styled(f" {one_line(self._told)}", self._style))
        self.update(Content("").join(parts))
