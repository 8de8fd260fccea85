"""The way back to the client while a call runs: progress, a question, and whether to stop."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.domain.errors import JiyiError


class Stopped(JiyiError):
    """The client gave the call up; what was not written yet is not written."""


class AnswerWanted(Exception):
    """The client has to ask its user first, and call again with the answer."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


@dataclass(frozen=True, slots=True)
class Line:
    """What a tool may tell or ask the client while it runs.

    ``ask`` gives the user's yes or no, or ``None`` where the client cannot ask; it may raise
    :class:`AnswerWanted`. ``tell`` passes how much of how much is done.
    """

    ask: Callable[[str], bool | None] = lambda question: None
    tell: Callable[[int, int], None] = lambda done, total: None
    given_up: threading.Event = field(default_factory=threading.Event)

    def progress(self, done: int, total: int) -> None:
        """Tell how far the work is. Raises :class:`Stopped` when nobody waits for it."""
        if self.given_up.is_set():
            raise Stopped("mcp.stopped")
        self.tell(done, total)


SILENT = Line()
"""To nobody."""


def state_of(question: str) -> str:
    """What ties an answer to the very question that was asked."""
    return hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:32]
