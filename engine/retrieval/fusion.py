"""Fusion of the channels into one relevance, by a method that the preset names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.config.presets import Fusion
from engine.retrieval.facts import CHANNELS, TEXT, VECTOR, Facts, QueryFacts
from engine.retrieval.signals import known_cosine, scaled_to_best


@dataclass(frozen=True, slots=True)
class FusedPart:
    """One channel's part: a value for each candidate, and what it counts."""

    channel: str
    weight: float
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Fused:
    """A relevance in [0,1] for each candidate: the sum of the parts over the pool's best."""

    parts: tuple[FusedPart, ...]
    best: float
    values: list[float]


@dataclass(frozen=True, slots=True)
class Task:
    """A pool to fuse, by the numbers of a preset, over certain channels (none named: all)."""

    pool: Sequence[Facts]
    fusion: Fusion
    channels: Sequence[str]
    query: QueryFacts


Method = Callable[[Task], Fused]


def fuse(
    pool: Sequence[Facts], fusion: Fusion, query: QueryFacts, channels: Sequence[str] = ()
) -> Fused:
    """The relevance of each candidate by the method that ``fusion`` names."""
    return METHODS[fusion.method](Task(pool, fusion, channels, query))


def blend(task: Task) -> Fused:
    """A share for the vectors and one for the words.

    Cosines are scaled to [0,1] between the pool's least and greatest, BM25 by its greatest
    and by how much of the query the memory covers beside the best. Beside vectors the lexical
    side gets its share only as far as the query's rarity is matched beyond ``onset``: what it
    does not earn goes to the vectors, so a list matched by a common word or two cannot drown
    them.
    """
    fusion, pool = task.fusion, task.pool
    vectors = _scaled_cosines(pool)
    vector_share, lexical_share = fusion.vector_share, fusion.lexical_share
    if vectors and vector_share > 0:
        earned_part = max(0.0, _best_coverage(pool) - fusion.onset) / (1.0 - fusion.onset)
        lexical_share *= earned_part
        vector_share += fusion.lexical_share - lexical_share
    return _fused(
        FusedPart(VECTOR, vector_share, vectors or [0.0] * len(pool)),
        FusedPart(TEXT, lexical_share, _scaled_lexical(pool)),
    )


def earned(task: Task) -> Fused:
    """A share for the words as far as the query earned it, the rest for the vectors.

    Cosines and BM25 are scaled as in :func:`blend`, the coverage counting less. Two measures
    say what is earned, the better of which holds: how much of the query's rarity the best
    match covers, and how many rare words' worth it holds, which lets a whole dialogue speak
    that no memory repeats.
    """
    pool = task.pool
    vectors = _scaled_cosines(pool) if task.fusion.vector_share > 0 else []
    share = lexical_share(task) if vectors else 1.0
    return _fused(
        FusedPart(VECTOR, 1.0 - share, vectors or [0.0] * len(pool)),
        FusedPart(TEXT, share, _covering(pool, task.fusion.coverage_power)),
    )


def lexical_share(task: Task) -> float:
    """The part of the whole that words count beside vectors, by the method ``earned``.

    A query of a few rare words that a memory holds whole is a name, a code or a thing looked
    for: the fewer its words, the less its vector says.
    """
    fusion, count = task.fusion, task.query.word_count
    coverage = _best_coverage(task.pool)
    rare_words = max((facts.rare_words for facts in task.pool), default=0.0)
    part = max(
        _ramp(coverage, fusion.coverage_from, fusion.coverage_full),
        _ramp(rare_words, fusion.rare_from, fusion.rare_full),
    )
    share = min(1.0, fusion.lexical_share * part)
    if not fusion.lexical_share or coverage < 1.0 or not 1 <= count <= fusion.few_words:
        return share
    rarity = min(1.0, rare_words / count)
    return min(1.0, share + (1.0 - share) / 2.0 ** (count - 1) * fusion.brevity * rarity)


def reciprocal_ranks(task: Task) -> Fused:
    """``sum over channels of 1 / (rrf_k + rank + 1)``, ranks from 0 (Cormack et al. 2009)."""
    return _fused(
        *(
            FusedPart(channel, 1.0, _reciprocal(task.pool, channel, task.fusion.rrf_k + 1.0))
            for channel in task.channels or CHANNELS
        )
    )


METHODS: Mapping[str, Method] = {"blend": blend, "earned": earned, "rrf": reciprocal_ranks}
"""Every way to fuse, by the name that presets use."""


def _fused(*parts: FusedPart) -> Fused:
    raw = list(map(sum, zip(*map(_weighted, parts), strict=True)))
    best = max(raw, default=0.0)
    return Fused(parts, best, [value / best if best > 0 else 0.0 for value in raw])


def _weighted(part: FusedPart) -> list[float]:
    return [part.weight * value for value in part.values]


def _reciprocal(pool: Sequence[Facts], channel: str, offset: float) -> list[float]:
    ranks = (facts.ranks.get(channel) for facts in pool)
    return [0.0 if rank is None else 1.0 / (offset + rank) for rank in ranks]


def _scaled_cosines(pool: Sequence[Facts]) -> list[float]:
    """Empty when no candidate has a vector; 0 for one without."""
    cosines = [known_cosine(facts) for facts in pool]
    known = [cosine for cosine in cosines if cosine is not None]
    if not known:
        return []
    low, high = min(known), max(known)
    if high <= low:
        return [0.0 if cosine is None else 1.0 for cosine in cosines]
    return [0.0 if cosine is None else (cosine - low) / (high - low) for cosine in cosines]


def _scaled_lexical(pool: Sequence[Facts]) -> list[float]:
    """BM25 and coverage, each beside the pool's best."""
    scale = max((facts.bm25 for facts in pool), default=0.0) * _best_coverage(pool)
    if scale <= 0:
        return [0.0] * len(pool)
    return [facts.bm25 * facts.coverage / scale for facts in pool]


def _covering(pool: Sequence[Facts], coverage_power: float) -> list[float]:
    """BM25 by a power of the coverage, beside the pool's best."""
    return scaled_to_best([facts.bm25 * facts.coverage**coverage_power for facts in pool])


def _best_coverage(pool: Sequence[Facts]) -> float:
    return max((facts.coverage for facts in pool), default=0.0)


def _ramp(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))
