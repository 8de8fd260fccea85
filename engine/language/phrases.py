"""The phrases that say most about a text: what to search for beside the text itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from engine.language.scripts import UNSPACED_RUN
from engine.language.terms import Analyser

SINGLE_FROM = 0.8
_LEAST_CHARS = 2


def key_phrases(
    analyser: Analyser, text: str, limit: int, rarity: Mapping[str, float] | None = None
) -> tuple[str, ...]:
    """Up to ``limit`` phrases: pairs of neighbouring content words before single words, the
    more frequent first, then in text order; no word is used twice, and the whole text is no
    phrase of its own.

    ``rarity`` says how rare each word is in what is searched, 0 for a word that is not there.
    Phrases of words that are there then stand before the others, and of single words only
    those take part that are nearly as rare as the rarest: a common word finds too much.
    """
    runs = analyser.content_runs(text)
    whole = [word for run in runs for word in run]
    phrases = [*_ranked(_pairs(runs)), *_ranked((word,) for word in whole)]
    if rarity is not None:
        least = SINGLE_FROM * max(rarity.values(), default=0.0)
        phrases = [
            words for words in phrases if len(words) > 1 or rarity.get(words[0], 0.0) > least
        ]
        phrases.sort(key=lambda words: not all(rarity.get(word) for word in words))
    chosen: list[str] = []
    used: set[str] = set()
    for words in phrases:
        if len(chosen) == limit:
            break
        if not used & set(words) and list(words) != whole:
            used |= set(words)
            chosen.append(_joined(words))
    return tuple(chosen)


def _pairs(runs: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    for run in runs:
        for first, second in pairwise(run):
            if first != second:
                yield first, second


def _ranked(phrases: Iterator[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """By how often each stands there; :class:`Counter` keeps the text's order among equals."""
    counted = Counter(words for words in phrases if len(_joined(words)) >= _LEAST_CHARS)
    return [words for words, _ in counted.most_common()]


def _joined(words: Sequence[str]) -> str:
    joined = words[0]
    for before, word in pairwise(words):
        unspaced = UNSPACED_RUN.match(before[-1]) and UNSPACED_RUN.match(word[0])
        joined += word if unspaced else f" {word}"
    return joined
