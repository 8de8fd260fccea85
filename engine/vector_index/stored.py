"""The vectors of a store as the source of an index, and one index per embedding space."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from engine.domain.clock import Clock
from engine.domain.embedding import SpaceIdentity
from engine.storage import changes, embeddings, leases
from engine.storage.database import Database

if TYPE_CHECKING:
    from engine.storage.embeddings import StoredVector
    from engine.vector_index.index import VectorIndex
    from engine.vector_index.source import VectorBlock


class StoredVectors:
    """The live pieces of one space, read from the store."""

    def __init__(
        self, database: Database, identity: SpaceIdentity, clock: Clock, holder: str
    ) -> None:
        self.dims = identity.dims
        self._database = database
        self._identity = identity
        self._clock = clock
        self._holder = holder

    @cached_property
    def space_key(self) -> str:
        """The space and the store's history: change numbers count within one history."""
        with self._database.read() as connection:
            return f"{self._identity.key} {changes.history_uid(connection)}"

    def last_change(self) -> int:
        """The store's change number."""
        with self._database.read() as connection:
            return changes.last(connection)

    def snapshot(self) -> tuple[int, VectorBlock]:
        """The change number and every live piece, from one consistent read."""
        with self._database.read() as connection:
            space_id = embeddings.find_space(connection, self._identity)
            rows = [] if space_id is None else embeddings.live_vectors(connection, space_id)
            return changes.last(connection), self._block(rows)

    def changes_after(self, seq: int) -> tuple[int, frozenset[int], VectorBlock]:
        """The change number, the memories changed since ``seq``, and their live pieces."""
        with self._database.read() as connection:
            owners = changes.subjects_after(connection, seq, changes.MEMORY)
            space_id = embeddings.find_space(connection, self._identity)
            rows = (
                [] if space_id is None else embeddings.live_vectors_of(connection, space_id, owners)
            )
            return changes.last(connection), frozenset(owners), self._block(rows)

    def count(self) -> int:
        """Number of live pieces."""
        with self._database.read() as connection:
            space_id = embeddings.find_space(connection, self._identity)
            return 0 if space_id is None else embeddings.count_live(connection, space_id)

    def vectors_of(self, owner_ids: Sequence[int]) -> VectorBlock:
        """The live pieces of these memories."""
        with self._database.read() as connection:
            space_id = embeddings.find_space(connection, self._identity)
            if space_id is None:
                return self._block([])
            return self._block(embeddings.live_vectors_of(connection, space_id, owner_ids))

    def try_lease(self, name: str, seconds: float) -> bool:
        """Take a lease of the store; false when another process holds it."""
        with self._database.write() as connection:
            return leases.take(connection, name, self._holder, self._clock.now(), seconds)

    def release_lease(self, name: str) -> None:
        """Give a lease back."""
        with self._database.write() as connection:
            leases.release(connection, name, self._holder)

    def _block(self, rows: Iterable[StoredVector]) -> VectorBlock:
        import numpy as np

        from engine.vector_index.source import VectorBlock

        width = self.dims * 2
        usable = [row for row in rows if len(row.vector) == width]
        data = b"".join(row.vector for row in usable)
        return VectorBlock(
            piece_ids=np.array([row.piece_id for row in usable], dtype=np.int64),
            owner_ids=np.array([row.owner_id for row in usable], dtype=np.int64),
            vectors=np.frombuffer(data, dtype="<f2").reshape(len(usable), self.dims),
        )


class SpaceIndexes:
    """The vector indexes of a process, one for each space it was asked about."""

    def __init__(
        self,
        source: Callable[[SpaceIdentity], StoredVectors],
        cache_dir: Path,
        exact_below: Callable[[], int],
    ) -> None:
        self._source = source
        self._cache_dir = cache_dir
        self._exact_below = exact_below
        self._indexes: dict[str, VectorIndex] = {}
        self._asked_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def index(self, identity: SpaceIdentity) -> VectorIndex:
        """The index of a space, made on first use; call ``catch_up`` before searching."""
        from engine.vector_index.index import VectorIndex

        with self._lock:
            self._asked_at[identity.key] = time.monotonic()
            found = self._indexes.get(identity.key)
            if found is None:
                found = VectorIndex(
                    self._source(identity), self._cache_dir, exact_below=self._exact_below()
                )
                self._indexes[identity.key] = found
            return found

    def keep_only(
        self, identities: Collection[SpaceIdentity], idle_s: float = 60.0, unused_s: float = 86_400
    ) -> None:
        """Let go of the indexes of other spaces that nobody asked about for ``idle_s`` seconds,
        and of their cache files, once they are ``unused_s`` old: another process may still
        answer from one and would build it again. The vectors stay in the store.
        """
        from engine.vector_index.graph_file import remove_other_spaces

        wanted = {identity.key for identity in identities}
        limit = time.monotonic() - idle_s
        with self._lock:
            idle = [
                key
                for key in self._indexes
                if key not in wanted and self._asked_at.get(key, limit) <= limit
            ]
            closing = [self._indexes.pop(key) for key in idle]
        for index in closing:
            index.close()
        in_use = [self._source(identity).space_key for identity in identities]
        remove_other_spaces(self._cache_dir, in_use, unused_s)

    def close(self) -> None:
        """Close every index."""
        with self._lock:
            indexes, self._indexes = self._indexes, {}
        for index in indexes.values():
            index.close()
