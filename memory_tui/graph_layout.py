"""Where the nodes of a small graph are drawn: a force-directed layout in the plane.

After Fruchterman and Reingold (1991), "Graph drawing by force-directed placement": nodes push
each other away by k²/d, edges pull their ends together by d²/k, and the steps cool down. It is
deterministic, and positions from before are kept as the start, so that a graph that grows stays
recognisable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_STEPS = 90
_GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
Point = tuple[float, float]


def laid_out(
    nodes: Sequence[int], edges: Sequence[tuple[int, int]], before: Mapping[int, Point]
) -> dict[int, Point]:
    """A place in the unit square for each node; the first one is in the middle."""
    if not nodes:
        return {}
    places = {node: before.get(node) or _start(number) for number, node in enumerate(nodes)}
    places[nodes[0]] = (0.5, 0.5)
    ideal = 0.9 / math.sqrt(len(nodes))
    heat = 0.12
    for _ in range(_STEPS):
        forces = _forces(nodes, edges, places, ideal)
        for node in nodes[1:]:
            places[node] = _moved(places[node], forces[node], heat)
        heat *= 0.96
    return _spread(places, nodes[0])


def _start(number: int) -> Point:
    """A sunflower: evenly spread, and the same every time."""
    distance = 0.08 * math.sqrt(number)
    return 0.5 + distance * math.cos(number * _GOLDEN), 0.5 + distance * math.sin(number * _GOLDEN)


def _forces(
    nodes: Sequence[int],
    edges: Sequence[tuple[int, int]],
    places: Mapping[int, Point],
    ideal: float,
) -> dict[int, list[float]]:
    forces = {node: [0.0, 0.0] for node in nodes}
    for at, one in enumerate(nodes):
        for two in nodes[at + 1 :]:
            x, y, distance = _apart(places[one], places[two])
            _push(forces, one, two, (x, y), ideal * ideal / (distance * distance))
    for one, two in edges:
        x, y, distance = _apart(places[one], places[two])
        _push(forces, one, two, (x, y), -distance / ideal)
    return forces


def _apart(one: Point, two: Point) -> tuple[float, float, float]:
    x, y = one[0] - two[0], one[1] - two[1]
    return x, y, max(0.01, math.hypot(x, y))


def _push(
    forces: dict[int, list[float]], one: int, two: int, direction: Point, strength: float
) -> None:
    for axis in (0, 1):
        forces[one][axis] += direction[axis] * strength
        forces[two][axis] -= direction[axis] * strength


def _moved(place: Point, force: Sequence[float], heat: float) -> Point:
    length = math.hypot(force[0], force[1])
    if length < 1e-9:
        return place
    step = min(length, heat) / length
    return place[0] + force[0] * step, place[1] + force[1] * step


def _spread(places: Mapping[int, Point], middle: int) -> dict[int, Point]:
    """Use the whole square, the middle one staying in the middle."""
    centre = places[middle]
    reach = [
        max((abs(place[axis] - centre[axis]) for place in places.values()), default=0.0)
        for axis in (0, 1)
    ]
    return {
        node: (
            0.5 + 0.5 * (place[0] - centre[0]) / max(reach[0], 1e-9),
            0.5 + 0.5 * (place[1] - centre[1]) / max(reach[1], 1e-9),
        )
        for node, place in places.items()
    }
