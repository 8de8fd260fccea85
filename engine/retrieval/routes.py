"""One route through a pool: members, relevance, weighted signals, factor."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from engine.config.presets import SIGNALS, Route
from engine.retrieval.facts import Facts, QueryFacts
from engine.retrieval.fusion import Fused, fuse
from engine.retrieval.proximity import link_proximity
from engine.retrieval.signals import Columns

RANKS = "ranks"
PROXIMITY = "proximity"
# Signed, so it has no place in a ranking by signals: it is added as it is.
_ADDED = "polarity"


@dataclass(frozen=True, slots=True)
class Term:
    """One weighted signal of a route; ``ranks`` (from 1) where it is ranked and not added."""

    signal: str
    weight: float
    values: Sequence[float]
    ranks: Sequence[int] | None


@dataclass(frozen=True, slots=True)
class RouteScores:
    """A route's score of every candidate, and how it came about.

    ``members`` is ``None`` when all are. ``best`` is the members' best score. ``shared_out``
    says that other signals took over the weight of the words.
    """

    route: Route
    members: Sequence[bool] | None
    fused: Fused | None
    terms: tuple[Term, ...]
    factor: Sequence[float] | None
    scores: list[float]
    best: float
    shared_out: bool

    def holds(self, place: int) -> bool:
        """Whether the candidate at this place of the pool is a member."""
        return self.members is None or self.members[place]


def score_route(
    route: Route, columns: Columns, query: QueryFacts, share_out: Sequence[str] = ()
) -> RouteScores:
    """Score every candidate of the pool by one route; those that are no members get 0."""
    weights = _weights(route, query.traits)
    shared = _share_out(weights, columns, route, share_out)
    fused = None
    if "relevance" in weights:
        fused = fuse(columns.pool, route.fusion, query, route.channels)
    terms = [
        _term(route, name, weights[name], _values(name, route, columns, fused))
        for name in SIGNALS
        if name in weights and name != PROXIMITY
    ]
    scores = _summed(route, terms, len(columns.pool))
    if PROXIMITY in weights:
        terms += _near(route, weights[PROXIMITY], columns, query, scores)
        scores = _summed(route, terms, len(columns.pool))
    factor = [facts.temporal_factor for facts in columns.pool] if route.factor else None
    members = _members(route, columns.pool)
    scores = _limited(scores, factor, members)
    best = max(scores, default=0.0)
    return RouteScores(route, members, fused, tuple(terms), factor, scores, best, shared)


def ranked_places(values: Sequence[float]) -> list[int]:
    """The rank of each value from 1, the greatest first; equal values share a rank."""
    ordered = sorted(-value for value in values)
    return [bisect.bisect_left(ordered, -value) + 1 for value in values]


def _weights(route: Route, traits: frozenset[str]) -> dict[str, float]:
    weights = route.weights.used()
    for trait, changed in route.when.items():
        if trait in traits:
            weights |= changed
    return {name: weight for name, weight in weights.items() if weight}


def _share_out(
    weights: dict[str, float], columns: Columns, route: Route, takers: Sequence[str]
) -> bool:
    """Hand the weight of ``lexical`` to the takers in proportion, if no word matched anything."""
    lost = weights.get("lexical", 0.0)
    held = sum(weights.get(name, 0.0) for name in takers)
    if not lost or not held or any(columns.column("lexical", route.recency)):
        return False
    for name in takers:
        if name in weights:
            weights[name] *= (held + lost) / held
    del weights["lexical"]
    return True


def _values(name: str, route: Route, columns: Columns, fused: Fused | None) -> Sequence[float]:
    if name == "relevance" and fused is not None:
        return fused.values
    return columns.column(name, route.recency)


def _term(route: Route, name: str, weight: float, values: Sequence[float]) -> Term:
    ranked = route.form == RANKS and name != _ADDED
    return Term(name, weight, values, ranked_places(values) if ranked else None)


def _near(
    route: Route, weight: float, columns: Columns, query: QueryFacts, base: Sequence[float]
) -> list[Term]:
    """Nearness by links as one more term, if links join members of the pool."""
    ids = [facts.id for facts in columns.pool]
    near = link_proximity(ids, query.links, base)
    return [] if near is None else [_term(route, PROXIMITY, weight, near)]


def _limited(
    scores: list[float], factor: Sequence[float] | None, members: Sequence[bool] | None
) -> list[float]:
    if factor is not None:
        scores = [score * times for score, times in zip(scores, factor, strict=True)]
    if members is not None:
        scores = [score if held else 0.0 for score, held in zip(scores, members, strict=True)]
    return scores


def _summed(route: Route, terms: Sequence[Term], count: int) -> list[float]:
    scores = [0.0] * count
    for term in terms:
        weight = term.weight
        if term.ranks is None:
            scores = [s + weight * value for s, value in zip(scores, term.values, strict=True)]
        else:
            k = route.fusion.rrf_k
            scores = [s + weight / (k + rank) for s, rank in zip(scores, term.ranks, strict=True)]
    return scores


def _members(route: Route, pool: Sequence[Facts]) -> list[bool] | None:
    if not route.channels:
        return None
    wanted = route.channels
    return [any(channel in facts.ranks for channel in wanted) for facts in pool]
