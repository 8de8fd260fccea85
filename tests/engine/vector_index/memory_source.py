"""A store of vectors in memory, as the tests' source of an index."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.vector_index.source import VectorBlock


@dataclass(slots=True)
class SharedStore:
    """What several processes would share: pieces, change log, leases."""

    dims: int
    pieces: dict[int, tuple[int, NDArray[np.float16]]] = field(default_factory=dict)
    of_owner: dict[int, list[int]] = field(default_factory=dict)
    log: list[int] = field(default_factory=list)
    leases: dict[str, tuple[object, float]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def put(self, owner: int, vectors: Sequence[NDArray[np.floating]]) -> None:
        """Replace the pieces of one owner."""
        with self.lock:
            self._drop(owner)
            first = owner * 1_000 + len(self.log) % 7
            for number, vector in enumerate(vectors):
                self.pieces[first + 10 * number] = (owner, np.asarray(vector, np.float16))
                self.of_owner.setdefault(owner, []).append(first + 10 * number)
            self.log.append(owner)

    def put_all(self, vectors: NDArray[np.floating], first_owner: int = 1) -> None:
        for owner, vector in enumerate(vectors, first_owner):
            self.put(owner, [vector])

    def remove(self, owner: int) -> None:
        with self.lock:
            self._drop(owner)
            self.log.append(owner)

    def block(self, owners: Iterable[int]) -> VectorBlock:
        ids = [piece for owner in owners for piece in self.of_owner.get(owner, [])]
        rows = [self.pieces[piece][1] for piece in ids]
        return VectorBlock(
            np.array(ids, np.int64),
            np.array([self.pieces[piece][0] for piece in ids], np.int64),
            np.array(rows, np.float16).reshape(len(ids), self.dims),
        )

    def _drop(self, owner: int) -> None:
        for piece in self.of_owner.pop(owner, []):
            del self.pieces[piece]


class MemorySource:
    """One process's view of a shared store."""

    def __init__(self, store: SharedStore, space_key: str = "space") -> None:
        self.store = store
        self.dims = store.dims
        self.space_key = space_key
        self.snapshots = 0

    def last_change(self) -> int:
        return len(self.store.log)

    def count(self) -> int:
        return len(self.store.pieces)

    def snapshot(self) -> tuple[int, VectorBlock]:
        with self.store.lock:
            self.snapshots += 1
            return len(self.store.log), self.store.block(list(self.store.of_owner))

    def changes_after(self, seq: int) -> tuple[int, frozenset[int], VectorBlock]:
        with self.store.lock:
            owners = frozenset(self.store.log[seq:])
            return len(self.store.log), owners, self.store.block(owners)

    def vectors_of(self, owner_ids: Sequence[int]) -> VectorBlock:
        with self.store.lock:
            return self.store.block(owner_ids)

    def try_lease(self, name: str, seconds: float) -> bool:
        with self.store.lock:
            holder, until = self.store.leases.get(name, (self, 0.0))
            if holder is not self and until > time.monotonic():
                return False
            self.store.leases[name] = (self, time.monotonic() + seconds)
            return True

    def release_lease(self, name: str) -> None:
        with self.store.lock:
            if self.store.leases.get(name, (None, 0.0))[0] is self:
                del self.store.leases[name]


def clustered(count: int, dims: int, seed: int = 0, spread: float = 0.7) -> NDArray[np.float32]:
    """Unit vectors around count/50 centres."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((max(1, count // 50), dims))
    rows = centres[rng.integers(0, len(centres), count)]
    rows = (rows + spread * rng.standard_normal((count, dims))).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
