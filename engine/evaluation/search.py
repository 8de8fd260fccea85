"""Searching for better weights on questions whose answers are known.

The candidates of each question are fetched once; only their order is made again for other
weights, so a trial costs milliseconds a question. What is found on one part of the questions is
reported on the other part, which the search never saw.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.config.presets import SIGNALS, Preset, effective
from engine.config.schema import ShareSettings, WeightSettings
from engine.domain.errors import ConfigInvalid
from engine.evaluation.dataset import GoldQuery
from engine.evaluation.metrics import Measure, mean
from engine.retrieval.facts import Facts, QueryFacts
from engine.retrieval.scoring import rank

WEIGHTS, SHARES = "recall.weights.", "recall.shares."
_FACTORS = (0.0, 0.5, 0.75, 1.33, 2.0)
# What a signal is tried with that the preset does not use.
_FIRST_STEP = 0.1
_MAX_WEIGHT = 1.0
# Less than this is not worth another number to explain.
_WORTH = 0.0005

Values = Mapping[str, float]
"""Weights and shares by the setting that holds them."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A question with its candidates; ``refs`` gives the reference of each candidate's id."""

    query: GoldQuery
    candidates: tuple[Facts, ...]
    asked: QueryFacts
    refs: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the search found: the values that differ from ``start``, and the measure (0-1) before
    and after on the questions searched on and on those held out; ``trials`` were scored."""

    start: Values
    changed: Values
    measure: str
    searched: tuple[float, float]
    held_out: tuple[float, float]
    searched_count: int
    held_out_count: int
    trials: int


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How long to search, with which measure, from which preset; ``seed`` fixes the order in
    which values are tried."""

    preset: Preset
    measure: Measure
    max_trials: int = 120
    seed: int = 1


def starting_values(preset: Preset) -> dict[str, float]:
    """The weights and shares in force, of the signals that a preset uses and that matter."""
    weights = {f"{WEIGHTS}{name}": getattr(preset.weights, name) for name in SIGNALS}
    used = {key: value for key, value in weights.items() if value}
    shares = {
        f"{SHARES}vector": preset.fusion.vector_share,
        f"{SHARES}lexical": preset.fusion.lexical_share,
    }
    return used | (shares if preset.fusion.method != "rrf" else {})


def value_of(plan: SearchPlan, values: Values, pools: Sequence[Pooled]) -> float:
    """The mean of the measure over the questions with these values; 0 for values that leave
    nothing to rank by."""
    try:
        preset = effective(plan.preset, _weights(values), _shares(values))
    except ConfigInvalid:
        return 0.0
    return mean([_measured(preset, plan.measure, pooled) for pooled in pools])


def search(
    plan: SearchPlan,
    searched: Sequence[Pooled],
    held_out: Sequence[Pooled],
    on_progress: Callable[[int, int], None],
) -> Proposal:
    """Look for better values by coordinate search: one value after the other is tried with a
    few multiples of itself, in an order of chance, until none helps or ``max_trials`` are spent.

    Whether it is better there decides on ``searched`` alone; ``held_out`` is only reported.
    """
    start = starting_values(plan.preset)
    walk = _Walk(plan, searched, on_progress)
    best = walk.from_(start)
    changed = {key: value for key, value in best.items() if value != start.get(key, 0.0)}
    return Proposal(
        start=start,
        changed=changed,
        measure=plan.measure.name,
        searched=(value_of(plan, start, searched), value_of(plan, best, searched)),
        held_out=(value_of(plan, start, held_out), value_of(plan, best, held_out)),
        searched_count=len(searched),
        held_out_count=len(held_out),
        trials=walk.trials,
    )


class _Walk:
    """One coordinate search under way."""

    def __init__(
        self,
        plan: SearchPlan,
        pools: Sequence[Pooled],
        on_progress: Callable[[int, int], None],
    ) -> None:
        self.trials = 0
        self._plan = plan
        self._pools = pools
        self._on_progress = on_progress

    def from_(self, start: Values) -> Values:
        """The best values found, beginning with ``start``."""
        chance = random.Random(self._plan.seed)
        best, value = dict(start), self._tried(start)
        while True:
            before, keys = value, self._keys(start)
            chance.shuffle(keys)
            for key in keys:
                best, value = self._better(best, value, key)
            if value <= before or self._is_spent:
                return best

    def _better(
        self, best: dict[str, float], value: float, key: str
    ) -> tuple[dict[str, float], float]:
        known = best.get(key, 0.0)
        steps = [known * factor for factor in _FACTORS] if known else [_FIRST_STEP]
        for step in steps:
            if self._is_spent:
                break
            tried = best | {key: round(min(step, _MAX_WEIGHT), 4)}
            reached = self._tried(tried)
            if reached > value + _WORTH:
                best, value = tried, reached
        return best, value

    @property
    def _is_spent(self) -> bool:
        return self.trials >= self._plan.max_trials

    def _keys(self, start: Values) -> list[str]:
        """The values in force, and the signals that the preset leaves out."""
        return list(dict.fromkeys([*start, *(f"{WEIGHTS}{name}" for name in SIGNALS)]))

    def _tried(self, values: Values) -> float:
        self.trials += 1
        self._on_progress(min(self.trials, self._plan.max_trials), self._plan.max_trials)
        return value_of(self._plan, values, self._pools)


def _measured(preset: Preset, measure: Measure, pooled: Pooled) -> float:
    ordered = rank(preset, pooled.candidates, pooled.asked).ordered
    ranked = [pooled.refs[scored.id] for scored in ordered[: measure.depth]]
    return measure(ranked, pooled.query.gold)


def _weights(values: Values) -> WeightSettings:
    return WeightSettings(**_named(values, WEIGHTS))


def _shares(values: Values) -> ShareSettings:
    return ShareSettings(**_named(values, SHARES))


def _named(values: Values, prefix: str) -> dict[str, float]:
    return {
        key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)
    }
