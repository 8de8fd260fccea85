"""Conflicts: what a memory repeats or contradicts, and all such pairs of a scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.ids import parse_ref
from engine.domain.links import CONTRADICTION, Clash, ClashingPair
from engine.domain.memory import Memory
from engine.domain.scope import Filters
from engine.extraction.conflict import Contradiction
from engine.language.labels import folded_filters
from engine.storage import consolidation, memories
from engine.writing.conflicts import Scanner

MAX_LIMIT = 10_000
_BATCH = 100

Progress = Callable[[int, int], None]
"""Called with how many memories were looked at, and of how many."""


@dataclass(frozen=True, slots=True)
class ConflictQuery:
    """Where to look for conflicts: around one memory (``ref``), or among all that pass the
    filters. At most ``limit`` pairs are given back. ``contradicts`` is asked (with the newer
    text and the older one) where no rule tells."""

    ref: str | int | None = None
    filters: Filters = Filters()
    limit: int = 100
    contradicts: Contradiction | None = None


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Pairs that clash, contradictions first. ``total`` counts those beyond the limit too,
    ``scanned`` the memories that were looked at."""

    pairs: tuple[ClashingPair, ...]
    total: int
    scanned: int


def find_conflicts(
    context: EngineContext, query: ConflictQuery, on_progress: Progress | None = None
) -> Conflicts:
    """The pairs of live memories of one kind and workspace of which one repeats or contradicts
    the other. Each memory is compared with its nearest neighbours, never with all others.

    Pairs that are linked with each other are settled. Raises NotFound, InvalidInput for a bad
    limit, and Conflict for a memory that is not live.
    """
    if not 1 <= query.limit <= MAX_LIMIT:
        raise InvalidInput(
            "error.out_of_range", name="limit", value=query.limit, low=1, high=MAX_LIMIT
        )
    now, scanner = context.clock.now(), Scanner(context, query.contradicts)
    ids = _ids(context, query, now)
    pairs: dict[tuple[int, int], ClashingPair] = {}
    for start in range(0, len(ids), _BATCH):
        _scan(scanner, ids[start : start + _BATCH], now, pairs)
        if on_progress is not None:
            on_progress(min(start + _BATCH, len(ids)), len(ids))
    ordered = sorted(pairs.values(), key=_rank)
    return Conflicts(tuple(ordered[: query.limit]), len(ordered), len(ids))


def _ids(context: EngineContext, query: ConflictQuery, now: float) -> Sequence[int]:
    with context.database.read() as connection:
        if query.ref is None:
            return consolidation.ids_by_worth(connection, folded_filters(query.filters), now)
        memory = memories.find(connection, parse_ref(query.ref))
    if memory.state(now) not in ("live", "archived"):
        raise Conflict("error.not_live", ref=f"#{memory.id}", state=memory.state(now))
    return [memory.id]


def _scan(
    scanner: Scanner, ids: Sequence[int], now: float, pairs: dict[tuple[int, int], ClashingPair]
) -> None:
    with scanner.context.database.read() as connection:
        found = list(memories.fetch(connection, ids).values())
        for memory, probe in zip(found, scanner.of_memories(found), strict=True):
            clashes = scanner.clashes(connection, probe, now)
            others = memories.fetch(connection, [clash.memory_id for clash in clashes])
            for clash in clashes:
                pair = _pair(memory, others[clash.memory_id], clash)
                pairs.setdefault((pair.older.id, pair.newer.id), pair)


def _pair(memory: Memory, other: Memory, clash: Clash) -> ClashingPair:
    is_later = (memory.created_at, memory.id) > (other.created_at, other.id)
    older, newer = (other, memory) if is_later else (memory, other)
    return ClashingPair(
        older=older,
        newer=newer,
        verdict=clash.verdict,
        reason=clash.reason,
        similarity=clash.similarity,
        old_part=clash.other,
        new_part=clash.mine,
    )


def _rank(pair: ClashingPair) -> tuple[bool, float, int, int]:
    similarity = pair.similarity or 0.0
    return pair.verdict != CONTRADICTION, -similarity, pair.older.id, pair.newer.id
