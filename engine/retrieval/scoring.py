"""The one scorer: every preset ranks through here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.config.presets import Preset, ShareOverrides, WeightOverrides, effective
from engine.retrieval.facts import Facts, QueryFacts
from engine.retrieval.intent import moved_weights
from engine.retrieval.routes import RouteScores, score_route
from engine.retrieval.signals import Columns


class Scored(NamedTuple):
    """A candidate in order; ``place`` is where it stood in the pool."""

    # A tuple is made several times faster than a frozen dataclass, and a pool has hundreds.

    id: int
    score: float
    place: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """A pool in order, best first, and all that an explanation needs.

    ``preset`` is the one in force, with the user's numbers; ``route_weights`` are after the
    query's intent.
    """

    preset: Preset
    query: QueryFacts
    columns: Columns
    routes: tuple[RouteScores, ...]
    route_weights: tuple[float, ...]
    ordered: tuple[Scored, ...]

    def facts(self, place: int) -> Facts:
        """The candidate at this place of the pool."""
        return self.columns.pool[place]


def rank(
    preset: Preset,
    pool: Sequence[Facts],
    query: QueryFacts,
    overrides: WeightOverrides | None = None,
    shares: ShareOverrides | None = None,
) -> Ranking:
    """Score the pool and put it in order; equal scores stand newest first.

    Raises :class:`ConfigInvalid` for overrides that leave nothing to rank by.
    """
    in_force = effective(preset, overrides, shares)
    columns = Columns(pool, query.now)
    routes = tuple(
        score_route(route, columns, query, in_force.share_out) for route in in_force.routes
    )
    weights = moved_weights(in_force, query.traits)
    scores = _combined(in_force, columns, routes, weights)
    order = _ordered(in_force, columns, scores)
    ordered = tuple(Scored(columns.pool[place].id, scores[place], place) for place in order)
    return Ranking(in_force, query, columns, routes, weights, ordered)


def current_first(ranking: Ranking, newer: Mapping[int, int]) -> Ranking:
    """The ranking with each memory right before the first one that it took the place of;
    ``newer`` maps a superseded memory to it. Scores stay as they are."""
    ordered = list(ranking.ordered)
    places = {item.id: place for place, item in enumerate(ordered)}
    ahead: dict[int, list[Scored]] = {}
    moved: set[int] = set()
    for item in ordered:
        successor = newer.get(item.id)
        later = successor is not None and places.get(successor, -1) > places[item.id]
        if successor is not None and later and successor not in moved:
            ahead.setdefault(item.id, []).append(ordered[places[successor]])
            moved.add(successor)
    if not moved:
        return ranking
    kept = (item for item in ordered if item.id not in moved)
    return replace(
        ranking, ordered=tuple(s for item in kept for s in (*ahead.get(item.id, ()), item))
    )


def boost_of(preset: Preset, facts: Facts) -> float:
    """What the score is multiplied with for the memory's source."""
    return preset.source_boost.get(facts.source, 1.0)


def bonus_of(preset: Preset, routes: Sequence[RouteScores], place: int) -> float:
    """What is added because every route hit the candidate."""
    if len(routes) > 1 and all(route.holds(place) for route in routes):
        return preset.both_hit_bonus
    return 0.0


def _combined(
    preset: Preset, columns: Columns, routes: Sequence[RouteScores], weights: Sequence[float]
) -> list[float]:
    scores = routes[0].scores
    if len(routes) > 1:
        scores = _added(routes, weights, len(columns.pool))
    if preset.source_boost:
        scores = [
            score * boost_of(preset, facts)
            for score, facts in zip(scores, columns.pool, strict=True)
        ]
    if len(routes) > 1 and preset.both_hit_bonus:
        scores = [score + bonus_of(preset, routes, place) for place, score in enumerate(scores)]
    return scores if preset.cap is None else [min(score, preset.cap) for score in scores]


def _added(routes: Sequence[RouteScores], weights: Sequence[float], count: int) -> list[float]:
    """Each route's scores over the best of the route, times its weight."""
    scores = [0.0] * count
    for route, weight in zip(routes, weights, strict=True):
        best = route.best
        if best > 0:
            scores = [
                s + weight * (own / best) for s, own in zip(scores, route.scores, strict=True)
            ]
    return scores


def _ordered(preset: Preset, columns: Columns, scores: Sequence[float]) -> list[int]:
    keys = [[-value for value in scores]]
    if preset.order:
        recency = preset.recency
        keys = [[-v for v in columns.column(name, recency)] for name in preset.order]
    newest = [-facts.id for facts in columns.pool]
    rows = list(zip(*keys, newest, strict=True))
    return sorted(range(len(rows)), key=rows.__getitem__)


@dataclass(frozen=True, slots=True)
class Signal:
    """One named signal in [0,1] and what it adds to the score: ``weight * value``."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """Its part of the score."""
        return self.weight * self.value
