"""Fusion of the channels into one relevance, and the absolute strength of a match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config.presets import Fusion
from engine.domain.embedding import Calibration
from engine.retrieval.lexical import LexicalScore


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the channels know of one candidate; ``None`` where a channel knows nothing."""

    cosine: float | None
    lexical: LexicalScore | None


def relevance(pool: Mapping[int, Evidence], fusion: Fusion) -> dict[int, float]:
    """Relevance in [0,1] of each candidate, relative to the pool.

    Cosines are scaled to [0,1] between the pool's least and greatest, BM25 by its greatest
    and by how much of the query the memory covers beside the best. Beside vectors the lexical
    side gets its share only as far as the query's rarity is matched beyond ``onset``: what it
    does not earn goes to the vectors, so a list matched by a common word or two cannot drown
    them.
    """
    vectors = _scaled_cosines(pool)
    lexical = _scaled_lexical(pool)
    vector_share, lexical_share = fusion.vector_share, fusion.lexical_share
    if vectors and vector_share > 0:
        earned = max(0.0, _best_coverage(pool) - fusion.onset) / (1.0 - fusion.onset)
        lexical_share *= earned
        vector_share += fusion.lexical_share - lexical_share
    raw = {
        memory_id: vector_share * vectors.get(memory_id, 0.0)
        + lexical_share * lexical.get(memory_id, 0.0)
        for memory_id in pool
    }
    best = max(raw.values(), default=0.0)
    return {memory_id: value / best if best > 0 else 0.0 for memory_id, value in raw.items()}


def strength(evidence: Evidence, calibration: Calibration) -> float:
    """Absolute strength in [0,1]: the query's rarity that is covered, or calibrated similarity,
    whichever speaks louder, each adding to what the other leaves open."""
    covered = evidence.lexical.coverage if evidence.lexical else 0.0
    related = calibration.related(evidence.cosine) if evidence.cosine is not None else 0.0
    return 1.0 - (1.0 - covered) * (1.0 - related)


def _scaled_cosines(pool: Mapping[int, Evidence]) -> dict[int, float]:
    known = {i: e.cosine for i, e in pool.items() if e.cosine is not None}
    low, high = min(known.values(), default=0.0), max(known.values(), default=0.0)
    if high <= low:
        return dict.fromkeys(known, 1.0)
    return {memory_id: (cosine - low) / (high - low) for memory_id, cosine in known.items()}


def _scaled_lexical(pool: Mapping[int, Evidence]) -> dict[int, float]:
    known = {i: e.lexical for i, e in pool.items() if e.lexical is not None}
    scale = max((score.bm25 for score in known.values()), default=0.0) * _best_coverage(pool)
    if scale <= 0:
        return {}
    return {i: score.bm25 * score.coverage / scale for i, score in known.items()}


def _best_coverage(pool: Mapping[int, Evidence]) -> float:
    return max((e.lexical.coverage for e in pool.values() if e.lexical), default=0.0)
