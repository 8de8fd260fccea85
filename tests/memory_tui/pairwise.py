"""Few cases that hold every pair of values of any two dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

Case = tuple[str, ...]


def cases(dimensions: Mapping[str, Sequence[str]]) -> list[Case]:
    """Chosen greedily, the same in every run: each case holds the most pairs still missing."""
    values = list(dimensions.values())
    missing = {pair for case in product(*values) for pair in pairs(case)}
    everything = list(product(*values))
    chosen: list[Case] = []
    while missing:
        best = max(everything, key=lambda case: len(missing.intersection(pairs(case))))
        chosen.append(best)
        missing.difference_update(pairs(best))
    return chosen


def pairs(case: Case) -> Iterator[tuple[tuple[int, str], tuple[int, str]]]:
    """Every two values of a case with their dimensions."""
    first_and_second = combinations(enumerate(case), 2)
    yield from first_and_second
