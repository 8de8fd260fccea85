"""What happens while pages are open: told to all of them, each from where it was."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

_KEPT = 256


@dataclass(frozen=True, slots=True)
class Event:
    """Something to tell: ``data`` is JSON."""

    number: int
    name: str
    data: str


class Feed:
    """The last events. Thread-safe; looking costs next to nothing."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=_KEPT)
        self._last = 0
        self._lock = threading.Lock()

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self._last

    def tell(self, name: str, data: str) -> None:
        """Add an event; ``data`` is JSON on one line."""
        with self._lock:
            self._last += 1
            self._events.append(Event(self._last, name, data))

    def after(self, number: int) -> list[Event]:
        """What came after the event ``number``, oldest first."""
        if number >= self._last:
            return []
        with self._lock:
            return [event for event in self._events if event.number > number]
