"""Words of a text in Latin letters, with what a capital at their beginning may mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[int, int]
"""Where something stands in a text: begin and end."""

_WORD = re.compile(r"[^\W\d_]+(?:['’.\-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:m|ve|re|ll|d|s))$", re.IGNORECASE)
# Behind these a capital says nothing.
_OPENING = re.compile(r"(?:^|[.!?:;…\n•>/(\[{|–—&+=]|^\s*[-*])[\"'“”‘’()\]\s\-*]*$")
_LOOK_BACK_CHARS = 24
_HEADING = re.compile(
    r"\[[^\[\]\n]{1,60}\]|【[^【】\n]{1,60}】|^#{1,6} .*$|^[^\n:]{1,60}:(?=\s*$)", re.M
)
_SMALL = 3
_LEAST_CAPITALS = 6
_MOST_CAPITALS = 0.35


@dataclass(frozen=True, slots=True)
class LatinWord:
    """A word without its possessive. ``opens`` says that it begins a sentence or a list item."""

    text: str
    begin: int
    stop: int
    opens: bool

    @property
    def folded(self) -> str:
        """The word in small letters."""
        return self.text.lower()

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital and is no contraction (I'm, Let's)."""
        return self.text[0].isupper() and not _CONTRACTION.search(self.text)

    @property
    def is_shouted(self) -> bool:
        """Whether all of it are capitals."""
        return len(self.text) > 1 and self.text.isupper()


def without_headings(text: str) -> str:
    """A text of the same length whose labels and headings are blank: their words are capitalised
    whatever they mean."""
    return _HEADING.sub(lambda match: " " * len(match[0]), text)


def latin_words(text: str) -> list[LatinWord]:
    """All words in order."""
    found = []
    for match in _WORD.finditer(text):
        shown = match[0] if _is_contraction(match[0]) else _POSSESSIVE.sub("", match[0])
        before = text[max(0, match.start() - _LOOK_BACK_CHARS) : match.start()]
        opens = match.start() == 0 or _OPENING.search(before) is not None
        found.append(LatinWord(shown, match.start(), match.start() + len(shown), opens))
    return found


def is_title_case(words: Sequence[LatinWord]) -> bool:
    """Whether so many words inside sentences are capitalised that a capital says little, as in
    headings and captions."""
    long = [word for word in words if len(word.text) > _SMALL and not word.opens]
    capitals = sum(word.text[0].isupper() for word in long)
    return capitals >= _LEAST_CAPITALS and capitals >= _MOST_CAPITALS * len(long)


def _is_contraction(word: str) -> bool:
    """I'm and Let's are; Anna's is a possessive."""
    found = _CONTRACTION.search(word)
    return found is not None and (
        found[0][-1] not in "sS" or word[: found.start()].lower() in _WITH_S
    )


_WITH_S = frozenset({"it", "that", "he", "she", "let", "what", "who", "there", "here", "where"})
