"""The field that the text of a memory is written in."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.widgets import TextArea

from memory_tui.plain import VISIBLE

_LONGEST_WRAPPED = 20_000


class BodyArea(TextArea):
    """A text area that shows control characters instead of sending them to the terminal; the
    text itself keeps them."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus")

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn; every character as long as in the text."""
        line = super().get_line(line_index)
        return Text(line.plain.translate(VISIBLE), end="", no_wrap=True)

    def load_text(self, text: str) -> None:
        """Another text."""
        self._wrap_if_short(text)
        super().load_text(text)

    async def _on_paste(self, event: events.Paste) -> None:
        self._wrap_if_short(event.text)

    def _wrap_if_short(self, text: str) -> None:
        """Every key wraps the whole line anew: a line of some hundred thousand characters is
        scrolled instead."""
        if self.soft_wrap and max(map(len, text.splitlines()), default=0) > _LONGEST_WRAPPED:
            self.soft_wrap = False
        elif not self.soft_wrap and text == "":
            self.soft_wrap = True
