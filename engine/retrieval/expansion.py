"""Link expansion: what is linked with the best results comes along.

A neighbour ``hop`` links away scores ``0.70 * decay^(hop - 1)``, whatever it says itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.domain.scope import Filters
from engine.retrieval.routes import RANKS
from engine.retrieval.scoring import Ranking
from engine.storage import links, memories
from engine.storage.database import Connection

BASE_SCORE = 0.70


@dataclass(frozen=True, slots=True)
class Links:
    """How far to go: relations, ``depth`` (1-3) links, at most ``cap`` memories, and what is
    left of the score with each further link. What is found follows after the results, or with
    ``compete`` stands in line with them."""

    relations: tuple[str, ...]
    depth: int
    cap: int
    decay: float
    compete: bool = False

    @property
    def is_off(self) -> bool:
        """Whether nothing is to come along."""
        return not (self.relations and self.cap and self.depth)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A memory that came along: over a link of ``relation`` from ``source_id``, ``hop`` links
    away from a result; ``outwards`` tells whether that link leads to it. ``score`` is what it
    brings."""

    id: int
    relation: str
    hop: int
    source_id: int
    outwards: bool
    score: float


def expand(
    connection: Connection, starts: Sequence[int], along: Links, filters: Filters, now: float
) -> list[Expanded]:
    """What is linked with ``starts`` (the best first) and passes the filters, the nearest and
    those of the best first; nobody is visited twice."""
    seen, level = set(starts), list(starts)
    found: list[Expanded] = []
    for hop in range(1, along.depth + 1):
        near = _next_level(connection, level, along, seen, hop)
        rows = memories.rank_rows(connection, [item.id for item in near], filters, now)
        near = [item for item in near if item.id in rows]
        seen.update(item.id for item in near)
        found += near
        level = [item.id for item in near]
        if not level or len(found) >= along.cap:
            break
    return found[: along.cap]


def compete(ranking: Ranking, expanded: Iterable[Expanded]) -> tuple[Ranking, dict[int, Expanded]]:
    """The ranking with the score of each expanded member of the pool raised to what its link
    brings, and those of which that was more than their own. Where signals are ranked, all
    scores are small; there a link brings that share of the best."""
    top = ranking.ordered[0].score if ranking.ordered else 0.0
    scale = top if any(scores.route.form == RANKS for scores in ranking.routes) else 1.0
    own = {item.id: item.score for item in ranking.ordered}
    raised = {
        item.id: replace(item, score=item.score * scale)
        for item in expanded
        if item.id in own and item.score * scale > own[item.id]
    }
    ordered = [
        item._replace(score=raised[item.id].score) if item.id in raised else item
        for item in ranking.ordered
    ]
    ordered.sort(key=lambda item: -item.score)
    return replace(ranking, ordered=tuple(ordered)), raised


def _next_level(
    connection: Connection, level: Sequence[int], along: Links, seen: set[int], hop: int
) -> list[Expanded]:
    """The far ends of the links of a level, those of its first members first."""
    places = {memory_id: place for place, memory_id in enumerate(level)}
    score = BASE_SCORE * along.decay ** (hop - 1)
    ways: dict[int, tuple[int, Expanded]] = {}
    for link in links.touching(connection, level, along.relations):
        for near, far in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
            if near not in places or far in seen:
                continue
            way = Expanded(far, link.relation, hop, near, far == link.target_id, score)
            if far not in ways or places[near] < ways[far][0]:
                ways[far] = (places[near], way)
    return [way for _, way in sorted(ways.values(), key=lambda item: (item[0], item[1].id))]
