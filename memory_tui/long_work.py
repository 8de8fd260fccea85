"""Work that takes a while: it tells how far it is, and a person can stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from engine.domain.errors import JiyiError

_TELL_EVERY_S = 0.1


class Stopped(JiyiError):
    """Somebody stopped the work."""

    def __init__(self) -> None:
        super().__init__("tui.stopped")


class LongWork:
    """Handed to the engine as ``on_progress``; called in its thread. ``tell(done, of)`` is called
    there too, at most ten times a second."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell = tell
        self._stop = threading.Event()
        self._told_at = 0.0

    def stop(self) -> None:
        """Let it end after the step that it is at."""
        self._stop.set()

    def __call__(self, done: int, of: int) -> bool:
        """One more step is done; False when it should end."""
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY_S:
            self._told_at = now
            self._tell(done, of)
        return not self._stop.is_set()

    def or_stop(self, done: int, of: int) -> None:
        """The same for work that only an error ends; it has nothing to take back."""
        if not self(done, of):
            raise Stopped
