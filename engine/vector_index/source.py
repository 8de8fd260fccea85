"""Where an index reads its vectors from: the store, which is the only truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """Pieces of memories with their vectors.

    ``piece_ids`` and ``owner_ids`` are int64 of shape (n,), ``vectors`` float16 of shape
    (n, dims), every row L2-normalised. An owner is a memory; it has one piece or more.
    """

    piece_ids: NDArray[np.int64]
    owner_ids: NDArray[np.int64]
    vectors: NDArray[np.float16]

    def __len__(self) -> int:
        return len(self.piece_ids)


class VectorSource(Protocol):
    """The stored vectors of one space, and the order in which they changed.

    Called from several threads at once. ``space_key`` names the space AND the history of
    the store: it must differ after a store was replaced by a backup, since change numbers
    of two histories cannot be compared.
    """

    @property
    def dims(self) -> int:
        """Length of every vector."""
        ...

    @property
    def space_key(self) -> str:
        """Equal only for vectors that may be compared."""
        ...

    def last_change(self) -> int:
        """The newest change number; must be cheap, it is asked before each search."""
        ...

    def count(self) -> int:
        """How many live pieces there are."""
        ...

    def snapshot(self) -> tuple[int, VectorBlock]:
        """All live pieces and the change number they belong to, read at one moment."""
        ...

    def changes_after(self, seq: int) -> tuple[int, frozenset[int], VectorBlock]:
        """What changed after ``seq``: the new change number, every owner touched since,
        and the pieces these owners have now. An owner without live pieces is in the set
        and not in the block."""
        ...

    def vectors_of(self, owner_ids: Sequence[int]) -> VectorBlock:
        """The live pieces of some owners, in any order; unknown owners are left out."""
        ...

    def try_lease(self, name: str, seconds: float) -> bool:
        """Take or renew this process's right to do ``name`` alone; false if another has it."""
        ...

    def release_lease(self, name: str) -> None:
        """Give the right back; nothing happens if it is not held."""
        ...
