"""Preview: what other weights would make of the answers, before anything is saved.

The candidates of a query are fetched once and kept for a while; every other set of weights only
puts them in order anew. Nothing is written, and nothing counts as used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.config.presets import known_preset
from engine.config.schema import Settings, ShareSettings, WeightSettings, checked, declared
from engine.context import EngineContext
from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.memory import Memory
from engine.domain.scope import Filters, Scope
from engine.domain.text import scrub
from engine.evaluation.dataset import GoldQuery
from engine.evaluation.gold import questions_of_judgments
from engine.evaluation.metrics import MEASURES, Gold, Measure, mean
from engine.language.folding import fold
from engine.retrieval.answer import RecallRequest
from engine.retrieval.cache import RecallCache
from engine.retrieval.explanation import Explanation, RouteLines, explain
from engine.retrieval.rescoring import Gathered, chosen, order
from engine.retrieval.scoring import Ranking
from engine.retrieval.selection import Choice, Selection
from engine.storage import changes, judgments

PRESET = "recall.preset"
WEIGHTS, SHARES = "recall.weights.", "recall.shares."
MAX_SHOWN = 50
_KEPT_POOLS = 64
_KEPT_S = 900.0

Fetch = Callable[[EngineContext, RecallRequest], Gathered]
"""Fetches the candidates of a query; handed in, because recall does it."""


@dataclass(frozen=True, slots=True)
class WeightSet:
    """A ranking to try: a preset, and numbers in place of its own by the setting that would hold
    them (``recall.weights.recency``, ``recall.shares.vector``)."""

    preset: str
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query to preview, asked in a workspace (empty: in all); ``shown`` results are wanted."""

    query: str
    workspace: str = ""
    shown: int = 10


@dataclass(frozen=True, slots=True)
class Part:
    """What one signal gave to a score; the parts of a result add up to its score."""

    signal: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A result of one side. ``before`` is its place (from 1) on the other side, ``None`` where
    it is not among those shown there; ``judged`` is what a person said of it, if anything.
    ``channels`` is its place (from 1) in each channel that proposed it."""

    memory: Memory
    place: int
    before: int | None
    score: float
    strength: float
    weak: bool
    judged: bool | None
    parts: tuple[Part, ...]
    channels: Mapping[str, int]
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One side of a comparison. ``ndcg`` and ``recall`` (0-1, of the first ten) are ``None``
    while no result was judged relevant; ``cut`` counts what was too weak."""

    weights: WeightSet
    hits: tuple[Placed, ...]
    ndcg: float | None
    recall: float | None
    cut: int


@dataclass(frozen=True, slots=True)
class Preview:
    """Both sides, the first the one that movement is counted from. ``returned`` results are what
    an assistant gets; ``fetched`` tells whether the store was asked, which a mere change of
    weights does not."""

    query: str
    sides: tuple[Ranked, ...]
    pool: int
    returned: int
    fetched: bool
    took_ms: float
    degraded: tuple[JiyiError, ...]


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query that was judged, with what each weight set reaches on it by measure (0-1)."""

    query: str
    workspace: str
    relevant: int
    values: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The means of each weight set over all judged queries, and every query's own."""

    means: tuple[Mapping[str, float], ...]
    queries: tuple[JudgedQuery, ...]
    without_gold: int
    took_ms: float


