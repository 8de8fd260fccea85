"""Recall: the memories that answer a query, best first, and why."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from engine.config.presets import SIGNALS, Preset, effective, load_preset
from engine.context import EngineContext
from engine.domain.errors import InvalidInput, ModelUnavailable
from engine.domain.memory import Memory
from engine.domain.vocabulary import MODES, check
from engine.language.labels import folded_filters
from engine.model_clients.calibration import calibration_of
from engine.model_clients.protocol import Vector
from engine.model_clients.provider import ModelHost
from engine.retrieval.analysis import AnalysedQuery, analyse, checked_query
from engine.retrieval.answer import Hit, RecallRequest, RecallResult
from engine.retrieval.diversity import Similarity, vector_similarity, words_similarity
from engine.retrieval.expansion import Expanded, Links, compete, expand
from engine.retrieval.explanation import (
    Explanation,
    RouteLines,
    explain,
    explain_expanded,
)
from engine.retrieval.facts import ATOM, GRAPH_TEXT, TEXT, VECTOR, QueryFacts
from engine.retrieval.graph_channel import Expansion
from engine.retrieval.intent import intents_of
from engine.retrieval.pool import (
    Degradation,
    Pool,
    Search,
    bring,
    earliest_deadline,
    facts,
    gather,
)
from engine.retrieval.proximity import is_wanted
from engine.retrieval.reach import Reach, reach
from engine.retrieval.rescoring import Gathered
from engine.retrieval.scoring import Ranking, current_first, rank
from engine.retrieval.selection import Choice, Cut, Rerank, Selection, select
from engine.retrieval.strength import strength
from engine.retrieval.understanding import Understanding, understand
from engine.storage import changes, fulltext, links, memories
from engine.storage.database import Connection

__all__ = ["Explanation", "Hit", "RecallRequest", "RecallResult", "RouteLines", "recall"]

MAX_K = 100
# Channels that may take part in each mode of asking.
_MODES = {
    "auto": frozenset({TEXT, VECTOR, ATOM, GRAPH_TEXT}),
    "keyword": frozenset({TEXT, ATOM}),
    "semantic": frozenset({VECTOR}),
    "graph": frozenset({TEXT, ATOM, GRAPH_TEXT}),
}
ONGOING = "ongoing"
PEOPLE = "people"
WORDS = "words_only"


@dataclass(slots=True)
class _Run:
    """One recall under way."""

    context: EngineContext
    request: RecallRequest
    query: str
    now: float
    k: int
    host: ModelHost
    preset: Preset
    degraded: list[Degradation] = field(default_factory=list)
    stages_ms: dict[str, float] = field(default_factory=dict)

    @property
    def limit(self) -> int:
        """Candidates that each channel hands over."""
        return max(self.context.settings.recall.pool, 10 * self.k)

    @property
    def uses(self) -> frozenset[str]:
        """The channels that settings and the request's mode let take part."""
        wanted = _MODES[self.request.mode]
        return frozenset(name for name, on in self.switches.items() if on and name in wanted)

    @property
    def switches(self) -> dict[str, bool]:
        """Each channel and whether settings let it take part."""
        settings = self.context.settings
        return {
            TEXT: settings.text.enabled,
            VECTOR: settings.vectors.enabled,
            ATOM: settings.atoms.enabled,
            GRAPH_TEXT: settings.graph.enabled,
        }

    @property
    def key(self) -> Hashable:
        """What an answer depends on beside the store itself."""
        version = self.context.live.version()
        request = replace(self.request, touch=True)
        return (self.query, request, self.k, self.preset.name, version, self.host.identity())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            elapsed_ms = (time.perf_counter() - started) * 1000
            self.stages_ms[name] = self.stages_ms.get(name, 0.0) + elapsed_ms


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The pool in order, what was selected, how strong each match is, and what came along over
    links: ``raised`` competed, ``appended`` follows after the cut."""

    pool: Pool
    ranking: Ranking
    selection: Selection
    strengths: dict[int, float]
    raised: dict[int, Expanded]
    appended: tuple[Expanded, ...]


def recall(context: EngineContext, request: RecallRequest) -> RecallResult:
    """Answer a query. Writes nothing itself: that the results were used is noted and counted
    later. Raises InvalidInput for a blank query or a bad option."""
    result = _known_or_new(context, _begun(context, request))
    if request.touch:
        context.touch(hit.memory.id for hit in result.hits)
    return result


def _known_or_new(context: EngineContext, run: _Run) -> RecallResult:
    with context.database.read() as connection:
        change = changes.last(connection)
    known = context.answers.get(run.key, change, run.now)
    if isinstance(known, RecallResult):
        return replace(known, cached=True, stages_ms={})
    result, deadline = _answer(run)
    if not result.degraded and context.settings.cache.ttl_s > 0:
        context.answers.put(run.key, result, change, run.now, deadline)
    return result


def _answer(run: _Run) -> tuple[RecallResult, float | None]:
    """The answer, and when the first memory that it was made of expires."""
    search = _asked(run)
    with run.context.database.read() as connection:
        ranked = _ranked(run, connection, search)
        hits = _hits(run, connection, ranked)
    result = RecallResult(
        query=run.query,
        hits=hits,
        degraded=tuple(run.degraded),
        pool=len(ranked.pool.rows),
        cut=ranked.selection.cut,
        preset=run.preset.name,
        config_version=run.context.live.version(),
        understood=search.query.understood,
        stages_ms=run.stages_ms,
        switched_off=tuple(name for name, on in run.switches.items() if not on),
    )
    return result, earliest_deadline(ranked.pool.rows)


def ranking_of(context: EngineContext, request: RecallRequest) -> Ranking:
    """The whole pool of a query in order, for those who weigh signals anew; as :func:`recall`
    before anything is selected."""
    run = _begun(context, request)
    search = _asked(run)
    with context.database.read() as connection:
        return _ranked(run, connection, search).ranking


def gathered(context: EngineContext, request: RecallRequest) -> Gathered:
    """The candidates of a query with all that their order is made of, whatever the weights; what
    comes along over links is not among them."""
    run = _begun(context, request)
    search = replace(_asked(run), asked=frozenset(SIGNALS))
    with context.database.read() as connection:
        pool = Pool() if search.query.terms.is_empty else gather(connection, search, run.stage)
        candidates = facts(connection, search, pool, run.stage)
        cut = _cut(run, _strengths(run, pool))
        reasons = [*run.degraded, *pool.degraded]
        return Gathered(
            query=run.query,
            preset=run.preset,
            candidates=tuple(candidates),
            asked=replace(search.facts, links=links.among(connection, pool.rows)),
            newer=dict(pool.newer),
            cut=cut,
            similarity=_similarity(connection, search, pool, cut, run.preset),
            matched={memory_id: words.matched for memory_id, words in pool.words.items()},
            memories=memories.fetch(connection, list(pool.rows)),
            deadline=earliest_deadline(pool.rows),
            degraded=tuple(item.reason for item in reasons),
        )


def _begun(context: EngineContext, request: RecallRequest) -> _Run:
    settings = context.settings.recall
    return _Run(
        context,
        _checked(request),
        checked_query(request.query),
        context.clock.now(),
        request.k or settings.k,
        context.serving(),
        load_preset(request.preset or settings.preset),
    )


def _asked(run: _Run) -> Search:
    """The query analysed and embedded."""
    context = run.context
    with context.database.read() as connection, run.stage("analyse"):
        within = reach(connection, run.request.filters, run.now)
        understood = understand(connection, context.analyser, run.query, within, context.zone)
        query = analyse(connection, context.analyser, understood, within)
    vector = None if query.terms.is_empty else _query_vector(run, understood.meaning)
    return _search(run, query, within, vector)


def _checked(request: RecallRequest) -> RecallRequest:
    if request.k is not None and not 1 <= request.k <= MAX_K:
        raise InvalidInput("error.out_of_range", name="k", value=request.k, low=1, high=MAX_K)
    return replace(
        request,
        mode=check("mode", request.mode, MODES),
        filters=folded_filters(request.filters),
    )


def _query_vector(run: _Run, meaning: str) -> Vector | None:
    if VECTOR not in run.uses:
        return None
    with run.stage("embed"):
        try:
            return run.host.embed_query(meaning, run.context.settings.embedding.wait_s)
        except ModelUnavailable as reason:
            run.degraded.append(Degradation(VECTOR, reason))
            return None


def _search(run: _Run, query: AnalysedQuery, within: Reach, vector: Vector | None) -> Search:
    identity = run.host.identity()
    index = None
    if vector is not None and identity is not None:
        index = run.context.indexes.index(identity)
        index.catch_up()
    return Search(
        query=query,
        facts=QueryFacts(run.now, _traits(run, query.understood), len(query.units)),
        within=within,
        k=run.k,
        limit=run.limit,
        preset=run.preset,
        zone=run.context.zone,
        uses=run.uses,
        expansion=Expansion(
            run.context.settings.graph.hops, run.context.settings.graph.expansion_limit
        ),
        vector=vector if index is not None else None,
        index=index,
        asked=frozenset(name for name, weight in run.context.settings.recall.weights if weight),
    )


def _traits(run: _Run, understood: Understanding) -> frozenset[str]:
    # What is said in a piece of dialogue is not what is asked.
    if understood.transcript or not run.context.settings.intent.enabled:
        return frozenset()
    shown = {
        ONGOING: understood.ongoing,
        PEOPLE: bool(understood.people),
        WORDS: VECTOR not in run.uses or bool(run.degraded),
    }
    return intents_of(run.query) | {trait for trait, is_so in shown.items() if is_so}


def _ranked(run: _Run, connection: Connection, search: Search) -> _Ranked:
    # Nothing but punctuation means nothing, and the nearest vectors would be noise.
    pool = Pool() if search.query.terms.is_empty else gather(connection, search, run.stage)
    ranking = _scored(run, connection, search, pool)
    run.degraded.extend(pool.degraded)
    strengths = _strengths(run, pool)
    along, raised = _links(run), dict[int, Expanded]()
    if along.compete and not along.is_off:
        with run.stage("links"):
            ranking, raised = _competing(run, connection, search, pool, strengths)
        strengths = _strengths(run, pool)
    with run.stage("select"):
        exempt = frozenset(memory_id for memory_id in raised if not pool.ranks[memory_id])
        cut = replace(_cut(run, strengths), exempt=exempt)
        similarity = _similarity(connection, search, pool, cut, ranking.preset)
        selection = select(ranking, cut, similarity, _rerank(run, connection))
    if selection.degraded is not None:
        run.degraded.append(Degradation("rerank", selection.degraded))
    appended: list[Expanded] = []
    if not (along.compete or along.is_off):
        with run.stage("links"):
            chosen = [choice.id for choice in selection.choices]
            appended = expand(connection, chosen, along, search.within.filters, run.now)
    return _Ranked(pool, ranking, selection, strengths, raised, tuple(appended))


def _scored(run: _Run, connection: Connection, search: Search, pool: Pool) -> Ranking:
    candidates = facts(connection, search, pool, run.stage)
    settings = run.context.settings.recall
    with run.stage("score"):
        known = search.facts
        if is_wanted(effective(run.preset, settings.weights, settings.shares)):
            known = replace(known, links=links.among(connection, pool.rows))
        ranking = rank(run.preset, candidates, known, settings.weights, settings.shares)
        return current_first(ranking, pool.newer)


def _links(run: _Run) -> Links:
    chosen = run.context.settings.expansion
    return Links(chosen.relations, chosen.depth, chosen.cap, chosen.decay, chosen.compete)


def _competing(
    run: _Run,
    connection: Connection,
    search: Search,
    pool: Pool,
    strengths: dict[int, float],
) -> tuple[Ranking, dict[int, Expanded]]:
    """The ranking anew, with what is linked to the best of it in the pool."""
    before = _scored(run, connection, search, pool)
    floor = max(before.preset.floor, run.request.min_strength or 0.0)
    starts = [item.id for item in before.ordered if strengths[item.id] >= floor][: run.k]
    found = expand(connection, starts, _links(run), search.within.filters, run.now)
    bring(connection, search, pool, (item.id for item in found))
    return compete(_scored(run, connection, search, pool), found)


def _strengths(run: _Run, pool: Pool) -> dict[int, float]:
    calibration = calibration_of(run.host.identity(), run.context.models_folder)
    return {
        memory_id: strength(pool.cosines.get(memory_id), words.coverage, calibration)
        for memory_id, words in pool.words.items()
    }


def _cut(run: _Run, strengths: dict[int, float]) -> Cut:
    request, diversity = run.request, run.context.settings.diversity
    return Cut(
        k=run.k,
        strengths=strengths,
        min_strength=request.min_strength,
        min_cosine=request.min_similarity,
        dedup_threshold=_first(request.dedup_threshold, diversity.dedup_threshold),
        mmr_lambda=_first(request.diversity, diversity.mmr_lambda),
    )


def _rerank(run: _Run, connection: Connection) -> Rerank | None:
    reranker = run.request.reranker
    if reranker is None:
        return None

    def texts(ids: Sequence[int]) -> list[str]:
        found = memories.fetch(connection, ids)
        return [found[memory_id].text for memory_id in ids]

    return Rerank(run.query, reranker, texts, run.context.settings.rerank.pool)


def _first(asked: float | None, configured: float | None) -> float | None:
    return configured if asked is None else asked


def _similarity(
    connection: Connection, search: Search, pool: Pool, cut: Cut, preset: Preset
) -> Similarity | None:
    """How like each other candidates are, when that is asked for: by vectors, else by words."""
    share = preset.mmr_lambda if cut.mmr_lambda is None else cut.mmr_lambda
    if share >= 1.0 and cut.dedup_threshold is None:
        return None
    if search.index is not None and preset.mmr_similarity == "vectors":
        return vector_similarity(search.index.first_vectors(list(pool.rows)))
    rows = fulltext.rows_of(connection, pool.rows)
    return words_similarity({memory_id: row.words.split() for memory_id, row in rows.items()})


def _hits(run: _Run, connection: Connection, ranked: _Ranked) -> tuple[Hit, ...]:
    chosen = ranked.selection.choices
    with run.stage("fetch"):
        ids = [choice.id for choice in chosen]
        found = memories.fetch(connection, [*ids, *(item.id for item in ranked.appended)])
        hits = tuple(_hit(run, ranked, choice, found[choice.id]) for choice in chosen)
        return hits + tuple(_linked(run, ranked, item, found[item.id]) for item in ranked.appended)


def _hit(run: _Run, ranked: _Ranked, choice: Choice, memory: Memory) -> Hit:
    match, words = ranked.strengths[memory.id], ranked.pool.words[memory.id]
    return Hit(
        memory=memory,
        state=memory.state(run.now),
        score=choice.score,
        strength=match,
        weak=match < run.context.settings.recall.weak_below and memory.id not in ranked.raised,
        cosine=ranked.pool.cosines.get(memory.id),
        coverage=words.coverage,
        matched=words.matched,
        explanation=replace(
            explain(ranked.ranking, memory.id, ranked.selection),
            expansion=ranked.raised.get(memory.id),
        ),
        newer=ranked.pool.newer.get(memory.id),
        path=ranked.pool.graph[memory.id].path if memory.id in ranked.pool.graph else (),
        expansion=ranked.raised.get(memory.id),
    )


def _linked(run: _Run, ranked: _Ranked, along: Expanded, memory: Memory) -> Hit:
    """A memory that follows after the cut because it is linked with a result."""
    words = ranked.pool.words.get(memory.id)
    return Hit(
        memory=memory,
        state=memory.state(run.now),
        score=along.score,
        strength=ranked.strengths.get(memory.id, 0.0),
        weak=False,
        cosine=ranked.pool.cosines.get(memory.id),
        coverage=words.coverage if words else 0.0,
        matched=words.matched if words else (),
        explanation=explain_expanded(ranked.ranking, along),
        newer=ranked.pool.newer.get(memory.id),
        expansion=along,
    )
