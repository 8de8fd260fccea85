"""What a ranking preset is: routes, signal weights and what is done with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the channels of a route become one relevance in [0,1] over the pool.

    ``blend`` adds a share for each side, scaled over the pool: ``lexical_share`` is what the
    words get when they match the whole query. They get none of it below ``onset``, the share
    of the query's rarity from which on words mean anything, and what they do not get goes to
    the vectors. ``earned`` gives the words a part of ``lexical_share`` that grows from
    ``coverage_from`` to ``coverage_full`` with the share of the query's rarity that the best
    match holds, or from ``rare_from`` to ``rare_full`` with its count of rare words; a query of
    up to ``few_words`` words, held whole, gives them more, by ``brevity`` and the fewer the
    more; a memory counts by its coverage to the power of ``coverage_power``. ``rrf`` is
    Reciprocal Rank Fusion, the sum of ``1 / (rrf_k + rank + 1)``.
    """

    method: str = "blend"
    vector_share: float = 0.7
    lexical_share: float = 0.3
    onset: float = 0.0
    rrf_k: float = 60.0
    coverage_from: float = 0.4
    coverage_full: float = 0.8
    rare_from: float = 1.2
    rare_full: float = 2.0
    few_words: float = 3.0
    brevity: float = 0.9
    coverage_power: float = 0.3


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts; the names are those of :mod:`engine.retrieval.signals`."""

    relevance: float = 0.0
    cosine: float = 0.0
    similarity: float = 0.0
    lexical: float = 0.0
    importance: float = 0.0
    recency: float = 0.0
    frequency: float = 0.0
    salience: float = 0.0
    polarity: float = 0.0
    graph: float = 0.0
    confidence: float = 0.0
    temporal: float = 0.0
    time_match: float = 0.0
    context: float = 0.0
    speaker: float = 0.0
    proximity: float = 0.0

    def used(self) -> dict[str, float]:
        """The weights that are not zero, by signal."""
        return {name: weight for name in SIGNALS if (weight := getattr(self, name))}


SIGNALS = tuple(item.name for item in fields(Weights))
"""Every signal by name, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Recency:
    """How age counts, in days from ``basis``: when it was ``created``, last ``accessed``, the
    ``later`` of both, or the ``event`` it tells of (created, where no time of one is known).

    ``shape`` is ``half_life`` (``0.5 ** (age / days)``), ``exp_tau`` (``exp(-age / days)``) or
    ``exp_lambda`` (``exp(-rate * age)``).
    """

    basis: str = "created"
    shape: str = "half_life"
    days: float = 30.0
    rate: float = 0.1


@dataclass(frozen=True, slots=True)
class Route:
    """One way through the pool to a score.

    Its members are the candidates that one of ``channels`` proposed; with no channels named,
    all are. ``form`` ``sum`` adds ``weight * signal``, ``ranks`` ranks the members by each
    signal and adds ``weight / (rrf_k + rank)``. ``factor`` names what the sum is multiplied
    with. ``when`` has weights that hold instead for queries with a certain trait.
    """

    name: str
    fusion: Fusion
    weights: Weights
    recency: Recency
    weight: float = 1.0
    channels: tuple[str, ...] = ()
    form: str = "sum"
    factor: str = ""
    when: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PoolLexical:
    """BM25 over the pool alone: ``per_result * k`` nearest memories, ``k1`` and ``b`` its own."""

    per_result: float
    k1: float = 1.5
    b: float = 0.75


@dataclass(frozen=True, slots=True)
class Preset:
    """One way to rank.

    The score is the one route's score, or the sum of ``weight * score / best`` over several;
    times the boost of the memory's source; plus ``both_hit_bonus`` when all routes hit it; at
    most ``cap``. With ``order`` the candidates are sorted by those signals, one after the other,
    and the score is only shown. ``share_out`` names the signals that take over the weight of
    ``lexical`` when no term of the query matches anything. ``floor`` is the least match strength
    (0-1); pinned memories from cosine ``pinned_from`` on are always in. ``intent`` moves
    route weights by what the query asks for. ``mmr_lambda`` 1 leaves the order as it is;
    ``mmr_similarity`` is ``vectors`` or ``words``.
    """

    name: str
    routes: tuple[Route, ...]
    order: tuple[str, ...] = ()
    both_hit_bonus: float = 0.0
    cap: float | None = None
    source_boost: Mapping[str, float] = field(default_factory=dict)
    share_out: tuple[str, ...] = ()
    floor: float = 0.0
    pinned_from: float | None = None
    mmr_lambda: float = 1.0
    mmr_similarity: str = "vectors"
    intent: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    pool_lexical: PoolLexical | None = None

    @property
    def fusion(self) -> Fusion:
        """The fusion of the first route."""
        return self.routes[0].fusion

    @property
    def weights(self) -> Weights:
        """The weights of the first route."""
        return self.routes[0].weights

    @property
    def recency(self) -> Recency:
        """The recency of the first route."""
        return self.routes[0].recency
