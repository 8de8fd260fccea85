"""Nearness by links: what stands close to the other strong candidates is lifted.

Personalised PageRank (Page et al. 1999; Haveliwala 2002) over the links inside the pool, taken
as undirected, in a few rounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from engine.config.presets import Preset
from engine.retrieval.signals import min_max

DAMPING = 0.5
ROUNDS = 3


def link_proximity(
    ids: Sequence[int], links: Mapping[int, Collection[int]], base: Sequence[float]
) -> list[float] | None:
    """A value in [0,1] for each of ``ids``, ``None`` when no link joins two of them.

    ``links`` maps a memory to those it is linked with, in one direction or both; ``base`` are
    the scores the walk starts from.
    """
    neighbours = _neighbours(ids, links)
    if not any(neighbours):
        return None
    seeds = min_max(base, alone=1.0)
    spread = seeds
    for _ in range(ROUNDS):
        handed = [value / (len(near) or 1) for value, near in zip(spread, neighbours, strict=True)]
        spread = [
            (1.0 - DAMPING) * seed + DAMPING * sum(handed[other] for other in near)
            for seed, near in zip(seeds, neighbours, strict=True)
        ]
    return min_max(spread, alone=0.0)


def is_wanted(preset: Preset) -> bool:
    """Whether a preset ranks by nearness, so that the links of a pool are worth reading."""
    return any(
        route.weights.proximity or any(changed.get("proximity") for changed in route.when.values())
        for route in preset.routes
    )


def _neighbours(ids: Sequence[int], links: Mapping[int, Collection[int]]) -> list[list[int]]:
    """For each position in the pool the positions it is linked with."""
    places = {memory_id: place for place, memory_id in enumerate(ids)}
    near: list[set[int]] = [set() for _ in ids]
    for memory_id, place in places.items():
        for other in links.get(memory_id, ()):
            if other in places and other != memory_id:
                near[place].add(places[other])
                near[places[other]].add(place)
    return [sorted(places_near) for places_near in near]
