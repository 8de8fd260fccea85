"""The keys of a place, made from the list of actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memory_tui.actions import actions_in, shown_key
from memory_tui.plain import fitted

_MOVING = (("↑ ↓ j k", "move"), ("PgUp PgDn", "page"), ("Home End", "ends"), ("⏎", "open"))


class HelpScreen(ModalScreen[None]):
    """What can be done here, and by which keys."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,question_mark,q,f1", "dismiss", "")]

    def __init__(self, place: str, words: Callable[[str], str]) -> None:
        super().__init__()
        self._place = place
        self._words = words

    def compose(self) -> ComposeResult:
        """A table in a box."""
        with VerticalScroll(id="help"):
            title, close = self._words("tui.help.title"), self._words("tui.help.close")
            yield Static(Content.assemble((title, "bold"), "  ", (close, "dim")))
            yield Static(self._table(), id="help-keys")

    def _table(self) -> Content:
        lines = [_line(keys, self._words(f"tui.help.{name}")) for keys, name in _MOVING]
        for action in actions_in(self._place):
            keys = " ".join(shown_key(key) for key in action.keys)
            lines.append(_line(keys, self._words(f"tui.sentence.{action.name}")))
        return Content("\n").join(lines)


def _line(keys: str, sentence: str) -> Content:
    return Content.assemble((fitted(keys, 14), "bold"), " ", sentence)
