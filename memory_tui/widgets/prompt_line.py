"""A line that asks for one thing."""

from __future__ import annotations

from textual.message import Message
from textual.widgets import Input

from memory_tui.widgets.line_input import LineInput


class PromptLine(LineInput):
    """Hidden until something is asked; Enter answers."""

    class Answered(Message):
        """What was asked, and what was typed."""

        def __init__(self, asked: str, answer: str) -> None:
            super().__init__()
            self.asked = asked
            self.answer = answer

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, compact=True, select_on_focus=False)
        self._asked = ""
        self.display = False

    def ask(self, asked: str, hint: str, value: str = "") -> None:
        """Ask for something; ``hint`` stands in the line while it is empty."""
        self._asked, self.placeholder, self.value = asked, hint, value
        self.display = True
        self.focus()

    def close(self) -> bool:
        """Ask no more; False when nothing was asked."""
        was, self.display = self.display, False
        return was

    def on_input_changed(self, event: Input.Changed) -> None:
        """Nobody searches for it."""
        event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        event.stop()
        self.close()
        self.post_message(self.Answered(self._asked, self.value.strip()))
