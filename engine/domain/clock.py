"""Time comes from an injected clock, so every rule can be tested by moving it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A source of "now"."""

    def now(self) -> float:
        """Seconds since the Unix epoch, UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since the Unix epoch, UTC."""
        return time.time()


class FixedClock:
    """A clock that stands still until it is moved; for tests and simulations."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        """The moment the clock was set to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward (or back, with a negative value)."""
        self._now += seconds
