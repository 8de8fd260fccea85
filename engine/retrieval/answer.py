"""What a recall is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.graph import Step
from engine.domain.memory import Memory
from engine.domain.scope import Filters
from engine.retrieval.expansion import Expanded
from engine.retrieval.explanation import Explanation, SignalLine
from engine.retrieval.facts import VECTOR
from engine.retrieval.pool import Degradation
from engine.retrieval.selection import Reranker
from engine.retrieval.understanding import Understanding


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question to the store.

    ``k`` 1-100 results (default: the setting ``recall.k``); ``mode`` is ``auto`` (all
    channels), ``keyword``, ``semantic`` or ``graph``; ``preset`` names a ranking other than the
    configured one; ``min_strength`` in [0,1] cuts weaker matches and ``min_similarity`` lower
    cosines; ``diversity`` is MMR's lambda (1: off); from ``dedup_threshold`` on a result that
    is like a better one is left out. ``reranker`` looks at the best ``rerank.pool`` once more:
    what it says of their texts takes the place of their scores. With ``touch`` the results
    count as used; a preview, an evaluation or what nobody asked for does not.
    """

    query: str
    k: int | None = None
    filters: Filters = Filters()
    mode: str = "auto"
    preset: str | None = None
    min_strength: float | None = None
    min_similarity: float | None = None
    diversity: float | None = None
    dedup_threshold: float | None = None
    reranker: Reranker | None = None
    touch: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. ``strength`` in [0,1] is absolute and ``weak`` marks a poor match; ``score``
    ranks within this answer, and ``explanation`` adds up to it. ``matched`` are query words that
    stand in the memory. ``newer`` is a memory that says how it is by now, where this one's facts
    were superseded. ``expansion`` is the link over which it came along, if it did: then
    ``strength`` says nothing."""

    memory: Memory
    state: str
    score: float
    strength: float
    weak: bool
    cosine: float | None
    coverage: float
    matched: tuple[str, ...]
    explanation: Explanation
    newer: int | None = None
    path: tuple[Step, ...] = ()
    expansion: Expanded | None = None

    @property
    def signals(self) -> tuple[SignalLine, ...]:
        """The signals that count, of all routes."""
        lines = (line for route in self.explanation.routes for line in route.signals)
        return tuple(line for line in lines if line.weight)


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answer. ``degraded`` names channels that did not take part; ``cut`` counts matches
    dropped for being weaker than a floor; ``understood`` is what was read from the query;
    ``switched_off`` are channels that settings keep from taking part; ``cached`` marks an answer
    given before, to the same question and the same store. ``stages_ms`` is wall time by stage."""

    query: str
    hits: tuple[Hit, ...]
    degraded: tuple[Degradation, ...]
    pool: int
    cut: int
    preset: str
    config_version: str
    understood: Understanding
    stages_ms: dict[str, float]
    switched_off: tuple[str, ...] = ()
    cached: bool = False

    @property
    def keywords_only(self) -> bool:
        """True when the vectors did not take part although they should."""
        return any(item.channel == VECTOR for item in self.degraded)
