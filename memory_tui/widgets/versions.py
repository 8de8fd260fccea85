"""Two versions of one memory: what I typed, and what somebody else saved meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from engine.domain.memory import Memory
from memory_tui.plain import content


class Versions(VerticalScroll, can_focus=True):
    """Both texts, and the keys to choose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "choose('mine')", show=False),
        Binding("t", "choose('theirs')", show=False),
        Binding("e", "choose('edit')", show=False),
    ]

    class Chosen(Message):
        """``mine`` (save it over the newer one), ``theirs`` or ``edit`` (go on)."""

        def __init__(self, choice: str, theirs: Memory | None) -> None:
            super().__init__()
            self.choice = choice
            self.theirs = theirs

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._theirs: Memory | None = None

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(id="versions-text")

    def show(self, mine: str, theirs: Memory | None, words: Callable[..., str]) -> None:
        """Show both."""
        self._theirs = theirs
        gone = theirs is None or theirs.deleted_at is not None
        other = words("tui.versions.gone") if theirs is None or gone else theirs.text
        lines = [
            Content.styled(words("tui.versions.title"), "bold"),
            Content(""),
            Content.styled(words("tui.versions.mine_title"), "bold"),
            content(mine),
            Content(""),
            Content.styled(words("tui.versions.theirs_title"), "bold"),
            content(other),
            Content(""),
            Content(words("tui.versions.keys_gone" if gone else "tui.versions.keys")),
        ]
        self.query_one("#versions-text", Static).update(Content("\n").join(lines))

    def action_choose(self, choice: str) -> None:
        """Tell the choice."""
        self.post_message(self.Chosen(choice, self._theirs))
