"""Cutting runs of Chinese characters into words."""

from __future__ import annotations

import hashlib
import logging
import threading
import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Protocol

_ID = "jieba-search-1"

Cut = Callable[[str], list[str]]


class Segmenter(Protocol):
    """Cuts a run of Han characters (U+4E00 to U+9FD5 only) into words.

    Segmenters with equal ``id`` give equal words.
    """

    @property
    def id(self) -> str:
        """Identity of the words given, stored beside what was indexed with them."""

    def cut(self, han_run: str) -> list[str]:
        """Words in text order, long ones preceded by the shorter words inside them."""

    def cut_exact(self, han_run: str) -> list[str]:
        """Words in text order that joined give ``han_run`` again."""


def best_segmenter(cache_dir: Path | None = None, extra_words: Iterable[str] = ()) -> Segmenter:
    """The faster segmenter if its wheel is installed, else the pure Python one.

    Both give the same words. The dictionary loads at the first cut. ``cache_dir`` is a
    private folder for the Python one's parsed dictionary; without it none is kept.
    """
    if find_spec("rjieba") is not None:
        return CompiledSegmenter(extra_words)
    return PythonSegmenter(cache_dir, extra_words)


class _LazySegmenter:
    """Loads the dictionary once, at the first cut, whichever thread comes first."""

    def __init__(self, extra_words: Iterable[str]) -> None:
        self._extra_words = tuple(sorted(set(extra_words)))
        self._lock = threading.Lock()
        self._cuts: tuple[Cut, Cut] | None = None

    @property
    def id(self) -> str:
        if not self._extra_words:
            return _ID
        digest = hashlib.sha256("\n".join(self._extra_words).encode("utf-8", "replace"))
        return f"{_ID}+{digest.hexdigest()[:8]}"

    def cut(self, han_run: str) -> list[str]:
        return (self._cuts or self._loaded())[0](han_run)

    def cut_exact(self, han_run: str) -> list[str]:
        return (self._cuts or self._loaded())[1](han_run)

    def _loaded(self) -> tuple[Cut, Cut]:
        with self._lock:
            if self._cuts is None:
                self._cuts = self._load()
            return self._cuts

    def _load(self) -> tuple[Cut, Cut]:
        raise NotImplementedError


class CompiledSegmenter(_LazySegmenter):
    """jieba's algorithm compiled (rjieba): about thirty times faster, not on every platform."""

    def __init__(self, extra_words: Iterable[str] = ()) -> None:
        super().__init__(extra_words)

    def _load(self) -> tuple[Cut, Cut]:
        import rjieba

        if not self._extra_words:
            return rjieba.cut_for_search, rjieba.cut
        jieba = rjieba.Jieba()
        for word in self._extra_words:
            jieba.add_word(word, None, None)
        return jieba.cut_for_search, jieba.cut


class PythonSegmenter(_LazySegmenter):
    """jieba itself, in pure Python."""

    def __init__(self, cache_dir: Path | None = None, extra_words: Iterable[str] = ()) -> None:
        super().__init__(extra_words)
        self._cache_dir = cache_dir

    def _load(self) -> tuple[Cut, Cut]:
        tokenizer = quiet_jieba().Tokenizer()
        if self._cache_dir is None:
            # Its own default is a file in the shared temporary folder, which any other
            # user of the computer could have written.
            tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
            tokenizer.initialized = True
        else:
            self._cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            tokenizer.tmp_dir = str(self._cache_dir)
            tokenizer.initialize()
        for word in self._extra_words:
            tokenizer.add_word(word)
        return tokenizer.lcut_for_search, tokenizer.lcut


def quiet_jieba() -> ModuleType:
    """jieba without its messages on stderr and its warnings at import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    logger = logging.getLogger("jieba")
    logger.handlers.clear()
    logger.setLevel(logging.CRITICAL)
    quiet: ModuleType = jieba
    return quiet
