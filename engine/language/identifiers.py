"""Words written with spaces, names in code, numbers: the whole and its parts."""

from __future__ import annotations

import re
from functools import lru_cache

from engine.language.folding import fold_case
from engine.language.stemming import stem

MAX_TOKEN_CHARS = 64

# Longer runs are rare and would fill the cache with text.
_MAX_CACHED_CHARS = 64

_SEPARATORS = re.compile(r"[-.@/:\\+&#~=%$_,]+")
_CAMEL_BORDER = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS_OR_DIGITS = re.compile(r"\d+|\D+")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def stemmed_tokens(run: str) -> tuple[str, ...]:
    """As :func:`identifier_tokens`, English words by their stems."""
    if len(run) <= _MAX_CACHED_CHARS:
        return _cached_stemmed_tokens(run)
    return tuple(map(stem, identifier_tokens(run)))


@lru_cache(maxsize=16_384)
def _cached_stemmed_tokens(run: str) -> tuple[str, ...]:
    return tuple(map(stem, identifier_tokens(run)))


def identifier_tokens(run: str) -> tuple[str, ...]:
    """Folded tokens of one run of a spaced script: the whole, then its distinct parts.

    ``gen-itgc`` gives gen-itgc, gen, itgc; ``loadConfig`` loadconfig, load, config;
    ``don't`` don't, don; ``1,000`` 1000. Nothing is longer than 64 characters.
    """
    if _GROUPED_NUMBER.fullmatch(run):
        run = run.replace(",", "")
    folded = fold_case(run)
    if folded.isalpha() and (run == folded or run[1:] == folded[1:]):
        return _limited((folded,))
    parts = [part for piece in _SEPARATORS.split(run) for part in _parts(piece)]
    return _limited(tuple(dict.fromkeys((folded, *parts))))


def _parts(piece: str) -> list[str]:
    """Parts of a piece without separators; a contraction's ending letter is none."""
    if "'" in piece:
        head, *rest = piece.split("'")
        return [*_parts(head), *(part for end in rest if len(end) > 1 for part in _parts(end))]
    parts = [fold_case(piece)] if piece else []
    camel = _CAMEL_BORDER.split(piece)
    if len(camel) > 1:
        parts += [fold_case(part) for part in camel]
    return parts + _letters_and_digits(parts[0] if parts else "")


def _letters_and_digits(piece: str) -> list[str]:
    """``50gb`` gives 50, gb; single characters (``v2``) are too common to help."""
    parts = _LETTERS_OR_DIGITS.findall(piece)
    return [part for part in parts if len(part) > 1] if len(parts) > 1 else []


def _limited(tokens: tuple[str, ...]) -> tuple[str, ...]:
    if all(len(token) <= MAX_TOKEN_CHARS for token in tokens):
        return tokens
    return tuple(piece for token in tokens for piece in pieces(token))


def pieces(token: str) -> list[str]:
    """``token`` cut into pieces of at most 64 characters."""
    starts = range(0, len(token), MAX_TOKEN_CHARS)
    return [token[start : start + MAX_TOKEN_CHARS] for start in starts]
