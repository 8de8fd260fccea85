"""The field that the text of a memory is written in."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TextArea

from memory_tui.plain import VISIBLE


class BodyArea(TextArea):
    """A text area that shows control characters instead of sending them to the terminal; the
    text itself keeps them."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus")

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn; every character as long as in the text."""
        line = super().get_line(line_index)
        return Text(line.plain.translate(VISIBLE), end="", no_wrap=True)
