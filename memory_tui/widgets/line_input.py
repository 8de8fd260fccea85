"""A field of one line."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Input

from memory_tui.plain import VISIBLE


class LineInput(Input):
    """An input that shows control characters instead of sending them to the terminal; the value
    itself keeps them."""

    @property
    def _value(self) -> Text:
        # What Textual draws of the value; there is no public place to change it.
        shown = super()._value
        return Text(shown.plain.translate(VISIBLE), no_wrap=True, overflow="ignore", end="")
