"""The bottom line: which keys do something here."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from memory_tui.actions import Action, key_shown


class KeyBar(Static):
    """The next useful keys, as many as fit; the most important stay when it is narrow."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: list[tuple[int, str, str]] = []

    def show(self, actions: list[tuple[Action, str]], *, typing: bool = False) -> None:
        """Actions that work now, with their labels; ``typing`` while letters are text."""
        self._items = []
        for action, label in actions:
            key = key_shown(action, typing=typing)
            if action.weight and key is not None:
                self._items.append((action.weight, key, label))
        self._draw()

    def on_resize(self) -> None:
        """Another width shows more or fewer keys."""
        self._draw()

    def _draw(self) -> None:
        room, parts = self.size.width - 1, []
        for _, key, label in sorted(self._items):
            room -= cell_len(key) + cell_len(label) + 3
            if room < 0:
                break
            parts += [Content.styled(f" {key} ", "$key-bar-key"), Content(f"{label} ")]
        self.update(Content("").join(parts))
