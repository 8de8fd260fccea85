"""One form for the inflections of an English word."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Protocol

_LOCK = threading.Lock()

# No other ending is ever changed; asking the stemmer costs a hundred times more.
_ENDING = re.compile(r"(?:[seiy]|ed|ing|al|ful|ll|er|or|ic|nt|ism|ion|ogist)\Z")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of a folded word of ASCII letters; others as they are."""
    if not (word.isascii() and word.isalpha() and _ENDING.search(word)):
        return word
    # The stemmer keeps the word it works on in itself.
    with _LOCK:
        return _english().stemWord(word)


@lru_cache(maxsize=1)
def _english() -> _Stemmer:
    # Not snowballstemmer.stemmer(): that prefers another library of other versions if there.
    from snowballstemmer.english_stemmer import EnglishStemmer

    stemmer: _Stemmer = EnglishStemmer()
    return stemmer
