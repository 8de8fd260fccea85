"""The terms a text is indexed by and a query is searched with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import add
from pathlib import Path

from engine.language.folding import unify
from engine.language.identifiers import identifier_tokens, pieces, stemmed_tokens
from engine.language.scripts import (
    HAN_OR_OTHER,
    KANA_CHARACTER,
    UNSPACED_RUN,
    Run,
    is_symbol,
    run_pattern,
)
from engine.language.segmenters import Segmenter, best_segmenter
from engine.language.stemming import stem
from engine.language.stop_words import load_stop_words

MAX_QUERY_WORDS = 64
MAX_QUERY_BIGRAMS = 128

_RULES = "terms-1"


@dataclass(frozen=True, slots=True)
class IndexTerms:
    """Terms of a stored text, in text order and with repetitions.

    ``words`` are segmented words and identifiers with their parts. ``chars`` are, for each
    run of characters written without spaces, its overlapping character pairs and then its
    last character alone: a phrase of pairs finds any part of the run, a prefix search for
    one character finds every run that contains it.
    """

    words: tuple[str, ...]
    chars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """Distinct terms of a query, in its order, without function words.

    ``bigrams`` are the character pairs inside content stretches of unspaced scripts,
    ``singles`` the stretches of one character. ``only_stop_words`` means that nothing else
    was there, so that function words are searched after all.
    """

    words: tuple[str, ...]
    bigrams: tuple[str, ...]
    singles: tuple[str, ...]
    only_stop_words: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for: blanks and punctuation only."""
        return not (self.words or self.bigrams or self.singles)


class Analyser:
    """Cuts texts and queries by the same rules. Safe to share between threads."""

    def __init__(self, segmenter: Segmenter, stop_words: frozenset[str]) -> None:
        self._segmenter = segmenter
        self._stop_words = stop_words

    @property
    def segmenter_id(self) -> str:
        """Changes whenever the same text would be indexed by other terms."""
        return f"{self._segmenter.id}/{_RULES}"

    def index_terms(self, text: str) -> IndexTerms:
        """Terms under which ``text`` is found. Any string is allowed."""
        unified = unify(text)
        return IndexTerms(tuple(self._words(unified, stemmed_tokens)), tuple(_characters(unified)))

    def query_terms(self, text: str) -> QueryTerms:
        """Terms to search for. Any string is allowed; at most 64 words and 128 pairs."""
        unified = unify(text)
        words = self._words(unified, identifier_tokens)
        runs = UNSPACED_RUN.findall(unified)
        content = [word for word in words if word not in self._stop_words]
        stretches = [part for run in runs for part in self._content_stretches(run)]
        only_stop_words = bool(words) and not (content or stretches)
        if only_stop_words:
            content, stretches = words, runs
        return QueryTerms(
            words=_spread(map(stem, content), MAX_QUERY_WORDS),
            bigrams=_spread(
                (pair for part in stretches for pair in _pairs(part)), MAX_QUERY_BIGRAMS
            ),
            singles=_spread((part for part in stretches if len(part) == 1), MAX_QUERY_WORDS),
            only_stop_words=only_stop_words,
        )

    def content_runs(self, text: str) -> list[list[str]]:
        """Words that are no function words, in text order and unstemmed, cut into runs wherever
        a function word or punctuation stands between them. Any string is allowed."""
        runs: list[list[str]] = [[]]
        end = 0
        unified = unify(text)
        for match in run_pattern().finditer(unified):
            if unified[end : match.start()].strip():
                runs.append([])
            end = match.end()
            for word in self._whole_words(match):
                if word in self._stop_words:
                    runs.append([])
                else:
                    runs[-1].append(word)
        return [run for run in runs if run]

    def _whole_words(self, match: re.Match[str]) -> Iterable[str]:
        run = match.group()
        if match.lastindex == Run.HAN:
            return self._segmenter.cut_exact(run)
        return identifier_tokens(run)[:1] if match.lastindex == Run.WORD else (run,)

    def _words(self, unified: str, tokens_of: Callable[[str], Iterable[str]]) -> list[str]:
        words: list[str] = []
        cut = self._segmenter.cut
        for match in run_pattern().finditer(unified):
            run = match.group()
            kind = match.lastindex
            if kind == Run.WORD:
                words.extend(tokens_of(run))
            elif kind == Run.HAN:
                words.extend(cut(run))
            elif kind == Run.WHOLE:
                words.extend(pieces(run))
            elif is_symbol(run):
                words.append(run)
        return words

    def _content_stretches(self, run: str) -> Iterator[str]:
        """Parts of ``run`` between function words.

        A run with kana is Japanese: Chinese function words mean other things there.
        """
        if KANA_CHARACTER.search(run):
            if run not in self._stop_words:
                yield run
            return
        stretch = ""
        for piece in self._exact_pieces(run):
            if piece not in self._stop_words:
                stretch += piece
            elif stretch:
                yield stretch
                stretch = ""
        if stretch:
            yield stretch

    def _exact_pieces(self, run: str) -> Iterator[str]:
        for match in HAN_OR_OTHER.finditer(run):
            if match.lastindex:
                yield from self._segmenter.cut_exact(match.group())
            else:
                yield match.group()


def build_analyser(cache_dir: Path | None = None) -> Analyser:
    """An analyser with the best segmenter at hand, whose dictionary loads when first needed.

    ``cache_dir``: see :func:`engine.language.segmenters.best_segmenter`.
    """
    return Analyser(best_segmenter(cache_dir), load_stop_words())


def _characters(unified: str) -> list[str]:
    characters: list[str] = []
    for run in UNSPACED_RUN.findall(unified):
        characters.extend(_pairs(run))
        characters.append(run[-1])
    return characters


def _pairs(run: str) -> Iterator[str]:
    return map(add, run, run[1:])


def _spread(items: Iterable[str], limit: int) -> tuple[str, ...]:
    """The distinct ``items``, or ``limit`` of them taken evenly over their whole length."""
    distinct = tuple(dict.fromkeys(items))
    if len(distinct) <= limit:
        return distinct
    return tuple(distinct[index * len(distinct) // limit] for index in range(limit))