class Pools:
    """Candidates that were fetched, good until the store or the settings change. Thread-safe."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._kept: RecallCache[Gathered] = RecallCache(_KEPT_S, _KEPT_POOLS)

    def get(self, context: EngineContext, asked: Asked, preset: str) -> tuple[Gathered, bool]:
        """The candidates of a query by a preset, and whether they had to be fetched."""
        with context.database.read() as connection:
            change = changes.last(connection)
        now = context.clock.now()
        key = self._key(context, asked, preset)
        known = self._kept.get(key, change, now)
        if known is not None:
            return known, False
        within = Filters(scope=Scope("workspace", asked.workspace)) if asked.workspace else None
        request = RecallRequest(
            asked.query, filters=within or Filters(), preset=preset, touch=False
        )
        fresh = self._fetch(context, request)
        if not fresh.degraded:
            self._kept.put(key, fresh, change, now, fresh.deadline)
        return fresh, True

    def _key(self, context: EngineContext, asked: Asked, preset: str) -> Hashable:
        # Settings other than weights decide what is fetched: how many, which channels.
        version = context.live.version()
        model = context.serving().identity()
        return (asked.query, asked.workspace, preset, version, model)


def weights_in_force(settings: Settings) -> WeightSet:
    """The preset that is set, with the numbers that replace its own."""
    recall = settings.recall
    return WeightSet(recall.preset, _set_numbers(recall.weights, recall.shares))


def checked_weights(given: WeightSet) -> WeightSet:
    """The same with known names and numbers in their ranges.

    Raises :class:`InvalidInput` for a setting that is no weight and :class:`ConfigInvalid` for a
    number out of its range or an unknown preset.
    """
    for key in given.values:
        if not key.startswith((WEIGHTS, SHARES)) or key not in declared():
            raise InvalidInput("panel_tune.no_weight", name=key[:60])
    values = {key: _checked_number(key, value) for key, value in given.values.items()}
    return WeightSet(known_preset(given.preset), values)


def preview(
    context: EngineContext, pools: Pools, asked: Asked, given: Sequence[WeightSet]
) -> Preview:
    """One query by several weight sets side by side; movement is counted from the first.

    Raises :class:`InvalidInput` for a blank query, and what :func:`checked_weights` raises.
    """
    started = time.perf_counter()
    shown = min(max(1, asked.shown), MAX_SHOWN)
    sets = [checked_weights(one) for one in given]
    found = [pools.get(context, asked, one.preset) for one in sets]
    judged = _judged(context, asked)
    weak_below = context.settings.recall.weak_below
    orders = [
        _Ordered.by(one, gathered, shown) for one, (gathered, _) in zip(sets, found, strict=True)
    ]
    first = orders[0].places
    sides = tuple(one.told(first if n else {}, judged, weak_below) for n, one in enumerate(orders))
    reasons = {str(reason): reason for gathered, _ in found for reason in gathered.degraded}
    return Preview(
        query=found[0][0].query,
        sides=sides,
        pool=max(len(gathered.candidates) for gathered, _ in found),
        returned=context.settings.recall.k,
        fetched=any(is_fresh for _, is_fresh in found),
        took_ms=(time.perf_counter() - started) * 1000,
        degraded=tuple(reasons.values()),
    )


def evaluate_weights(
    context: EngineContext,
    pools: Pools,
    given: Sequence[WeightSet],
    on_progress: Callable[[int, int], None],
    measures: Sequence[Measure] = MEASURES,
) -> Evaluated:
    """How well each weight set answers everything that was judged.

    Raises :class:`InvalidInput` when nothing was judged relevant.
    """
    started = time.perf_counter()
    sets = [checked_weights(one) for one in given]
    with context.database.read() as connection:
        rows = judgments.listed(connection)
    gold = questions_of_judgments("judgments", rows)
    if not gold.queries:
        raise InvalidInput("error.eval_no_queries", name="judgments")
    told = []
    for done, query in enumerate(gold.queries, start=1):
        told.append(_measured(context, pools, query, sets, measures))
        on_progress(done, len(gold.queries))
    means = tuple(
        {m.name: mean([query.values[n][m.name] for query in told]) for m in measures}
        for n in range(len(sets))
    )
    took_ms = (time.perf_counter() - started) * 1000
    return Evaluated(means, tuple(told), gold.without_gold, took_ms)


def _measured(
    context: EngineContext,
    pools: Pools,
    query: GoldQuery,
    sets: Sequence[WeightSet],
    measures: Sequence[Measure],
) -> JudgedQuery:
    asked = Asked(query.query, query.space)
    depth = max(measure.depth for measure in measures)
    values = []
    for one in sets:
        gathered, _ = pools.get(context, asked, one.preset)
        ranked = _Ordered.by(one, gathered, depth).uids
        values.append({measure.name: measure(ranked, query.gold) for measure in measures})
    return JudgedQuery(query.query, query.space, len(query.gold), tuple(values))


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was said of a query's memories by uid, and the gold that measures need."""

    said: Mapping[str, bool]
    gold: Gold


