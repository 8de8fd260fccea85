"""Memories of one theme, by their vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.domain.embedding import Thresholds

if TYPE_CHECKING:
    import numpy as np

_SEEDS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Member:
    """A memory to be grouped: its importance (0-1) and polarity (-1, 0, 1)."""

    id: int
    importance: float
    polarity: int = 0


@dataclass(frozen=True, slots=True)
class Grouping:
    """From which cosine to its seed on a memory joins, and how many make a group."""

    threshold: float
    least: int = 2


def cluster(
    members: Sequence[Member],
    vectors: Mapping[int, np.ndarray],
    grouping: Grouping,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[tuple[int, ...]]:
    """Groups of ids, each led by its seed and in falling importance.

    Seeds are taken in falling importance (the older of equals first). Whoever is free and whose
    cosine to the SEED reaches the threshold joins; opposite polarities never share a group, and
    nobody is in two. Members without a vector (unit length) are in none. ``on_progress`` hears
    how many of how many seeds were looked at.
    """
    import numpy as np

    order = sorted(members, key=lambda member: (-member.importance, member.id))
    order = [member for member in order if member.id in vectors]
    if len(order) < grouping.least:
        return []
    rows = np.stack([vectors[member.id] for member in order])
    free, groups = [True] * len(order), []
    for start in range(0, len(order), _SEEDS_AT_ONCE):
        near = rows[start : start + _SEEDS_AT_ONCE] @ rows.T >= grouping.threshold
        for offset, row in enumerate(near):
            if free[start + offset]:
                places = _joined(start + offset, np.flatnonzero(row).tolist(), order, free)
                groups.append(tuple(order[place].id for place in places))
        if on_progress is not None:
            on_progress(min(start + _SEEDS_AT_ONCE, len(order)), len(order))
    return [group for group in groups if len(group) >= grouping.least]


def equivalent(thresholds: Thresholds, reference: Thresholds, value: float) -> float:
    """The cosine of a space that means what ``value`` (0-1) means on the scale of
    ``reference``: straight lines between the measured points of both, from 0 and up to 1."""
    points = [(0.0, 0.0), *_points(reference, thresholds), (1.0, 1.0)]
    low, high = next(pair for pair in pairwise(points) if value <= pair[1][0])
    share = (value - low[0]) / (high[0] - low[0])
    return low[1] + share * (high[1] - low[1])


def _points(reference: Thresholds, thresholds: Thresholds) -> list[tuple[float, float]]:
    """Between two stored texts; a query's points lie on another scale."""
    names = ("reflect", "conflict", "near_duplicate")
    return [(getattr(reference, name), getattr(thresholds, name)) for name in names]


def _joined(seed: int, near: Sequence[int], order: Sequence[Member], free: list[bool]) -> list[int]:
    """The places of a seed and of the free ones near it, which are free no longer."""
    places, sign = [seed], order[seed].polarity
    free[seed] = False
    for place in near:
        polarity = order[place].polarity
        if free[place] and polarity * sign >= 0:
            free[place] = False
            sign = sign or polarity
            places.append(place)
    return places
