"""Recall: the memories that answer a query, best first, and why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from engine.config.presets import Preset, effective_weights, load_preset
from engine.context import EngineContext
from engine.domain.embedding import Calibration
from engine.domain.errors import InvalidInput, ModelUnavailable
from engine.domain.memory import Memory
from engine.domain.scope import Filters
from engine.domain.vocabulary import MODES, check
from engine.language.labels import folded_filters
from engine.model_clients.calibration import calibration_of
from engine.model_clients.protocol import Vector
from engine.model_clients.provider import ModelHost
from engine.retrieval import analysis, channels, fusion
from engine.retrieval.analysis import AnalysedQuery
from engine.retrieval.channels import TEXT, VECTOR, Degradation, Reach
from engine.retrieval.fusion import Evidence
from engine.retrieval.lexical import LexicalScorer
from engine.retrieval.scoring import Scorer, Signal
from engine.storage import fulltext, memories
from engine.storage.database import Connection
from engine.storage.memories import RankRow

MAX_K = 100


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question to the store.

    ``k`` 1-100 results (default: the setting ``recall.k``); ``mode`` is ``auto`` (all
    channels), ``keyword`` or ``semantic``; ``preset`` names a ranking other than the
    configured one; ``min_strength`` in [0,1] cuts weaker matches.
    """

    query: str
    k: int | None = None
    filters: Filters = Filters()
    mode: str = "auto"
    preset: str | None = None
    min_strength: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. ``strength`` in [0,1] is absolute and ``weak`` marks a poor match; ``score``
    ranks within this answer. ``signals`` add up to ``score``; ``matched`` are query words that
    stand in the memory."""

    memory: Memory
    state: str
    score: float
    strength: float
    weak: bool
    signals: tuple[Signal, ...]
    cosine: float | None
    coverage: float
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answer. ``degraded`` names channels that did not take part; ``cut`` counts matches
    dropped for being weaker than ``min_strength``; ``stages_ms`` is wall time by stage."""

    query: str
    hits: tuple[Hit, ...]
    degraded: tuple[Degradation, ...]
    pool: int
    cut: int
    preset: str
    config_version: str
    stages_ms: dict[str, float]

    @property
    def keywords_only(self) -> bool:
        """True when the vectors did not take part although they should."""
        return any(item.channel == VECTOR for item in self.degraded)


@dataclass(slots=True)
class _Run:
    """One recall under way."""

    context: EngineContext
    request: RecallRequest
    query: str
    now: float
    k: int
    host: ModelHost
    degraded: list[Degradation] = field(default_factory=list)
    stages_ms: dict[str, float] = field(default_factory=dict)

    @property
    def limit(self) -> int:
        """Candidates that each channel hands over."""
        return max(self.context.settings.recall.pool, 10 * self.k)

    @property
    def uses_text(self) -> bool:
        return self.request.mode != "semantic" and self.context.settings.text.enabled

    @property
    def uses_vectors(self) -> bool:
        return self.request.mode != "keyword" and self.context.settings.vectors.enabled

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            elapsed_ms = (time.perf_counter() - started) * 1000
            self.stages_ms[name] = self.stages_ms.get(name, 0.0) + elapsed_ms


