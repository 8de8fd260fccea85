"""Recorded text made safe to show to a model, and cut to size.

Every line of a memory stands behind a bar, so no memory can imitate a heading, a role such
as ``SYSTEM:`` or the end of the quotation. Characters that move the cursor, turn the writing
direction or cannot be seen are shown as what they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from engine.domain.display import LINE_END, visible

BAR = "│ "


def one_line(text: str, limit: int = 60) -> str:
    """A short text on one line, for headings."""
    joined = visible(" ".join(text.split()))
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def quoted(text: str) -> str:
    """A text of any number of lines, each behind a bar."""
    lines = LINE_END.split(text)
    return "\n".join(BAR + visible(line) for line in lines)


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


def quoted_size(text: str) -> int:
    """Bytes of the quoted form."""
    return size(quoted(text))


def json_size(text: str) -> int:
    """Bytes inside a JSON string, without its quotes."""
    return size(json.dumps(text, ensure_ascii=False)) - 2


def fitting(text: str, limit: int, measure: Callable[[str], int]) -> int:
    """How many characters from the start of ``text`` measure at most ``limit``.

    ``measure`` must not shrink when a text grows, nor be less than its number of characters.
    """
    low, high = 0, min(len(text), max(limit, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def needs(texts: Sequence[str], limit: int, measure: Callable[[str], int]) -> list[int]:
    """The size of each text, of very long ones only that it exceeds ``limit``."""
    return [limit + 1 if len(text) > limit else measure(text) for text in texts]


def fair_shares(wanted: Sequence[int], total: int) -> list[int]:
    """Divide ``total`` so that small wishes are met and the rest get equal parts."""
    shares = [0] * len(wanted)
    left = max(total, 0)
    waiting = sorted(range(len(wanted)), key=lambda place: wanted[place])
    for done, place in enumerate(waiting):
        shares[place] = min(wanted[place], left // (len(waiting) - done))
        left -= shares[place]
    return shares