def _judged(context: EngineContext, asked: Asked) -> _Judged:
    with context.database.read() as connection:
        rows = judgments.listed(connection, fold(" ".join(scrub(asked.query).split())))
    here = [row for row in rows if row.workspace == asked.workspace]
    said = {row.memory_uid: row.relevant for row in here}
    return _Judged(said, {row.memory_uid: row.grade or 1.0 for row in here if row.relevant})


@dataclass(frozen=True, slots=True)
class _Ordered:
    """The results of one weight set."""

    weights: WeightSet
    gathered: Gathered
    ranking: Ranking
    selection: Selection

    @classmethod
    def by(cls, one: WeightSet, gathered: Gathered, count: int) -> _Ordered:
        weights = WeightSettings(**_named(one.values, WEIGHTS))
        shares = ShareSettings(**_named(one.values, SHARES))
        ranking = order(gathered, weights, shares)
        return cls(one, gathered, ranking, chosen(gathered, ranking, count))

    @property
    def places(self) -> dict[int, int]:
        return {choice.id: place for place, choice in enumerate(self.selection.choices, 1)}

    @property
    def uids(self) -> list[str]:
        return [self.gathered.memories[choice.id].uid for choice in self.selection.choices]

    def told(self, before: Mapping[int, int], judged: _Judged, weak_below: float) -> Ranked:
        hits = tuple(
            self._placed(place, choice, before, judged, weak_below)
            for place, choice in enumerate(self.selection.choices, 1)
        )
        reached = {
            measure.name: measure(self.uids, judged.gold)
            for measure in MEASURES
            if judged.gold and measure.depth == 10
        }
        return Ranked(
            self.weights,
            hits,
            reached.get("ndcg@10"),
            reached.get("recall@10"),
            self.selection.cut,
        )

    def _placed(
        self,
        place: int,
        choice: Choice,
        before: Mapping[int, int],
        judged: _Judged,
        weak_below: float,
    ) -> Placed:
        why = explain(self.ranking, choice.id, self.selection)
        memory = self.gathered.memories[choice.id]
        strength = self.gathered.cut.strengths.get(choice.id, 0.0)
        return Placed(
            memory=memory,
            place=place,
            before=before.get(choice.id),
            score=choice.score,
            strength=strength,
            weak=strength < weak_below,
            judged=judged.said.get(memory.uid),
            parts=tuple(parts_of(why)),
            channels={name: rank + 1 for name, rank in why.ranks.items()},
            matched=self.gathered.matched.get(choice.id, ()),
        )


def parts_of(why: Explanation) -> Iterable[Part]:
    """What each signal gave to the score, over all routes; what a source multiplies, a bonus or
    a cap makes of it comes last as ``boost``, so that the parts add up."""
    signals: dict[str, Part] = {}
    for route in why.routes:
        scale = _scale(route)
        for line in route.signals:
            given = line.contribution * scale
            if given:
                had = signals[line.signal].contribution if line.signal in signals else 0.0
                signals[line.signal] = Part(line.signal, line.value, line.weight, had + given)
    yield from signals.values()
    rest = why.score - sum(part.contribution for part in signals.values())
    if abs(rest) > 1e-9:
        yield Part("boost", why.boost, 1.0, rest)


def _scale(route: RouteLines) -> float:
    """What a signal's contribution within a route counts in the whole."""
    if not route.member:
        return 0.0
    if route.best is None:
        return route.factor
    return route.factor * route.weight / route.best if route.best > 0 else 0.0


def _set_numbers(weights: WeightSettings, shares: ShareSettings) -> dict[str, float]:
    given = [(f"{WEIGHTS}{name}", value) for name, value in weights]
    given += [(f"{SHARES}{name}", value) for name, value in shares]
    return {key: value for key, value in given if value is not None}


def _checked_number(key: str, value: float) -> float:
    number = checked(key, value, key)
    assert isinstance(number, (int, float))
    return float(number)


def _named(values: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {
        key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)
    }
