"""The pool: everything the channels propose, and what is known of each candidate.

A channel hands over candidates; every member of the pool then gets every signal, not only that
of the channel which found it. A channel that fails is noted, and the others go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import TYPE_CHECKING

from engine.config.presets import PoolLexical, Preset
from engine.domain.errors import JiyiError
from engine.domain.vocabulary import CONVERSATION
from engine.retrieval import atom_channel, channels, context, graph_channel
from engine.retrieval.analysis import AnalysedQuery
from engine.retrieval.atom_channel import AtomHit
from engine.retrieval.facts import ATOM, GRAPH_TEXT, TEXT, TIME, VECTOR, Facts, QueryFacts
from engine.retrieval.fusion import fuse
from engine.retrieval.graph_channel import Expansion, GraphHit, GraphQuery
from engine.retrieval.lexical import LexicalScore, LexicalScorer
from engine.retrieval.pool_lexical import pool_bm25
from engine.retrieval.reach import Reach
from engine.retrieval.understanding import Window
from engine.storage import atom_search, fulltext, memories, people
from engine.storage.database import Connection
from engine.storage.memories import RankRow

if TYPE_CHECKING:
    from engine.model_clients.protocol import Vector
    from engine.vector_index.index import VectorIndex

Stage = Callable[[str], AbstractContextManager[None]]

# A query names one or two times; more are a list, and would search the store as often.
_MOST_WINDOWS = 3
# How many of the best bring the turns beside them.
_WITH_NEIGHBOURS = 50
# A time named in a question is remembered to a few days (measured: 1 to 10 days are alike).
TIME_FADES_AFTER_S = 3 * 86_400.0
_NO_WORDS = LexicalScore(0.0, 0.0, 0.0, ())


@dataclass(frozen=True, slots=True)
class Search:
    """What the channels work with. ``vector`` and ``index`` come together or not at all;
    ``k`` results are wanted, and a channel hands over ``limit`` candidates; ``uses`` names the
    channels that are to take part, and ``asked`` signals that count beside the preset's."""

    query: AnalysedQuery
    facts: QueryFacts
    within: Reach
    k: int
    limit: int
    preset: Preset
    zone: tzinfo | None
    uses: frozenset[str]
    expansion: Expansion
    vector: Vector | None = None
    index: VectorIndex | None = None
    asked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Degradation:
    """A channel that did not answer, and why."""

    channel: str
    reason: JiyiError


@dataclass(slots=True)
class Pool:
    """Candidates with everything that ranking knows of them."""

    rows: dict[int, RankRow] = field(default_factory=dict)
    ranks: dict[int, dict[str, int]] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)
    words: dict[int, LexicalScore] = field(default_factory=dict)
    atoms: dict[int, AtomHit] = field(default_factory=dict)
    graph: dict[int, GraphHit] = field(default_factory=dict)
    newer: dict[int, int] = field(default_factory=dict)
    degraded: list[Degradation] = field(default_factory=list)

    def propose(self, channel: str, ids: Iterable[int]) -> None:
        """Note the candidates of a channel, the best first."""
        for rank, memory_id in enumerate(ids):
            self.ranks.setdefault(memory_id, {}).setdefault(channel, rank)

    @contextmanager
    def surviving(self, channel: str) -> Iterator[None]:
        """What fails inside costs this channel alone."""
        try:
            yield
        except JiyiError as reason:
            self.degraded.append(Degradation(channel, reason))


def gather(connection: Connection, search: Search, stage: Stage) -> Pool:
    """Ask the channels, and learn about each candidate what there is to know."""
    pool = Pool()
    with stage(TEXT), pool.surviving(TEXT):
        pool.propose(TEXT, _by_text(connection, search, search.within))
    with stage(VECTOR), pool.surviving(VECTOR):
        pool.propose(VECTOR, _by_vector(connection, search, search.within, pool))
    with stage(TIME), pool.surviving(TIME):
        for window in search.query.understood.windows[:_MOST_WINDOWS]:
            _by_time(connection, search, window, pool)
    with stage(ATOM), pool.surviving(ATOM):
        _by_atoms(connection, search, pool)
    with stage("graph"), pool.surviving(GRAPH_TEXT):
        _by_graph(connection, search, pool)
    with stage("evidence"):
        _learn(connection, search, pool)
        if search.preset.pool_lexical is not None:
            _score_words_among_nearest(connection, search, pool, search.preset.pool_lexical)
    return pool


