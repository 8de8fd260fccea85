"""Which entries of the journal to list."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TailFilters:
    """Which entries to list. ``since`` and ``before_id`` bound them: not earlier than a moment
    (epoch seconds), and only those older than an entry."""

    operation: str | None = None
    actor: str | None = None
    since: float | None = None
    before_id: int | None = None
