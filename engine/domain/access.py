"""Uses of memories that wait to be counted.

Counting a use needs the store's write lock, and no answer waits for that: uses are noted here
and written later, many at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_MEMORIES = 10_000


@dataclass(frozen=True, slots=True)
class Access:
    """How often a memory was used, and when first and last (epoch seconds)."""

    memory_id: int
    count: int
    first_at: float
    last_at: float

    def joined(self, other: Access) -> Access:
        """Both as one."""
        return Access(
            self.memory_id,
            self.count + other.count,
            min(self.first_at, other.first_at),
            max(self.last_at, other.last_at),
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """What waited: uses by memory, and the number of uses that found no room."""

    accesses: tuple[Access, ...] = ()
    lost: int = 0

    @property
    def count(self) -> int:
        """All uses that waited."""
        return sum(access.count for access in self.accesses)


class AccessLog:
    """Uses not written yet, of a bounded number of memories. Thread-safe."""

    def __init__(self, most: int = MOST_MEMORIES) -> None:
        self._most = most
        self._waiting: dict[int, Access] = {}
        self._lost = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, memory_ids: Iterable[int], at: float) -> None:
        """Note one use of each memory by one request, however often it is named."""
        self._put(Access(memory_id, 1, at, at) for memory_id in set(memory_ids))

    def take(self) -> Taken:
        """Everything that waits; it waits no longer."""
        with self._lock:
            taken = Taken(tuple(self._waiting.values()), self._lost)
            self._waiting, self._lost = {}, 0
        return taken

    def put_back(self, accesses: Sequence[Access]) -> None:
        """Let uses that could not be written wait on."""
        self._put(accesses)

    def _put(self, accesses: Iterable[Access]) -> None:
        with self._lock:
            for access in accesses:
                known = self._waiting.get(access.memory_id)
                if known is not None:
                    self._waiting[access.memory_id] = known.joined(access)
                elif len(self._waiting) < self._most:
                    self._waiting[access.memory_id] = access
                else:
                    self._lost += access.count
