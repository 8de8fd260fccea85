"""Asking every question of a set and adding up how well the answers do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.domain.errors import JiyiError
from engine.evaluation.dataset import GoldQuery
from engine.evaluation.metrics import Measure, mean, percentile


@dataclass(frozen=True, slots=True)
class Found:
    """An answer: references, best first; wall time in milliseconds, as a whole but for the
    embedding of the question, and by stage; why ways of searching did not take part."""

    refs: tuple[str, ...]
    took_ms: float
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[JiyiError, ...] = ()


Ask = Callable[[GoldQuery], Found]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, its answer, and what each measure says of it, in [0,1]."""

    query: GoldQuery
    found: Found
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Score:
    """Means over ``n`` questions, each in [0,1]."""

    n: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The scores of a run and how long an answer took. ``stages_ms`` are means; ``degraded`` are
    the reasons why ways of searching did not take part, each once."""

    overall: Score
    by_category: Mapping[str, Score]
    by_space: Mapping[str, Score]
    query_ms_p50: float
    query_ms_p95: float
    stages_ms: Mapping[str, float]
    degraded: tuple[JiyiError, ...] = ()


def run(
    queries: Sequence[GoldQuery],
    ask: Ask,
    measures: Sequence[Measure],
    on_progress: Progress,
) -> list[Judged]:
    """Ask the questions one after the other."""
    judged = []
    on_progress(0, len(queries))
    for done, query in enumerate(queries, start=1):
        found = ask(query)
        values = {measure.name: measure(found.refs, query.gold) for measure in measures}
        judged.append(Judged(query, found, values))
        on_progress(done, len(queries))
    return judged


def outcome(judged: Sequence[Judged], measures: Sequence[Measure]) -> Outcome:
    """Scores as a whole, by category and by space; every question counts the same."""
    names = [measure.name for measure in measures]
    times_ms = [item.found.took_ms for item in judged]
    reasons = {str(reason): reason for item in judged for reason in item.found.degraded}
    return Outcome(
        overall=_score(judged, names),
        by_category=_by(judged, names, lambda query: query.category),
        by_space=_by(judged, names, lambda query: query.space),
        query_ms_p50=percentile(times_ms, 0.50),
        query_ms_p95=percentile(times_ms, 0.95),
        stages_ms=_stages(judged),
        degraded=tuple(reasons.values()),
    )


def _by(
    judged: Iterable[Judged], names: Sequence[str], group_of: Callable[[GoldQuery], str]
) -> dict[str, Score]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for item in judged:
        groups[group_of(item.query)].append(item)
    return {name: _score(groups[name], names) for name in sorted(groups)}


def _score(judged: Sequence[Judged], names: Sequence[str]) -> Score:
    values = {name: mean([item.values[name] for item in judged]) for name in names}
    return Score(len(judged), values)


def _stages(judged: Sequence[Judged]) -> dict[str, float]:
    names = dict.fromkeys(name for item in judged for name in item.found.stages_ms)
    return {name: mean([item.found.stages_ms.get(name, 0.0) for item in judged]) for name in names}