def facts(connection: Connection, search: Search, pool: Pool, stage: Stage) -> list[Facts]:
    """What ranking reads of each candidate, its context included."""
    with stage("neighbours"):
        _bring_neighbours(connection, search, pool)
        _bring_successors(connection, search, pool)
    with stage("signals"):
        return _all_facts(connection, search, pool)


def bring(connection: Connection, search: Search, pool: Pool, ids: Iterable[int]) -> None:
    """Add memories that no channel proposed."""
    missing = [memory_id for memory_id in ids if memory_id not in pool.ranks]
    pool.ranks |= {memory_id: {} for memory_id in missing}
    if missing:
        _learn(connection, search, pool)


def relevances(search: Search, pool: Sequence[Facts]) -> dict[int, float]:
    """The fused relevance of each candidate by the preset's first route."""
    fused = fuse(pool, search.preset.fusion, search.facts)
    return {item.id: value for item, value in zip(pool, fused.values, strict=True)}


def _by_text(connection: Connection, search: Search, within: Reach) -> list[int]:
    if TEXT not in search.uses:
        return []
    return channels.text_candidates(connection, search.query, within, search.limit)


def _by_vector(connection: Connection, search: Search, within: Reach, pool: Pool) -> list[int]:
    if search.vector is None or search.index is None:
        return []
    nearest, rows = channels.vector_candidates(
        connection, search.index, search.vector, within, search.limit
    )
    pool.cosines |= nearest
    pool.rows |= rows
    return list(nearest)


def _by_time(connection: Connection, search: Search, window: Window, pool: Pool) -> None:
    """The best of what speaks of the time in question, by words and by meaning."""
    inside = channels.inside(connection, search.within, window)
    if inside.ids is None or inside.ids:
        pool.propose(TIME, _by_text(connection, search, inside))
        pool.propose(TIME, _by_vector(connection, search, inside, pool))


def _by_atoms(connection: Connection, search: Search, pool: Pool) -> None:
    if ATOM in search.uses:
        pool.atoms = atom_channel.atom_candidates(
            connection, search.query.terms, search.within, search.limit
        )
        pool.propose(ATOM, pool.atoms)


def _by_graph(connection: Connection, search: Search, pool: Pool) -> None:
    if GRAPH_TEXT in search.uses:
        understood = search.query.understood
        pool.graph = graph_channel.graph_candidates(
            connection,
            GraphQuery(
                understood.possible_names, search.query.terms, search.limit, search.expansion
            ),
            search.within,
        )
        pool.propose(GRAPH_TEXT, pool.graph)


def _learn(connection: Connection, search: Search, pool: Pool) -> None:
    """Rows, cosines and words for members of the pool that have none yet."""
    filters, now = search.within.filters, search.within.now
    unread = [memory_id for memory_id in pool.ranks if memory_id not in pool.rows]
    pool.rows |= memories.rank_rows(connection, unread, filters, now)
    for memory_id in pool.rows.keys() - pool.ranks.keys():
        del pool.rows[memory_id]
    unknown = [memory_id for memory_id in pool.rows if memory_id not in pool.words]
    if search.vector is not None and search.index is not None:
        pool.cosines |= channels.all_cosines(search.index, search.vector, pool.cosines, unknown)
    texts = fulltext.rows_of(connection, unknown) if TEXT in search.uses else {}
    scorer = LexicalScorer(search.query)
    for memory_id in unknown:
        row = texts.get(memory_id)
        pool.words[memory_id] = _NO_WORDS if row is None else scorer.score(row)


def _score_words_among_nearest(
    connection: Connection, search: Search, pool: Pool, parameters: PoolLexical
) -> None:
    """Leave the nearest by meaning, and count words among them alone."""
    count = max(1, round(parameters.per_result * search.k))
    nearest = sorted(pool.rows, key=lambda i: -pool.cosines.get(i, -1.0))[:count]
    pool.rows = {memory_id: pool.rows[memory_id] for memory_id in nearest}
    texts = fulltext.rows_of(connection, nearest) if TEXT in search.uses else {}
    documents = [texts[i].words.split() if i in texts else [] for i in nearest]
    scores = pool_bm25(search.query.terms.words, documents, parameters)
    for memory_id, score in zip(nearest, scores, strict=True):
        pool.words[memory_id] = replace(pool.words[memory_id], bm25=score)


