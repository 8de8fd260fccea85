"""Channels: each proposes candidates of its own kind, and each may fail alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from engine.model_clients.protocol import Vector
from engine.retrieval.analysis import AnalysedQuery
from engine.retrieval.reach import Reach, reach
from engine.retrieval.understanding import Window
from engine.storage import fulltext, memories
from engine.storage.database import Connection
from engine.storage.memories import RankRow

if TYPE_CHECKING:
    from engine.vector_index.index import VectorIndex


def text_candidates(
    connection: Connection, query: AnalysedQuery, within: Reach, limit: int
) -> list[int]:
    """Memories that hold terms of the query, the most promising first."""
    lookups = query.lookups
    if within.ids is not None:
        lookups = tuple(weighted.match for weighted in query.matches)
    return fulltext.search(connection, lookups, within.filters, within.now, limit)


def vector_candidates(
    connection: Connection, index: VectorIndex, vector: Vector, within: Reach, limit: int
) -> tuple[dict[int, float], dict[int, RankRow]]:
    """The nearest memories by cosine, best first, and the ranking rows read on the way.

    The index knows nothing of filters; more is taken from it until enough has passed them or
    nothing is left.
    """
    if within.ids is not None:
        hits = index.search(vector, limit, within.ids)
        return {hit.owner_id: hit.cosine for hit in hits}, {}
    count, size = limit + limit // 2, index.size()
    while True:
        hits = index.search(vector, count)
        rows = memories.rank_rows(
            connection, [hit.owner_id for hit in hits], within.filters, within.now
        )
        kept = {hit.owner_id: hit.cosine for hit in hits if hit.owner_id in rows}
        if len(kept) >= limit or len(hits) < count or count >= size:
            return dict(islice(kept.items(), limit)), rows
        count *= 4


def inside(connection: Connection, within: Reach, window: Window) -> Reach:
    """What is in reach and speaks of a time in the window."""
    filters = replace(within.filters, moment=(window.start, window.end))
    return reach(connection, filters, within.now)


def all_cosines(
    index: VectorIndex, vector: Vector, known: Mapping[int, float], pool: Iterable[int]
) -> dict[int, float]:
    """A cosine for every member of the pool that has vectors, not only for the nearest."""
    missing = [memory_id for memory_id in pool if memory_id not in known]
    return dict(known) | (index.cosines(vector, missing) if missing else {})
