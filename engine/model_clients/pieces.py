"""Cutting a long text into pieces that a model can embed one by one."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# A boundary is where a match ENDS, so marks and line ends stay with what they close.
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"""[。！？；][”’」』）》]*\s*|[.!?]["')\]]*\s+|\n\s*""")
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32


@dataclass(frozen=True, slots=True)
class Piece:
    """The half-open character range ``text[start:end]``."""

    start: int
    end: int


def split_pieces(text: str, max_chars: int) -> list[Piece]:
    """Cut ``text`` into consecutive pieces of at most ``max_chars`` characters.

    Cuts stand at paragraph ends, else at sentence ends, else inside a sentence but not
    inside a character a reader sees as one. Pieces are near equal in size, so that no
    stub is left over. Together they cover the text, apart from blank pieces.
    """
    if max_chars < 1:
        raise ValueError(f"max_chars must be positive, not {max_chars}")
    pieces = []
    start = 0
    while start < len(text):
        end = _piece_end(text, start, max_chars)
        if not text[start:end].isspace():
            pieces.append(Piece(start, end))
        start = end
    return pieces


def _piece_end(text: str, start: int, max_chars: int) -> int:
    left = len(text) - start
    if left <= max_chars:
        return len(text)
    count = -(-left // max_chars)
    aim = start + left // count
    lowest, highest = start + (aim - start) // 2, start + max_chars
    for boundary in (_PARAGRAPH, _SENTENCE):
        cut = _nearest_boundary(boundary, text, aim, (lowest, highest))
        if cut is not None:
            return cut
    return _between_clusters(text, start, highest)


def _nearest_boundary(
    boundary: re.Pattern[str], text: str, aim: int, limits: tuple[int, int]
) -> int | None:
    lowest, highest = limits
    ends = (match.end() for match in boundary.finditer(text, lowest, highest))
    return min((end for end in ends if end > lowest), key=lambda end: abs(end - aim), default=None)


def _between_clusters(text: str, start: int, cut: int) -> int:
    lowest = max(start + 1, cut - _LONGEST_CLUSTER)
    for candidate in range(cut, lowest - 1, -1):
        if not _inside_cluster(text[candidate - 1], text[candidate]):
            return candidate
    return cut


def _inside_cluster(before: str, after: str) -> bool:
    return (
        _JOINER in (before, after)
        or unicodedata.category(after) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
    )
