"""The two forms an index takes answer the same questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from engine.vector_index.hits import VectorHit
from engine.vector_index.source import VectorBlock

if TYPE_CHECKING:
    from engine.model_clients.protocol import Vector


class Searcher(Protocol):
    """Vectors of one space up to some change; a query is float32 of length one."""

    @property
    def size(self) -> int:
        """Live pieces."""
        ...

    def search(self, query: Vector, count: int, allowed: frozenset[int] | None) -> list[VectorHit]:
        """The best piece of each of the ``count`` nearest owners, best first."""
        ...

    def cosines(self, query: Vector, owner_ids: Iterable[int]) -> dict[int, float]:
        """The cosine of the best piece of each known owner."""
        ...

    def apply(self, owners: frozenset[int], block: VectorBlock) -> None:
        """Put the pieces of ``block`` in the place of all that ``owners`` had."""
        ...

    def close(self) -> None:
        """Give memory and files back."""
        ...
