"""Bringing spellings of the same text together, so that any of them finds the others."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files

# Invisible characters that only steer display or line breaks: soft hyphen, zero-width and
# direction marks, emoji presentation selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]"
)
_APOSTROPHES = "\u02bc\u02b9\u2018\u2019\u201b\u2032\u00b4\u055a"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043"


def fold(text: str) -> str:
    """``text`` in the one spelling that is compared.

    NFKC, case folded, Traditional Chinese characters as Simplified, apostrophes and dashes
    as their ASCII forms, invisible format characters removed, white space as single spaces
    with none at the ends. Folding twice changes nothing more.
    """
    return " ".join(fold_case(unify(text)).split())


def unify(text: str) -> str:
    """``text`` folded in everything but letter case and white space."""
    if text.isascii():
        return text
    visible = _INVISIBLE.sub("", text)
    return unicodedata.normalize("NFKC", visible).translate(_unifying_table())


def fold_case(text: str) -> str:
    """An already unified ``text`` without differences of letter case."""
    if text.isascii():
        return text.lower()
    return unify(unicodedata.normalize("NFKC", text.casefold()))


@lru_cache(maxsize=1)
def _unifying_table() -> dict[int, str]:
    table = dict.fromkeys(map(ord, _APOSTROPHES), "'")
    table |= dict.fromkeys(map(ord, _DASHES), "-")
    source = files("assets") / "language" / "traditional_simplified.txt"
    for line in source.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            traditional, simplified = line.split(" ")
            table[ord(traditional)] = simplified
    return table
