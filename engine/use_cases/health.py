"""Health of what is remembered: how much is fading, unused or said twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.scope import Filters
from engine.lifecycle.curves import DAY_S
from engine.lifecycle.retention import RetentionPolicy, half_life_days, retention_score
from engine.storage import forgetting
from engine.storage.database import Connection

BUCKETS = 10
UNUSED_DAYS = 30
FORECAST_DAYS = (7, 30, 90)


@dataclass(frozen=True, slots=True)
class Risk:
    """How many memories a prune ``days`` from now would list, if nobody uses any until then."""

    days: int
    at_risk: int


@dataclass(frozen=True, slots=True)
class Health:
    """Figures of the live memories.

    ``histogram`` counts retention scores in ten equal steps from 0 to 1 (what is above counts
    in the last) over the ``considered`` ones: neither pinned nor of a protected kind.
    ``at_risk`` is what a prune would list now. ``unused`` were not accessed for 30 days.
    ``duplicates`` say word for word what another one says, in ``duplicate_groups``;
    ``clusters`` are groups of near-duplicates, ``clustered`` the memories in them, ``None``
    when they were not looked for. An unused memory's score is halved in ``half_life_days``,
    ``None`` when it never is.
    """

    live: int
    considered: int
    histogram: tuple[int, ...]
    at_risk: int
    forecast: tuple[Risk, ...]
    unused: int
    duplicates: int
    duplicate_groups: int
    clusters: int | None
    clustered: int | None
    min_score: float
    half_life_days: float | None


def collect_health(
    context: EngineContext, find_clusters: Callable[[], Sequence[Sequence[int]]] | None = None
) -> Health:
    """Count all of it by the settings of prune; ``find_clusters`` gives groups of ids of
    near-duplicates."""
    settings, now = context.settings.prune, context.clock.now()
    policy = RetentionPolicy(settings.rate, settings.frequency_weight, settings.min_score)
    with context.database.read() as connection:
        scores = _scores(context, connection, policy, now)
        later = [_scores(context, connection, policy, now + days * DAY_S) for days in FORECAST_DAYS]
        live, unused = forgetting.count_unused(connection, now - UNUSED_DAYS * DAY_S, now)
        duplicates, groups = forgetting.same_texts(connection, now)
    clusters = None if find_clusters is None else find_clusters()
    return Health(
        live=live,
        considered=len(scores),
        histogram=_histogram(scores),
        at_risk=_at_risk(scores, policy),
        forecast=tuple(
            Risk(days, _at_risk(found, policy))
            for days, found in zip(FORECAST_DAYS, later, strict=True)
        ),
        unused=unused,
        duplicates=duplicates,
        duplicate_groups=groups,
        clusters=None if clusters is None else len(clusters),
        clustered=None if clusters is None else sum(map(len, clusters)),
        min_score=policy.min_score,
        half_life_days=half_life_days(policy.rate),
    )


def _scores(
    context: EngineContext, connection: Connection, policy: RetentionPolicy, now: float
) -> list[float]:
    protected = context.settings.decay.protected_kinds
    rows = forgetting.scored_rows(connection, Filters(state="live"), protected, now)
    return [retention_score(row.kept, now, policy) for row in rows]


def _histogram(scores: Sequence[float]) -> tuple[int, ...]:
    counts = [0] * BUCKETS
    for score in scores:
        counts[min(BUCKETS - 1, int(score * BUCKETS))] += 1
    return tuple(counts)


def _at_risk(scores: Sequence[float], policy: RetentionPolicy) -> int:
    return sum(score < policy.min_score for score in scores)
