"""Long passages cut at the ends of sentences, Chinese and English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# A full stop before a small letter is one of an abbreviation, one without a blank behind it of a
# number or a name.
_SENTENCE = re.compile(
    r".+?(?:[。！？…]{1,8}[\"”’」』）)\]]{0,4}\s*"
    r"|[.!?]{1,8}[\"'”’)\]]{0,4}(?:\s+(?![a-z\s])|$)|\n\s*|$)",
    re.DOTALL,
)
_CLAUSE = re.compile(r".+?(?:[，、；：,;:]\s*|\s+|$)", re.DOTALL)
_JOINERS = "\u200d\ufe0f\ufe0e"


def split_passage(text: str, max_chars: int) -> list[str]:
    """The text in pieces of at most ``max_chars``, as few as its sentence ends allow; a longer
    sentence is cut at a comma or a blank, and where it has none anywhere between characters."""
    if len(text) <= max_chars:
        return [text] if text.strip() else []
    pieces = [""]
    for part in _parts(text, max_chars):
        if len((pieces[-1] + part).rstrip()) > max_chars:
            pieces.append("")
        pieces[-1] += part
    return [piece.strip() for piece in pieces if piece.strip()]


def _parts(text: str, max_chars: int) -> Iterator[str]:
    for sentence in _SENTENCE.findall(text):
        if len(sentence.rstrip()) <= max_chars:
            yield sentence
            continue
        for clause in _CLAUSE.findall(sentence):
            yield from _runs(clause, max_chars)


def _runs(text: str, max_chars: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = min(len(text), start + max_chars)
        while end < len(text) and end > start + 1 and _belongs(text, end):
            end -= 1
        yield text[start:end]
        start = end


def _belongs(text: str, place: int) -> bool:
    """Whether a character belongs to the one before it: an accent, a part of an emoji."""
    follows = text[place]
    joined = follows in _JOINERS or text[place - 1] == "\u200d"
    return joined or unicodedata.combining(follows) > 0 or "\U0001f3fb" <= follows <= "\U0001f3ff"
