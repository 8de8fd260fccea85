"""Tune: propose other weights for ranking. Nothing is applied; that is for a person to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from engine.config.presets import effective, load_preset
from engine.context import EngineContext
from engine.domain.errors import InvalidInput
from engine.evaluation.dataset import EvaluationSet, GoldQuery
from engine.evaluation.metrics import Measure, measure_named
from engine.evaluation.search import Pooled, Proposal, SearchPlan, search
from engine.evaluation.session import (
    EvaluationParts,
    EvaluationRequest,
    Here,
    asking,
    load_sets,
)
from engine.evaluation.trial import Setup

MEASURE = measure_named("ndcg@10")


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """Questions to search on and for how long.

    ``tune_on`` names the spaces that are searched on, the others are held out; when it is empty,
    every second space is (of a set with one space, every second question). ``preset`` is where
    the search begins (``None``: the configured one).
    """

    sets: EvaluationRequest
    tune_on: tuple[str, ...] = ()
    preset: str | None = None
    measure: Measure = MEASURE
    max_trials: int = 120


def tune(context: EngineContext, request: TuneRequest, parts: EvaluationParts) -> Proposal:
    """Search for better weights and report them on questions that the search did not see.

    Raises :class:`InvalidInput` for a path that is no set, and when no question is left to
    search on or to hold out.
    """
    settings = context.settings
    name = request.preset or settings.recall.preset
    preset = effective(load_preset(name), settings.recall.weights, settings.recall.shares)
    here = Here(context.home, context.database, settings, context.zone)
    setup = Setup(name, k=max(10, request.measure.depth))
    wanted = replace(request.sets, setups=(setup,))
    searched: list[Pooled] = []
    held_out: list[Pooled] = []
    for chosen in load_sets(here, wanted):
        is_searched = _split(chosen, request.tune_on)
        for pooled in _pools(here, chosen, wanted, parts):
            (searched if is_searched(pooled.query) else held_out).append(pooled)
    if not searched or not held_out:
        raise InvalidInput("error.tune_one_part")
    plan = SearchPlan(preset, request.measure, request.max_trials)
    return search(plan, searched, held_out, partial(parts.on_progress, name, "search"))


def _pools(
    here: Here, chosen: EvaluationSet, request: EvaluationRequest, parts: EvaluationParts
) -> list[Pooled]:
    """The candidates of every question."""
    pools: list[Pooled] = []
    with asking(here, chosen, request, parts) as trial:
        for query in trial.part.queries:
            pools.append(trial.pooled(request.setups[0], query))
            parts.on_progress(chosen.name, "ask", len(pools), len(trial.part.queries))
    return pools


def _split(chosen: EvaluationSet, tune_on: Sequence[str]) -> Callable[[GoldQuery], bool]:
    """Which questions are searched on."""
    if tune_on:
        return lambda query: query.space in tune_on
    spaces = sorted({query.space for query in chosen.queries})
    if len(spaces) > 1:
        return lambda query: query.space in spaces[::2]
    refs = frozenset(query.ref for query in chosen.queries[::2])
    return lambda query: query.ref in refs
