"""How much a memory is still worth keeping, and which ones can be reclaimed."""

from __future__ import annotations

from dataclasses import dataclass

EXPIRED = "expired"
TRASH = "trash"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the retention score reads of a memory: importance (0-1) as it was set, times in epoch
    seconds."""

    importance: float
    created_at: float
    last_access: float | None
    access_count: int

    @property
    def used_at(self) -> float:
        """The last access; of a memory never used, when it was made."""
        return self.created_at if self.last_access is None else self.last_access


@dataclass(frozen=True, slots=True)
class Doomed:
    """A memory that can be reclaimed: ``expired`` or from the ``trash``, ``since`` when (epoch
    seconds)."""

    memory_id: int
    uid: str
    why: str
    since: float
