"""A pool that was fetched once, put in order by any weights without a look at the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.config.presets import Preset, ShareOverrides, WeightOverrides
from engine.domain.errors import JiyiError
from engine.domain.memory import Memory
from engine.retrieval.diversity import Similarity
from engine.retrieval.facts import Facts, QueryFacts
from engine.retrieval.scoring import Ranking, current_first, rank
from engine.retrieval.selection import Cut, Selection, select


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that the order of one query's candidates is made of, by one preset.

    ``newer`` maps a superseded memory to the one in its place; ``cut`` is what the settings
    select; ``similarity`` tells how alike two candidates are, where that matters; ``matched``
    are the query's words that stand in each. ``degraded`` says which channels did not take part.
    """

    query: str
    preset: Preset
    candidates: tuple[Facts, ...]
    asked: QueryFacts
    newer: Mapping[int, int]
    cut: Cut
    similarity: Similarity | None
    matched: Mapping[int, tuple[str, ...]]
    memories: Mapping[int, Memory]
    deadline: float | None
    degraded: tuple[JiyiError, ...]


def order(
    gathered: Gathered,
    weights: WeightOverrides | None = None,
    shares: ShareOverrides | None = None,
) -> Ranking:
    """The candidates in the order of other weights. Raises :class:`ConfigInvalid` for weights
    that leave nothing to rank by."""
    ranking = rank(gathered.preset, gathered.candidates, gathered.asked, weights, shares)
    return current_first(ranking, gathered.newer)


def chosen(gathered: Gathered, ranking: Ranking, count: int) -> Selection:
    """The best ``count`` of an order, by the rules that recall selects with."""
    return select(ranking, replace(gathered.cut, k=count), gathered.similarity)
