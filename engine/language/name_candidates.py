"""Stretches of a query that could be a name, to be looked up among the names one knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.language.folding import fold
from engine.language.scripts import UNSPACED

_READ_CHARS = 400
_LONGEST_UNSPACED = 6
_LONGEST_WORDS = 3
_UNSPACED_RUN = re.compile(f"[{UNSPACED}·]+")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]+(?:[-'’.][^\W\d_{UNSPACED}]+)*")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """``folded`` stands at ``text[begin:stop]``, where ``stop`` takes a possessive in."""

    folded: str
    begin: int
    stop: int


def name_candidates(text: str) -> list[NameCandidate]:
    """Every stretch of 2 to 6 characters of an unspaced script and of 1 to 3 words of another
    one, in the first 400 characters."""
    head = text[:_READ_CHARS]
    return [*_unspaced(head), *_words(head)]


def _unspaced(text: str) -> Iterator[NameCandidate]:
    for run in _UNSPACED_RUN.finditer(text):
        for begin in range(run.start(), run.end() - 1):
            for stop in range(begin + 2, min(run.end(), begin + _LONGEST_UNSPACED) + 1):
                yield NameCandidate(fold(text[begin:stop]), begin, stop)


def _words(text: str) -> Iterator[NameCandidate]:
    words = list(_WORD.finditer(text))
    for first in range(len(words)):
        for last in range(first, min(len(words), first + _LONGEST_WORDS)):
            begin, stop = words[first].start(), words[last].end()
            if last > first and not text[words[last - 1].end() : words[last].start()].isspace():
                break
            yield NameCandidate(fold(_POSSESSIVE.sub("", text[begin:stop])), begin, stop)
