"""Channels: each proposes candidates of its own kind, and each may fail alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from engine.domain.errors import JiyiError
from engine.domain.scope import Filters
from engine.model_clients.protocol import Vector
from engine.retrieval.analysis import AnalysedQuery
from engine.storage import fulltext, memories
from engine.storage.database import Connection
from engine.storage.memories import RankRow

if TYPE_CHECKING:
    from engine.vector_index.index import VectorIndex

TEXT = "text"
VECTOR = "vector"
# A set of at most this many memories is searched exactly, without pruning common terms: a
# term that is common in the store may be the only one that a small workspace has.
NARROW_LIMIT = 5_000


@dataclass(frozen=True, slots=True)
class Degradation:
    """A channel that did not answer, and why."""

    channel: str
    reason: JiyiError


@dataclass(frozen=True, slots=True)
class Reach:
    """The memories a request may find: ``ids`` when they are few, else ``None``."""

    filters: Filters
    now: float
    ids: frozenset[int] | None


def reach(connection: Connection, filters: Filters, now: float) -> Reach:
    """Look how many memories pass the filters, and note them when they are few."""
    if filters.is_broad:
        return Reach(filters, now, None)
    found = memories.ids_within(connection, filters, now, NARROW_LIMIT + 1)
    return Reach(filters, now, frozenset(found) if len(found) <= NARROW_LIMIT else None)


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


def all_cosines(
    index: VectorIndex, vector: Vector, known: Mapping[int, float], pool: Iterable[int]
) -> dict[int, float]:
    """A cosine for every member of the pool that has vectors, not only for the nearest."""
    missing = [memory_id for memory_id in pool if memory_id not in known]
    return dict(known) | (index.cosines(vector, missing) if missing else {})
