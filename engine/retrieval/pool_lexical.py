"""BM25 over a pool alone, for presets that score words among the nearest memories only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from engine.config.presets import PoolLexical


def pool_bm25(
    terms: Sequence[str], documents: Sequence[Sequence[str]], parameters: PoolLexical
) -> list[float]:
    """BM25 of each document (its tokens) for the query's distinct terms, larger is better.

    Frequencies and mean length are those of the pool; the inverse document frequency is
    ``ln(1 + (n - df + 0.5) / (df + 0.5))`` (Robertson/Zaragoza 2009, never negative).
    """
    wanted = dict.fromkeys(terms)
    counts = [Counter(token for token in tokens if token in wanted) for tokens in documents]
    held = Counter(term for count in counts for term in count)
    total = len(documents)
    rarity = {t: math.log1p((total - held[t] + 0.5) / (held[t] + 0.5)) for t in wanted}
    mean_length = sum(map(len, documents)) / total if total else 0.0
    k1, b = parameters.k1, parameters.b
    scores: list[float] = []
    for count, tokens in zip(counts, documents, strict=True):
        length = len(tokens) / mean_length if mean_length else 0.0
        damping = k1 * (1.0 - b + b * length)
        scores.append(
            sum(
                (rarity[t] * often * (k1 + 1.0) / (often + damping) for t, often in count.items()),
                0.0,
            )
        )
    return scores
