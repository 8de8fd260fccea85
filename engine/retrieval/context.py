"""The context of a candidate: what stands beside it in its conversation, or happened then.

A turn of a conversation, or one record of an event, seldom says everything: the answer stands
in the next turn, or three records of the same hour belong together. So each such candidate gets
a share of the relevance of its neighbours and of the best of its session. Memories that were
written as memories stand for themselves.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.domain.times import is_midnight
from engine.domain.vocabulary import CONVERSATION, IMPORT
from engine.storage.memories import RankRow

# Sources whose items are turns or records in their order, not distilled memories.
RECORDS = frozenset({CONVERSATION, IMPORT})
# Shares of the neighbours and of the session, and how fast an hour fades: measured on long
# chats and on a year of records of two persons.
NEIGHBOUR_SHARE = 0.4
FADES_AFTER_S = 7_200.0
_LOOK_AROUND = 6


@dataclass(frozen=True, slots=True)
class Place:
    """Where a candidate stands: its session, and there its number (a turn of a conversation) or
    the moment of its event, epoch seconds (a record)."""

    session: tuple[int, str]
    position: int | None
    moment: float | None


def place_of(row: RankRow, zone: tzinfo | None) -> Place | None:
    """The place of a memory that has one. The time of an event counts when it names more than
    the day: a date alone does not say what happened together."""
    if row.session_id is None or row.source not in RECORDS:
        return None
    session = (row.workspace_id, row.session_id)
    if row.source == CONVERSATION:
        return Place(session, row.position, None)
    if row.event_time is None or is_midnight(row.event_time, zone):
        return None
    return Place(session, None, row.event_time)


def contexts(relevance: Mapping[int, float], places: Mapping[int, Place]) -> dict[int, float]:
    """The context of each candidate in [0,1]. One without a place is its own context, so that
    the weight of this signal moves nothing among such candidates."""
    sessions: dict[tuple[int, str], list[int]] = defaultdict(list)
    for memory_id, place in places.items():
        sessions[place.session].append(memory_id)
    best = {session: max(relevance[i] for i in ids) for session, ids in sessions.items()}
    low, high = min(best.values(), default=0.0), max(best.values(), default=0.0)
    found = dict(relevance)
    for session, ids in sessions.items():
        share = 1.0 if high <= low else (best[session] - low) / (high - low)
        near = _nearby([(i, places[i]) for i in ids], relevance)
        for memory_id in ids:
            found[memory_id] = NEIGHBOUR_SHARE * near[memory_id] + (1 - NEIGHBOUR_SHARE) * share
    return found


def _nearby(
    session: Sequence[tuple[int, Place]], relevance: Mapping[int, float]
) -> dict[int, float]:
    """The greatest relevance beside each member of a session, fading with the distance."""
    ordered = sorted(session, key=lambda item: (item[1].moment or 0.0, item[1].position or 0))
    near = dict.fromkeys((memory_id for memory_id, _ in ordered), 0.0)
    for step in range(1, min(_LOOK_AROUND, len(ordered) - 1) + 1):
        for (first, place), (second, other) in zip(ordered, ordered[step:], strict=False):
            closeness = _closeness(place, other)
            near[first] = max(near[first], closeness * relevance[second])
            near[second] = max(near[second], closeness * relevance[first])
    return near


def _closeness(place: Place, other: Place) -> float:
    """1 for neighbouring turns, ``exp(-seconds / FADES_AFTER_S)`` for records, else 0."""
    if place.position is not None and other.position is not None:
        return 1.0 if abs(place.position - other.position) == 1 else 0.0
    if place.moment is not None and other.moment is not None:
        return math.exp(-abs(place.moment - other.moment) / FADES_AFTER_S)
    return 0.0
