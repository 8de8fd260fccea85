"""Evaluate: how well recall answers questions whose answers are known."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

from engine.config.presets import known_preset
from engine.context import EngineContext
from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.vocabulary import MODES, check
from engine.evaluation.dataset import EvaluationSet
from engine.evaluation.runner import Outcome, outcome, run
from engine.evaluation.session import (
    EvaluationParts,
    EvaluationRequest,
    Here,
    asking,
    load_sets,
)
from engine.evaluation.trial import Setup


@dataclass(frozen=True, slots=True)
class SetReport:
    """The outcome of each setup on one set, in their order; ``problems`` are lines that were
    left out, ``without_vectors`` is why some memories had none, ``took_s`` is wall time."""

    name: str
    outcomes: tuple[Outcome, ...]
    took_s: float
    problems: tuple[InvalidInput, ...] = ()
    without_gold: int = 0
    without_vectors: JiyiError | None = None


def evaluate(
    context: EngineContext, request: EvaluationRequest, parts: EvaluationParts
) -> list[SetReport]:
    """Measure every setup on every set. Writes nothing to the store at hand.

    Raises :class:`InvalidInput` before anything is measured for a path that is no set.
    """
    checked = _checked(request)
    here = Here(context.home, context.database, context.settings, context.zone)
    return [_report(here, chosen, checked, parts) for chosen in load_sets(here, checked)]


def _report(
    here: Here, chosen: EvaluationSet, request: EvaluationRequest, parts: EvaluationParts
) -> SetReport:
    started = time.perf_counter()
    show = partial(parts.on_progress, chosen.name, "ask")
    with asking(here, chosen, request, parts) as trial:
        runs = [
            run(trial.part.queries, partial(trial.ask, setup), request.measures, show)
            for setup in request.setups
        ]
    return SetReport(
        name=chosen.name,
        outcomes=tuple(outcome(judged, request.measures) for judged in runs),
        took_s=time.perf_counter() - started,
        problems=chosen.problems,
        without_gold=chosen.without_gold,
        without_vectors=trial.problem,
    )


def _checked(request: EvaluationRequest) -> EvaluationRequest:
    depth = max(measure.depth for measure in request.measures)
    return replace(request, setups=tuple(_checked_setup(s, depth) for s in request.setups))


def _checked_setup(setup: Setup, depth: int) -> Setup:
    preset = known_preset(setup.preset) if setup.preset is not None else None
    return Setup(preset, check("mode", setup.mode, MODES), max(setup.k, depth))
