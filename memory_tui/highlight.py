"""Where a text says what was searched for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_RUNS = re.compile(r"[㐀-鿿豈-﫿]+|[^\W㐀-鿿豈-﫿]+")
_LEAST_LETTERS = 2
_MOST_NEEDLES = 200


@lru_cache(maxsize=64)
def needles(query: str) -> re.Pattern[str] | None:
    """What to look for: whole words, and of Chinese every stretch of two characters or more, the
    longest first. ``None`` for a query of nothing that can be shown."""
    found: dict[str, None] = {}
    for run in _RUNS.findall(query.casefold()):
        for part in _parts(run):
            found[part] = None
    wanted = sorted(found, key=len, reverse=True)[:_MOST_NEEDLES]
    return re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE) if wanted else None


def _parts(run: str) -> Iterator[str]:
    if run[0] < "㐀":
        if len(run) >= _LEAST_LETTERS:
            yield run
        return
    if len(run) == 1:
        yield run
    for length in range(min(len(run), 8), 1, -1):
        for start in range(len(run) - length + 1):
            yield run[start : start + length]


def spans(text: str, query: str) -> list[tuple[int, int]]:
    """Start and end of every stretch of the text that the query names."""
    wanted = needles(query)
    return [match.span() for match in wanted.finditer(text)] if wanted and text else []
