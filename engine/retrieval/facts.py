"""What ranking knows of one candidate, whichever channel proposed it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

TEXT = "text"
VECTOR = "vector"
GRAPH_TEXT = "graph_text"
GRAPH_VECTOR = "graph_vector"
ATOM = "atom"
TIME = "time"
CHANNELS = (TEXT, VECTOR, GRAPH_TEXT, GRAPH_VECTOR, ATOM, TIME)
"""Channels that may rank a candidate, the names of :attr:`Facts.ranks`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that ranking reads of one candidate; nothing of its text.

    Times are epoch seconds. ``importance`` is what is left of it now (0-1), ``salience`` lies
    in 0.01-2.0, ``polarity`` is -1, 0 or 1. ``cosine`` in [-1,1] is ``None`` for a memory
    without vectors. ``bm25`` is raw (0: no term matches), ``coverage`` the share (0-1) of the
    query's inverse document frequency that the memory holds, ``rare_words`` the same mass
    counted in words that stand in one memory only. ``ranks`` has its place (from 0) in each
    channel that proposed it. ``graph`` is the raw score of the graph channel (0: not
    reached). ``temporal_factor`` in (0,1] is that of its atoms, 1 when it has none.
    ``time_match``, ``context`` and ``speaker`` lie in [0,1] and are 0 where they do not apply.
    """

    id: int
    created_at: float
    event_time: float | None = None
    last_access: float | None = None
    access_count: int = 0
    importance: float = 0.5
    salience: float = 1.0
    polarity: int = 0
    source: str = "chat"
    pinned: bool = False
    cosine: float | None = None
    bm25: float = 0.0
    coverage: float = 0.0
    ranks: Mapping[str, int] = field(default_factory=dict)
    graph: float = 0.0
    confidence: float = 0.0
    temporal_factor: float = 1.0
    time_match: float = 0.0
    context: float = 0.0
    speaker: float = 0.0
    rare_words: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What ranking knows of the query.

    ``now`` is epoch seconds. ``traits`` are names of what it is like, for the presets' ``when``
    and ``intent`` (``relational``, ``temporal``, ``factual``, ``ongoing``, …). ``word_count``
    are its words without stop words (0: not known). ``links`` maps a memory to those it is
    linked with, in one direction or both.
    """

    now: float
    traits: frozenset[str] = frozenset()
    word_count: int = 0
    links: Mapping[int, Collection[int]] = field(default_factory=dict)