def _bring_neighbours(connection: Connection, search: Search, pool: Pool) -> None:
    """Add the turns beside the best turns of conversations."""
    turns = [row for row in pool.rows.values() if row.source == CONVERSATION]
    if not turns or search.preset.pool_lexical is not None:
        return
    known = relevances(search, [_facts(row, pool, _NOTHING) for row in pool.rows.values()])
    best = sorted((row.id for row in turns), key=lambda i: -known[i])[:_WITH_NEIGHBOURS]
    beside = [i for i in memories.neighbours(connection, best) if i not in pool.ranks]
    pool.ranks |= {memory_id: {} for memory_id in beside}
    if beside:
        _learn(connection, search, pool)


def _bring_successors(connection: Connection, search: Search, pool: Pool) -> None:
    """Add what says how it is now, where the facts of a memory were superseded: it may share no
    word with the question."""
    if ATOM not in search.uses:
        return
    pool.newer = atom_search.outdated(connection, pool.rows)
    missing = [i for i in set(pool.newer.values()) if i not in pool.ranks]
    pool.ranks |= {memory_id: {} for memory_id in missing}
    if missing:
        _learn(connection, search, pool)
    pool.newer = {old: new for old, new in pool.newer.items() if new in pool.rows}


def _all_facts(connection: Connection, search: Search, pool: Pool) -> list[Facts]:
    places = {
        memory_id: place
        for memory_id, row in pool.rows.items()
        if (place := context.place_of(row, search.zone)) is not None
    }
    basic = [_facts(row, pool, _NOTHING) for row in pool.rows.values()]
    around = _Around(
        contexts=context.contexts(relevances(search, basic), places),
        speakers=people.with_participants(connection, pool.rows, search.query.understood.people),
        windows=search.query.understood.windows,
        temporal_factors=_fading(connection, search, pool),
        confidences=_confidences(connection, search, pool),
    )
    return [_facts(row, pool, around) for row in pool.rows.values()]


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known of candidates beside their own row and matches."""

    contexts: Mapping[int, float] = field(default_factory=dict)
    speakers: frozenset[int] = frozenset()
    windows: Sequence[Window] = ()
    temporal_factors: Mapping[int, float] = field(default_factory=dict)
    confidences: Mapping[int, float] = field(default_factory=dict)


_NOTHING = _Around()


def _fading(connection: Connection, search: Search, pool: Pool) -> dict[int, float]:
    """Temporal factors, where somebody asks for them: they are a look at every atom."""
    routes = search.preset.routes
    asked = "temporal" in search.asked
    asked = asked or any(route.factor or route.weights.temporal for route in routes)
    if not asked or ATOM not in search.uses:
        return {}
    return atom_channel.temporal_factors(connection, pool.rows, search.within.now)


def _confidences(connection: Connection, search: Search, pool: Pool) -> dict[int, float]:
    """How sure the rules were of the facts of a memory, where somebody asks for it."""
    asked = "confidence" in search.asked
    asked = asked or any(route.weights.confidence for route in search.preset.routes)
    if not asked or ATOM not in search.uses:
        return {}
    return atom_search.confidences(connection, pool.rows)


def _facts(row: RankRow, pool: Pool, around: _Around) -> Facts:
    strength, words = row.strength, pool.words[row.id]
    return Facts(
        id=row.id,
        created_at=row.created_at,
        event_time=row.event_time,
        last_access=strength.last_access,
        access_count=strength.access_count,
        importance=strength.importance_now,
        salience=strength.salience,
        polarity=row.polarity,
        source=row.source,
        pinned=row.pinned,
        cosine=pool.cosines.get(row.id),
        bm25=words.bm25,
        coverage=words.coverage,
        rare_words=words.rare_words,
        ranks=pool.ranks[row.id],
        graph=pool.graph[row.id].score if row.id in pool.graph else 0.0,
        confidence=around.confidences.get(row.id, 0.0),
        temporal_factor=around.temporal_factors.get(row.id, 1.0),
        time_match=_time_match(row, around.windows) if around.windows else 0.0,
        context=around.contexts.get(row.id, 0.0),
        speaker=float(row.id in around.speakers),
    )


def _time_match(row: RankRow, windows: Sequence[Window]) -> float:
    """1 for what speaks of the time in question, fading with the distance from it."""
    moment = row.event_time if row.event_time is not None else row.created_at
    nearest_s = min(window.distance_s(moment) for window in windows)
    return math.exp(-nearest_s / TIME_FADES_AFTER_S)


def earliest_deadline(rows: Mapping[int, RankRow]) -> float | None:
    """When the first member of the pool expires (epoch seconds), if one does."""
    return min((row.expires_at for row in rows.values() if row.expires_at), default=None)