@dataclass(slots=True)
class _Pool:
    """Candidates with everything that ranking knows of them."""

    rows: dict[int, RankRow] = field(default_factory=dict)
    evidence: dict[int, Evidence] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The pool in order: ids and scores, and how they came about."""

    pool: _Pool
    scorer: Scorer
    relevance: dict[int, float]
    calibration: Calibration
    kept: list[tuple[int, float]]
    cut: int


def recall(context: EngineContext, request: RecallRequest) -> RecallResult:
    """Answer a query. Reads only. Raises InvalidInput for a blank query or a bad option."""
    run = _Run(
        context,
        _checked(request),
        analysis.checked_query(request.query),
        context.clock.now(),
        request.k or context.settings.recall.k,
        context.serving(),
    )
    preset = load_preset(request.preset or context.settings.recall.preset)
    vector = _query_vector(run)
    with context.database.read() as connection:
        pool = _pool(run, connection, vector)
        with run.stage("score"):
            ranking = _ranking(run, preset, pool)
        best = ranking.kept[: run.k]
        with run.stage("fetch"):
            found = memories.fetch(connection, [memory_id for memory_id, _ in best])
    return RecallResult(
        query=run.query,
        hits=tuple(_hit(run, ranking, found[memory_id], score) for memory_id, score in best),
        degraded=tuple(run.degraded),
        pool=len(pool.rows),
        cut=ranking.cut,
        preset=preset.name,
        config_version=context.live.version(),
        stages_ms=run.stages_ms,
    )


def _checked(request: RecallRequest) -> RecallRequest:
    if request.k is not None and not 1 <= request.k <= MAX_K:
        raise InvalidInput("error.out_of_range", name="k", value=request.k, low=1, high=MAX_K)
    low = request.min_strength
    if low is not None and not 0.0 <= low <= 1.0:
        raise InvalidInput("error.out_of_range", name="min_strength", value=low, low=0, high=1)
    return replace(
        request,
        mode=check("mode", request.mode, MODES),
        filters=folded_filters(request.filters),
    )


def _query_vector(run: _Run) -> Vector | None:
    if not run.uses_vectors:
        return None
    with run.stage("embed"):
        try:
            wait_s = run.context.settings.embedding.wait_s
            return run.host.embed_query(run.query, wait_s)
        except ModelUnavailable as reason:
            run.degraded.append(Degradation(VECTOR, reason))
            return None


def _pool(run: _Run, connection: Connection, vector: Vector | None) -> _Pool:
    pool = _Pool()
    with run.stage("analyse"):
        query = analysis.analyse(connection, run.context.analyser, run.query)
        within = channels.reach(connection, run.request.filters, run.now)
    if query.terms.is_empty:
        # Nothing but punctuation: it means nothing, and the nearest vectors would be noise.
        return pool
    with run.stage(TEXT):
        by_text = (
            channels.text_candidates(connection, query, within, run.limit) if run.uses_text else []
        )
    with run.stage(VECTOR):
        cosines, rows = _cosines(run, connection, vector, within, by_text)
    with run.stage("evidence"):
        candidates = dict.fromkeys((*by_text, *cosines))
        missing = [memory_id for memory_id in candidates if memory_id not in rows]
        rows = rows | memories.rank_rows(connection, missing, within.filters, run.now)
        pool.rows = {memory_id: rows[memory_id] for memory_id in candidates if memory_id in rows}
        pool.evidence = _evidence(run, connection, query, cosines, pool.rows)
    return pool


def _cosines(
    run: _Run,
    connection: Connection,
    vector: Vector | None,
    within: Reach,
    by_text: list[int],
) -> tuple[dict[int, float], dict[int, RankRow]]:
    identity = run.host.identity()
    if vector is None or identity is None:
        return {}, {}
    index = run.context.indexes.index(identity)
    index.catch_up()
    nearest, rows = channels.vector_candidates(connection, index, vector, within, run.limit)
    return channels.all_cosines(index, vector, nearest, by_text), rows


def _evidence(
    run: _Run,
    connection: Connection,
    query: AnalysedQuery,
    cosines: dict[int, float],
    rows: dict[int, RankRow],
) -> dict[int, Evidence]:
    texts = fulltext.rows_of(connection, rows) if run.uses_text else {}
    scorer = LexicalScorer(query)
    return {
        memory_id: Evidence(
            cosines.get(memory_id),
            scorer.score(texts[memory_id]) if memory_id in texts else None,
        )
        for memory_id in rows
    }


def _ranking(run: _Run, preset: Preset, pool: _Pool) -> _Ranking:
    weights = effective_weights(preset, run.context.settings.recall.weights)
    scorer = Scorer(weights, preset.recency, run.now)
    relevance = fusion.relevance(pool.evidence, preset.fusion)
    calibration = calibration_of(run.host.identity())
    ranked = scorer.ranked(relevance, pool.rows)
    low = run.request.min_strength or 0.0
    kept = [
        item
        for item in ranked
        if low == 0.0 or fusion.strength(pool.evidence[item[0]], calibration) >= low
    ]
    return _Ranking(pool, scorer, relevance, calibration, kept, len(ranked) - len(kept))


def _hit(run: _Run, ranking: _Ranking, memory: Memory, score: float) -> Hit:
    evidence = ranking.pool.evidence[memory.id]
    strength = fusion.strength(evidence, ranking.calibration)
    words = evidence.lexical
    return Hit(
        memory=memory,
        state=memory.state(run.now),
        score=score,
        strength=strength,
        weak=strength < run.context.settings.recall.weak_below,
        signals=ranking.scorer.signals(ranking.relevance[memory.id], ranking.pool.rows[memory.id]),
        cosine=evidence.cosine,
        coverage=words.coverage if words else 0.0,
        matched=words.matched if words else (),
    )
