"""Why a result stands where it does: lines that add up to its score.

:func:`replay` computes the score anew from nothing but the lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config.presets import SIGNALS
from engine.domain.errors import NotFound
from engine.retrieval.expansion import Expanded
from engine.retrieval.routes import PROXIMITY, RouteScores, Term
from engine.retrieval.scoring import Ranking, bonus_of, boost_of
from engine.retrieval.selection import Choice, Selection

RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True)
class FusionLine:
    """What one channel gave to the relevance: ``contribution = weight * value``."""

    channel: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class SignalLine:
    """One signal of a route. ``contribution`` is ``weight * value``, or, where the signal ranks
    the pool, ``weight / (rank_offset + rank)``."""

    route: str
    signal: str
    value: float
    weight: float
    contribution: float
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class RouteLines:
    """One route: ``score = sum of the signals' contributions * factor`` (0 for no member).

    ``relevance`` is the sum of the ``fusion`` lines over ``fusion_best``. With several routes
    ``contribution = weight * score / best``; with one it is the score, and ``best`` is ``None``.
    ``preset_weight`` is the weight before the query's intent moved it; ``shared_out`` says that
    other signals took over the weight of the words.
    """

    route: str
    member: bool
    fusion: tuple[FusionLine, ...]
    fusion_best: float
    signals: tuple[SignalLine, ...]
    rank_offset: float
    factor_name: str
    factor: float
    score: float
    best: float | None
    weight: float
    preset_weight: float
    contribution: float
    shared_out: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a candidate got its score and its place.

    ``score = min(cap, sum of the routes' contributions * boost + bonus)``. ``ranks`` is its
    place (from 0) in each channel that proposed it, ``place`` its place (from 1) by score.
    ``order`` are the signals that decided the order in front of the score. ``choice`` says
    what selection made of it, ``None`` if it was not selected; then ``duplicate_of`` names the
    result it was too much like, if any. ``expansion`` is the link over which it came along,
    where that gives the score and not what it says itself; one that is outside the pool has no
    lines and the place 0.
    """

    id: int
    preset: str
    traits: tuple[str, ...]
    place: int
    ranks: Mapping[str, int]
    routes: tuple[RouteLines, ...]
    source: str
    boost: float
    bonus: float
    cap: float | None
    order: tuple[tuple[str, float], ...]
    score: float
    choice: Choice | None
    duplicate_of: int | None
    expansion: Expanded | None = None


def explain(ranking: Ranking, memory_id: int, selection: Selection | None = None) -> Explanation:
    """The explanation of one candidate; raises :class:`NotFound` if it is not in the pool."""
    order, scored = next(
        ((n, item) for n, item in enumerate(ranking.ordered, 1) if item.id == memory_id),
        (0, None),
    )
    if scored is None:
        raise NotFound("error.no_such_memory", ref=str(memory_id))
    preset, place = ranking.preset, scored.place
    facts = ranking.facts(place)
    return Explanation(
        id=memory_id,
        preset=preset.name,
        traits=tuple(sorted(ranking.query.traits)),
        place=order,
        ranks=facts.ranks,
        routes=tuple(_route_lines(ranking, number, place) for number in range(len(ranking.routes))),
        source=facts.source,
        boost=boost_of(preset, facts),
        bonus=bonus_of(preset, ranking.routes, place),
        cap=preset.cap,
        order=tuple(
            (name, ranking.columns.column(name, preset.recency)[place]) for name in preset.order
        ),
        score=scored.score,
        choice=selection.choice(memory_id) if selection else None,
        duplicate_of=selection.duplicates.get(memory_id) if selection else None,
    )


def explain_expanded(ranking: Ranking, expanded: Expanded) -> Explanation:
    """The explanation of a memory that came along over a link after the cut."""
    return Explanation(
        id=expanded.id,
        preset=ranking.preset.name,
        traits=tuple(sorted(ranking.query.traits)),
        place=0,
        ranks={},
        routes=(),
        source="",
        boost=1.0,
        bonus=0.0,
        cap=None,
        order=(),
        score=expanded.score,
        choice=None,
        duplicate_of=None,
        expansion=expanded,
    )


def replay(explanation: Explanation) -> float:
    """The score, computed from the printed lines alone."""
    if explanation.expansion is not None:
        return explanation.expansion.score
    total = sum(_replayed_route(lines) for lines in explanation.routes)
    total = total * explanation.boost + explanation.bonus
    return total if explanation.cap is None else min(total, explanation.cap)


def _route_lines(ranking: Ranking, number: int, place: int) -> RouteLines:
    scores = ranking.routes[number]
    route, several = scores.route, len(ranking.routes) > 1
    weight, score = ranking.route_weights[number], scores.scores[place]
    share = score / scores.best if scores.best > 0 else 0.0
    return RouteLines(
        route=route.name,
        member=scores.holds(place),
        fusion=_fusion_lines(scores, place),
        fusion_best=scores.fused.best if scores.fused else 0.0,
        signals=tuple(_signal_line(ranking, scores, name, place) for name in _shown(scores)),
        rank_offset=route.fusion.rrf_k,
        factor_name=route.factor,
        factor=scores.factor[place] if scores.factor else 1.0,
        score=score,
        best=scores.best if several else None,
        weight=weight if several else 1.0,
        preset_weight=route.weight if several else 1.0,
        contribution=weight * share if several else score,
        shared_out=scores.shared_out,
    )


def _fusion_lines(scores: RouteScores, place: int) -> tuple[FusionLine, ...]:
    if scores.fused is None:
        return ()
    return tuple(
        FusionLine(part.channel, part.values[place], part.weight, part.weight * part.values[place])
        for part in scores.fused.parts
    )


def _shown(scores: RouteScores) -> list[str]:
    """Every signal that has a value: those of weight 0 as well, but no relevance or proximity
    that nobody worked out."""
    counted = {term.signal for term in scores.terms}
    return [name for name in SIGNALS if name in counted or name not in (RELEVANCE, PROXIMITY)]


def _signal_line(ranking: Ranking, scores: RouteScores, name: str, place: int) -> SignalLine:
    route = scores.route
    term = next((term for term in scores.terms if term.signal == name), None)
    if term is None:
        value = ranking.columns.value(name, route.recency, place)
        return SignalLine(route.name, name, value, 0.0, 0.0)
    rank = term.ranks[place] if term.ranks else None
    contribution = _contribution(term, place, route.fusion.rrf_k)
    return SignalLine(route.name, name, term.values[place], term.weight, contribution, rank)


def _contribution(term: Term, place: int, rank_offset: float) -> float:
    if term.ranks:
        return term.weight / (rank_offset + term.ranks[place])
    return term.weight * term.values[place]


def _replayed_route(lines: RouteLines) -> float:
    if not lines.member:
        return 0.0
    score = sum(_replayed_signal(line, lines) for line in lines.signals) * lines.factor
    if lines.best is None:
        return score
    return lines.weight * score / lines.best if lines.best > 0 else 0.0


def _replayed_signal(line: SignalLine, lines: RouteLines) -> float:
    if line.rank is not None:
        return line.weight / (lines.rank_offset + line.rank)
    if line.signal == RELEVANCE and lines.fusion_best > 0:
        fused = sum(part.weight * part.value for part in lines.fusion)
        return line.weight * fused / lines.fusion_best
    return line.weight * line.value
