"""Answers of a vector search, and how the best ones are picked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.domain.errors import InvalidInput
from engine.vector_index.source import VectorBlock

if TYPE_CHECKING:
    from engine.model_clients.protocol import Matrix, Vector

# Sums of the same products differ in the last digits with their place in a matrix; what
# differs less than this is a tie, and ties go by id, so that all processes answer alike.
_TIE_DECIMALS = 6
_TIE = 10.0**-_TIE_DECIMALS
_SHORTEST = 1e-3


@dataclass(frozen=True, slots=True)
class VectorHit:
    """The piece of an owner that is nearest to the query; ``cosine`` is -1 to 1."""

    owner_id: int
    piece_id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows with their cosines, three arrays of shape (n,). An owner of -1 is a dead row."""

    owner_ids: NDArray[np.int64]
    piece_ids: NDArray[np.int64]
    cosines: NDArray[np.float32]

    def best(self, count: int, wanted: Callable[[int], bool]) -> list[VectorHit]:
        """The best piece of each of the ``count`` best owners that are ``wanted``."""
        rows = 2 * count
        while True:
            hits = self._best_of(self._top(rows), count, wanted)
            if len(hits) == count or rows >= len(self.cosines):
                return hits
            rows *= 4

    def _top(self, rows: int) -> NDArray[np.int64]:
        total = len(self.cosines)
        if rows >= total:
            return np.arange(total)
        border = np.partition(self.cosines, total - rows)[total - rows]
        return np.flatnonzero(self.cosines >= border - _TIE)

    def _best_of(
        self, rows: NDArray[np.int64], count: int, wanted: Callable[[int], bool]
    ) -> list[VectorHit]:
        cosines = np.round(np.clip(self.cosines[rows], -1.0, 1.0), _TIE_DECIMALS)
        owners, pieces = self.owner_ids[rows], self.piece_ids[rows]
        hits: dict[int, VectorHit] = {}
        for place in np.lexsort((pieces, owners, -cosines)):
            owner = int(owners[place])
            if owner >= 0 and owner not in hits and wanted(owner):
                hits[owner] = VectorHit(owner, int(pieces[place]), float(cosines[place]))
                if len(hits) == count:
                    break
        return list(hits.values())


def ranked(hits: Iterable[VectorHit], count: int) -> list[VectorHit]:
    """The ``count`` best hits, best first, ties by id."""
    order = sorted(hits, key=lambda hit: (-hit.cosine, hit.owner_id, hit.piece_id))
    return order[:count]


def unit_query(query: Vector, dims: int) -> Vector:
    """The query as float32 of length one; raise :class:`InvalidInput` if it has no direction
    or another number of dimensions."""
    vector = np.asarray(query, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    if vector.shape != (dims,) or not (np.isfinite(length) and length > _SHORTEST):
        raise InvalidInput("error.vector_unusable", dims=dims)
    unit: Vector = vector / np.float32(length)
    return unit


def usable(block: VectorBlock, dims: int) -> tuple[VectorBlock, Matrix]:
    """The rows of ``block`` that can be compared, and their vectors as float32 of length one.

    Left out are vectors of another size, and those that are not finite or are zero: the
    first would rank first for every query, the second be near everything.
    """
    if block.vectors.ndim != 2 or block.vectors.shape[1] != dims:
        empty = block.piece_ids[:0]
        return VectorBlock(empty, empty, np.empty((0, dims), np.float16)), _no_rows(dims)
    rows = block.vectors.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    good = np.isfinite(lengths) & (lengths > _SHORTEST)
    if not good.all():
        block = VectorBlock(block.piece_ids[good], block.owner_ids[good], block.vectors[good])
        rows, lengths = rows[good], lengths[good]
    rows /= lengths[:, None]
    return block, rows


def _no_rows(dims: int) -> Matrix:
    return np.empty((0, dims), np.float32)
