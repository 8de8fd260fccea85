"""Answers of the last seconds, for callers that ask the same again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

TTL_S = 45.0
MAX_ENTRIES = 256

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Value]):
    value: Value
    change: int
    stored_at: float
    ends_at: float


class RecallCache(Generic[Value]):
    """At most ``size`` values, the least recently used going first. Thread-safe.

    A value is good for ``ttl_s`` seconds, until the earliest deadline among what it was made
    of, and as long as the store's change number is the one it was made at: a write by any
    process makes it miss. Values are handed out as they are and must not be changed.
    """

    def __init__(self, ttl_s: float = TTL_S, size: int = MAX_ENTRIES) -> None:
        self._ttl_s = ttl_s
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()

    def get(self, key: Hashable, change: int, now: float) -> Value | None:
        """The value stored under ``key`` if it is still good; ``now`` is epoch seconds."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            # A clock that was set back says nothing about the age of a value.
            if entry.change != change or not entry.stored_at <= now < entry.ends_at:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return entry.value

    def put(
        self, key: Hashable, value: Value, change: int, now: float, deadline: float | None = None
    ) -> None:
        """Store what was read at change number ``change``; ``deadline`` (epoch seconds) is when
        the first of the memories it was made of expires."""
        ends_at = now + self._ttl_s
        if deadline is not None:
            ends_at = min(ends_at, deadline)
        with self._lock:
            self._entries[key] = _Entry(value, change, now, ends_at)
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, as after a change of settings that keys do not hold."""
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)
