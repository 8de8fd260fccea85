"""What use cases may ask of the background without knowing who does it."""

from __future__ import annotations

from typing import Protocol


class PendingQueue(Protocol):
    """Work on memories that wait for their vectors."""

    def wake(self) -> None:
        """There is new work; returns at once."""
        ...


class NoQueue:
    """Nobody works in the background: pending memories stay for the next process."""

    def wake(self) -> None:
        """Do nothing."""
