"""The embedded default model behind the interface all models share."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5 import conversion, language_subspace
from engine.model_clients.e5.language_subspace import LanguageSubspace
from engine.model_clients.e5.self_test import Engine, chosen_engine
from engine.model_clients.e5.space import E5_SMALL, FIRST_ID, HIDDEN, LAST_ID, MAX_TOKENS
from engine.model_clients.e5.tensors import TensorFile
from engine.model_clients.e5.tokenizer import Tokenizer, model_text
from engine.model_clients.unit_rows import unit_rows

if TYPE_CHECKING:
    from engine.model_clients.protocol import Matrix, Vector

_WINDOW = MAX_TOKENS - 2
_BATCH_TOKENS = 512
"""Padding included; twice as many gain no speed and cost 40 MB."""


class E5Embedder:
    """Vectors of multilingual-e5-small with the language's part taken out.

    Queries and passages each pass the network one batch at a time, so that a query never
    waits for a batch of passages, and memory stays bounded with any number of threads.
    """

    def __init__(self, tokenizer: Tokenizer, engine: Engine, subspace: LanguageSubspace) -> None:
        self._tokenizer = tokenizer
        self._engine: Engine | None = engine
        self._engine_name = engine.name
        self._subspace = subspace
        self._turns = _Turns()

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        return E5_SMALL

    @property
    def engine_name(self) -> str:
        """``onnxruntime`` or ``numpy``: what the self-test chose."""
        return self._engine_name

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of shape (len(texts), 384), float32, L2-normalised.

        The first 2,000 characters of a text are read; more tokens than the model takes at
        once pass it in near equal windows, whose vectors are averaged by their tokens.
        """
        prefix = E5_SMALL.passage_prefix
        windows = [
            (number, window)
            for number, text in enumerate(texts)
            for window in _windows(self._ids(prefix, text))
        ]
        sums = np.zeros((len(texts), HIDDEN), dtype=np.float32)
        for batch in _batches(windows):
            rows = [[FIRST_ID, *window, LAST_ID] for _, window in batch]
            means = self._means(rows, self._turns.passages())
            for (number, window), mean in zip(batch, means, strict=True):
                sums[number] += mean * len(window)
        return self._finished(sums)

    def embed_query(self, text: str) -> Vector:
        """The vector of a search text, shape (384,); its first 510 tokens are read."""
        ids = self._ids(E5_SMALL.query_prefix, text)[:_WINDOW]
        means = self._means([[FIRST_ID, *ids, LAST_ID]], self._turns.queries())
        vector: Vector = self._finished(means)[0]
        return vector

    def close(self) -> None:
        """Let go of the weights."""
        self._engine = None

    def _ids(self, prefix: str, text: str) -> list[int]:
        return self._tokenizer.ids((prefix + model_text(text)).rstrip(" "))

    def _means(self, rows: list[list[int]], turn: threading.Lock) -> NDArray[np.float32]:
        with turn:
            engine = self._engine
            if engine is None:
                raise ModelUnavailable("error.model_closed")
            return engine.mean_states(rows)

    def _finished(self, means: NDArray[np.float32]) -> Matrix:
        raw = unit_rows(means, E5_SMALL.model)
        return unit_rows(self._subspace.without(raw), E5_SMALL.model)


def load(models_folder: Path) -> E5Embedder:
    """Load from ``models_folder`` (``<home>/cache/models``): 0.4 s, 2 s more the first time,
    when the weights are converted. Nothing is downloaded.

    Raises :class:`ModelUnavailable`: ``error.e5_missing`` (see
    :func:`engine.model_clients.e5.weights.fetch`),
    ``error.e5_other_weights``, ``error.e5_folder_unwritable``, ``error.e5_wrong_vectors``,
    ``error.e5_asset_missing``.
    """
    converted = conversion.ensure(models_folder)
    tensors = TensorFile(converted.weights, converted.tensors)
    tokenizer = Tokenizer(tensors)
    subspace = language_subspace.shipped()
    return E5Embedder(tokenizer, chosen_engine(converted.graph, tensors, tokenizer), subspace)


class _Turns:
    """A lock for queries and one for passages, made anew in a forked process: the thread
    that held the old ones does not exist there."""

    def __init__(self) -> None:
        self._renew()

    def queries(self) -> threading.Lock:
        self._after_fork()
        return self._queries

    def passages(self) -> threading.Lock:
        self._after_fork()
        return self._passages

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            self._renew()

    def _renew(self) -> None:
        self._queries = threading.Lock()
        self._passages = threading.Lock()
        self._process = os.getpid()


def _windows(ids: list[int]) -> Iterator[list[int]]:
    """Near equal parts of at most :data:`_WINDOW` tokens."""
    count = -(-len(ids) // _WINDOW)
    for number in range(count):
        yield ids[number * len(ids) // count : (number + 1) * len(ids) // count]


def _batches(windows: list[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Windows of like length together, so that little is padding."""
    batch: list[tuple[int, list[int]]] = []
    for window in sorted(windows, key=lambda window: len(window[1])):
        # The newest is the longest, and all are padded to it.
        if batch and (len(batch) + 1) * (len(window[1]) + 2) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch
