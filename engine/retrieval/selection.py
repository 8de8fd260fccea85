"""From a ranking to results: floor, reranker, near-duplicates and MMR, cut to k."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.domain.errors import InvalidInput, JiyiError, ModelUnavailable
from engine.retrieval.diversity import Picked, Similarity, Spread, diversify
from engine.retrieval.scoring import Ranking, Scored
from engine.retrieval.signals import known_cosine, min_max

Reranker = Callable[[str, Sequence[str]], Sequence[float]]
"""Scores texts against a query, one score for each text in order, larger is better."""

# A reranker is foreign code: whatever it trips over must not cost the answer.
_FAILURES = (JiyiError, OSError, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Rerank:
    """A second look at the best ``pool`` candidates; ``texts`` fetches texts by id, in order."""

    query: str
    reranker: Reranker
    texts: Callable[[Sequence[int]], Sequence[str]]
    pool: int = 50


@dataclass(frozen=True, slots=True)
class Cut:
    """What is selected from a ranking.

    ``strengths`` are match strengths (0-1) by id, needed where a floor is set: ``min_strength``
    or the preset's own, whichever is higher. ``min_cosine`` in [-1,1] drops what is less like
    the query. ``exempt`` ids came without a match of their own and pass both floors.
    ``mmr_lambda``, ``dedup_threshold`` and ``pinned_from`` (a cosine) replace the preset's.
    """

    k: int
    strengths: Mapping[int, float] = field(default_factory=dict)
    min_strength: float | None = None
    min_cosine: float | None = None
    dedup_threshold: float | None = None
    mmr_lambda: float | None = None
    pinned_from: float | None = None
    exempt: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Choice:
    """One result. ``first_score`` and ``first_place`` (from 1) are those of the ranking, before
    a reranker. ``similarity`` is to the result before it that it is most like, ``nearest``.
    ``by_pin`` marks one that is here only because it is pinned."""

    id: int
    score: float
    first_score: float
    first_place: int
    reranked: bool = False
    similarity: float = 0.0
    nearest: int | None = None
    by_pin: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """The results in order. ``cut`` counts candidates below a floor; ``duplicates`` maps what
    was dropped to the result it repeats; ``degraded`` says why the reranker did not count."""

    choices: tuple[Choice, ...]
    cut: int
    duplicates: Mapping[int, int]
    degraded: JiyiError | None = None

    def choice(self, memory_id: int) -> Choice | None:
        """The result with this id, if it was selected."""
        return next((choice for choice in self.choices if choice.id == memory_id), None)


def select(
    ranking: Ranking,
    cut: Cut,
    similarity: Similarity | None = None,
    rerank: Rerank | None = None,
) -> Selection:
    """The results of a ranking, by the preset's rules and those of the request.

    Raises :class:`InvalidInput` for a number outside its range.
    """
    _check(cut)
    pinned = _pinned(ranking, cut)
    kept = _kept(ranking, cut, pinned)
    places = {item.id: place for place, item in enumerate(ranking.ordered, 1)}
    first = {item.id: item.score for item in kept}
    degraded, fresh = None, dict[int, float]()
    if rerank and kept:
        fresh, degraded = _reranked(rerank, [item.id for item in kept[: rerank.pool]])
    candidates = _relevances(kept, fresh)
    spread = _spread(ranking, cut, pinned)
    diverse = diversify(candidates, cut.k, spread, similarity)
    picked, pulled = _with_pinned(diverse.picked, candidates, pinned, cut.k)
    choices = tuple(
        Choice(
            id=item.id,
            score=fresh.get(item.id, first[item.id]),
            first_score=first[item.id],
            first_place=places[item.id],
            reranked=item.id in fresh,
            similarity=item.similarity,
            nearest=item.nearest,
            by_pin=item.id in pulled,
        )
        for item in picked
    )
    return Selection(choices, len(ranking.ordered) - len(kept), diverse.duplicates, degraded)


def _check(cut: Cut) -> None:
    ranges = (
        ("min_strength", cut.min_strength, 0.0),
        ("min_similarity", cut.min_cosine, -1.0),
        ("dedup_threshold", cut.dedup_threshold, 0.0),
        ("diversity", cut.mmr_lambda, 0.0),
    )
    for name, value, low in ranges:
        if value is not None and not low <= value <= 1.0:
            raise InvalidInput("error.out_of_range", name=name, value=value, low=low, high=1)


def _pinned(ranking: Ranking, cut: Cut) -> frozenset[int]:
    """Pinned candidates that are always in."""
    least = ranking.preset.pinned_from if cut.pinned_from is None else cut.pinned_from
    if least is None:
        return frozenset()
    return frozenset(
        facts.id
        for facts in ranking.columns.pool
        if facts.pinned and (cosine := known_cosine(facts)) is not None and cosine >= least
    )


def _kept(ranking: Ranking, cut: Cut, pinned: frozenset[int]) -> list[Scored]:
    """What passes both floors, or need not."""
    floor = max(ranking.preset.floor, cut.min_strength or 0.0)
    least = cut.min_cosine
    spared, strengths = pinned | cut.exempt, cut.strengths
    kept = list(ranking.ordered)
    if floor > 0.0:
        kept = [i for i in kept if strengths.get(i.id, 0.0) >= floor or i.id in spared]
    if least is not None:
        kept = [i for i in kept if _cosine(ranking, i) >= least or i.id in spared]
    return kept


def _cosine(ranking: Ranking, item: Scored) -> float:
    """The cosine, below any floor when there is none."""
    cosine = known_cosine(ranking.facts(item.place))
    return -math.inf if cosine is None else cosine


def _reranked(rerank: Rerank, head: Sequence[int]) -> tuple[dict[int, float], JiyiError | None]:
    """New scores of the head, or none and the reason why."""
    try:
        scores = [float(score) for score in rerank.reranker(rerank.query, rerank.texts(head))]
    except _FAILURES as error:
        reason = error if isinstance(error, JiyiError) else str(error)[:200]
        return {}, ModelUnavailable("error.reranker_failed", reason=reason)
    if len(scores) != len(head):
        return {}, ModelUnavailable("error.reranker_count", given=len(scores), wanted=len(head))
    if not all(map(math.isfinite, scores)):
        return {}, ModelUnavailable("error.reranker_number")
    return dict(zip(head, scores, strict=True)), None


def _relevances(kept: Sequence[Scored], fresh: Mapping[int, float]) -> list[tuple[int, float]]:
    """Candidates in order with their relevance in [0,1] over the pool.

    What a reranker scored stands in front; the rest, on another scale, follows in [-1,0].
    """
    head = sorted((item for item in kept if item.id in fresh), key=lambda item: -fresh[item.id])
    tail = [item for item in kept if item.id not in fresh]
    below = 1.0 if head else 0.0
    return [
        *zip(
            (item.id for item in head), min_max([fresh[i.id] for i in head], alone=1.0), strict=True
        ),
        *(
            (item.id, value - below)
            for item, value in zip(tail, min_max([i.score for i in tail], alone=1.0), strict=True)
        ),
    ]


def _spread(ranking: Ranking, cut: Cut, pinned: frozenset[int]) -> Spread:
    preset = ranking.preset
    share = preset.mmr_lambda if cut.mmr_lambda is None else cut.mmr_lambda
    return Spread(share, cut.dedup_threshold, pinned)


def _with_pinned(
    picked: tuple[Picked, ...],
    candidates: Sequence[tuple[int, float]],
    pinned: frozenset[int],
    k: int,
) -> tuple[list[Picked], frozenset[int]]:
    """Missing pinned candidates in place of the last results that are not pinned."""
    have = {item.id for item in picked}
    order = [memory_id for memory_id, _ in candidates]
    missing = [memory_id for memory_id in order if memory_id in pinned and memory_id not in have]
    room = k - sum(item.id in pinned for item in picked)
    pulled = missing[: max(0, room)]
    if not pulled:
        return list(picked), frozenset()
    others = [item for item in picked if item.id not in pinned][: max(0, room - len(pulled))]
    stay = {item.id for item in others} | (pinned & have)
    kept = [item for item in picked if item.id in stay]
    return [*kept, *(Picked(memory_id, 0.0, None) for memory_id in pulled)], frozenset(pulled)
