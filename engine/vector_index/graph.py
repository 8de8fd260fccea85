"""Approximate search: an i8 HNSW graph in a mapped file, and what changed since in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.model_clients.native import make_way_for_usearch
from engine.vector_index.exact import ExactTable
from engine.vector_index.graph_file import GraphContent, MappedGraph, UnusableFile
from engine.vector_index.hits import Candidates, VectorHit, ranked, usable
from engine.vector_index.source import VectorBlock, VectorSource

if TYPE_CHECKING:
    from engine.model_clients.protocol import Vector

_RERANKED_PER_HIT = 4
_ENOUGH_PER_HIT = 2
_FIRST_ROWS = 64
_DEEPEST_SEARCH_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class GraphTuning:
    """How the graph is built, searched and renewed.

    ``connectivity``, ``expansion_add`` and ``expansion_search`` are HNSW's M, efConstruction
    and ef (Malkov and Yashunin 2018). A new graph is built when what changed exceeds
    ``rebuild_share`` of it or ``rebuild_pieces``. A scope of at most ``exact_scope`` owners
    is compared exactly. ``poll_s`` is how often the folder is looked at, ``retry_s`` the
    pause after a build that failed.
    """

    connectivity: int = 24
    expansion_add: int = 128
    expansion_search: int = 128
    batch_rows: int = 500
    threads: int = 1
    rebuild_share: float = 0.2
    rebuild_pieces: int = 20_000
    exact_scope: int = 5_000
    poll_s: float = 1.0
    retry_s: float = 60.0
    lease_s: float = 120.0


class GraphClosed(Exception):
    """The graph was replaced by a newer one meanwhile; never leaves this package."""


def build(
    block: VectorBlock, dims: int, tuning: GraphTuning, go_on: Callable[[], bool]
) -> GraphContent | None:
    """Build a graph over ``block``; ``None`` when ``go_on`` said no between two batches."""
    make_way_for_usearch()
    from usearch.index import Index

    block = _by_owner(usable(block, dims)[0])
    index = Index(
        ndim=dims,
        metric="cos",
        dtype="i8",
        connectivity=tuning.connectivity,
        expansion_add=tuning.expansion_add,
        expansion_search=tuning.expansion_search,
    )
    # Neighbours in time are alike; a mixed order makes the graph's upper layers wide.
    order = np.random.default_rng(0).permutation(len(block))
    for start in range(0, len(order), tuning.batch_rows):
        if not go_on():
            return None
        rows = order[start : start + tuning.batch_rows]
        vectors = block.vectors[rows].astype(np.float32)
        index.add(rows.astype(np.uint64), vectors, threads=tuning.threads)
    graph = index.save()
    assert graph is not None
    return GraphContent(graph, block.piece_ids, block.owner_ids)


def _by_owner(block: VectorBlock) -> VectorBlock:
    order = np.lexsort((block.piece_ids, block.owner_ids))
    return VectorBlock(block.piece_ids[order], block.owner_ids[order], block.vectors[order])


class Graph:
    """The graph of one file. All calls into the native library go through one lock."""

    def __init__(self, mapped: MappedGraph, tuning: GraphTuning) -> None:
        self._mapped = mapped
        self._lock = threading.Lock()
        # usearch carries no types of its own.
        self._index: Any = None
        with ExitStack() as undo:
            undo.callback(mapped.close)
            self._index = _viewed(mapped)
            undo.pop_all()
        self._index.expansion_search = tuning.expansion_search

    @property
    def seq(self) -> int:
        """The change the graph was built at."""
        return self._mapped.header.seq

    @property
    def count(self) -> int:
        """Rows of the graph."""
        return self._mapped.header.count

    @property
    def path(self) -> Path:
        """Its file."""
        return self._mapped.path

    @property
    def owner_ids(self) -> NDArray[np.int64]:
        """The owner of each row, in ascending order, shape (count,)."""
        return self._mapped.owner_ids

    def nearest_owners(self, query: Vector, rows: int) -> list[int]:
        """Owners of the ``rows`` nearest rows, nearest first, repeated where several of
        their pieces are near."""
        with self._lock:
            if self._index is None:
                raise GraphClosed
            if self.count == 0:
                return []
            keys = self._index.search(query, min(rows, self.count), threads=1).keys
            owners: list[int] = self._mapped.owner_ids[keys.astype(np.int64)].tolist()
        return owners

    def close(self) -> None:
        """Drop the native index, then its memory."""
        with self._lock:
            self._index = None
            self._mapped.close()


def _viewed(mapped: MappedGraph) -> Any:
    make_way_for_usearch()
    from usearch.index import Index

    try:
        index = Index.restore(mapped.graph, view=True)
    except RuntimeError as error:
        raise UnusableFile("graph") from error
    shape = (index.ndim, len(index)) if index is not None else None
    if shape != (mapped.header.dims, mapped.header.count):
        # The traceback would keep the index alive beyond its memory.
        index = None
        raise UnusableFile("graph")
    return index


class GraphSearcher:
    """A graph, exact search over what changed after it, and re-ranking from the store."""

    def __init__(self, graph: Graph, source: VectorSource, tuning: GraphTuning) -> None:
        self.graph = graph
        self._source = source
        self._tuning = tuning
        self._delta = ExactTable(source.dims)
        self._outdated: set[int] = set()
        self._outdated_rows = 0

    @property
    def size(self) -> int:
        """Live pieces."""
        return self.graph.count - self._outdated_rows + self._delta.size

    @property
    def worn(self) -> bool:
        """Whether so much changed that a new graph should be built."""
        limit = min(self._tuning.rebuild_share * self.graph.count, self._tuning.rebuild_pieces)
        return self._outdated_rows + self._delta.size > limit

    def apply(self, owners: frozenset[int], block: VectorBlock) -> None:
        """Put the pieces of ``block`` in the place of all that ``owners`` had."""
        # First in, then out: a search in between may see both, but never neither.
        self._delta.apply(owners, block)
        fresh = np.array(sorted(owners - self._outdated), dtype=np.int64)
        ends = np.searchsorted(self.graph.owner_ids, fresh, side="right")
        starts = np.searchsorted(self.graph.owner_ids, fresh, side="left")
        self._outdated_rows += int((ends - starts).sum())
        self._outdated |= owners

    def search(self, query: Vector, count: int, allowed: frozenset[int] | None) -> list[VectorHit]:
        """The best piece of each of the ``count`` nearest owners, best first."""
        if allowed is not None and len(allowed) <= self._tuning.exact_scope:
            return self._exact(query, count, allowed)
        owners = self._from_graph(query, count, allowed)
        if owners is None:
            assert allowed is not None
            return self._exact(query, count, allowed)
        hits = {hit.owner_id: hit for hit in self._stored(query, owners)}
        hits |= {hit.owner_id: hit for hit in self._delta.search(query, count, allowed)}
        return ranked(hits.values(), count)

    def cosines(self, query: Vector, owner_ids: Iterable[int]) -> dict[int, float]:
        """The cosine of the best piece of each known owner."""
        return {hit.owner_id: hit.cosine for hit in self._stored(query, owner_ids)}

    def close(self) -> None:
        """Give the file back; a search under way raises :class:`GraphClosed`."""
        self.graph.close()

    def _exact(self, query: Vector, count: int, allowed: frozenset[int]) -> list[VectorHit]:
        return ranked(self._stored(query, allowed), count)

    def _stored(self, query: Vector, owner_ids: Iterable[int]) -> Iterator[VectorHit]:
        remaining = iter(owner_ids)
        while part := list(islice(remaining, self._tuning.exact_scope)):
            yield from _scored(self._source.vectors_of(part), query)

    def _from_graph(
        self, query: Vector, count: int, allowed: frozenset[int] | None
    ) -> Sequence[int] | None:
        """Owners near the query, some times ``count`` for re-ranking; ``None`` when a scope
        is met so rarely near the query that comparing all of it is the quicker way."""
        candidates = _RERANKED_PER_HIT * count
        rows = max(candidates, _FIRST_ROWS)
        if allowed is not None:
            rows = min(rows * self.graph.count // len(allowed) + 1, _DEEPEST_SEARCH_ROWS)
        while True:
            near = dict.fromkeys(self.graph.nearest_owners(query, rows))
            owners = [owner for owner in near if self._counts(owner, allowed)]
            if len(owners) >= _ENOUGH_PER_HIT * count or rows >= self.graph.count:
                return owners[:candidates]
            if allowed is not None and rows >= _DEEPEST_SEARCH_ROWS:
                return None
            rows *= 4

    def _counts(self, owner: int, allowed: frozenset[int] | None) -> bool:
        return owner not in self._outdated and (allowed is None or owner in allowed)


def _scored(block: VectorBlock, query: Vector) -> list[VectorHit]:
    good, vectors = usable(block, len(query))
    found = Candidates(good.owner_ids, good.piece_ids, vectors @ query)
    return found.best(max(1, len(good)), lambda _owner: True)
