"""The line that one searches in."""

from __future__ import annotations

from textual import events
from textual.timer import Timer
from textual.widgets import Input

from memory_tui.messages import QueryChanged
from memory_tui.widgets.line_input import LineInput

_PAUSE_S = 0.08


class SearchLine(LineInput):
    """Tells of what is typed after a short pause, so that fast typing asks once.

    Pasted lines are joined visibly: a line end becomes a blank.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, select_on_focus=False)
        self._pause: Timer | None = None

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask when typing rests."""
        event.stop()
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(_PAUSE_S, self._tell)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask at once."""
        event.stop()
        if self._pause is not None:
            self._pause.stop()
        self.post_message(QueryChanged(self.value, settled=True))

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        joined = " ".join(line.strip() for line in event.text.splitlines() if line.strip())
        self.insert_text_at_cursor(joined)

    def _tell(self) -> None:
        self.post_message(QueryChanged(self.value))
