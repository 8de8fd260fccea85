"""Feature hashing: vectors without a model, for tests and demonstrations.

Texts that share words or character bigrams are near each other; meaning plays no part.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from engine.domain.embedding import SpaceIdentity
from engine.model_clients.protocol import Matrix, Vector
from engine.model_clients.spaces import HASHING_DIMS, hashing
from engine.model_clients.unit_rows import unit_rows

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Signed feature hashing (Weinberger et al. 2009) of folded words and character bigrams."""

    def __init__(self, dims: int = HASHING_DIMS) -> None:
        self._identity = hashing(dims)

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of shape (len(texts), dims), float32, L2-normalised."""
        rows = np.zeros((len(texts), self._identity.dims), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            self._fill(row, text)
        return unit_rows(rows, self._identity.model)

    def embed_query(self, text: str) -> Vector:
        """The vector of one text, shape (dims,)."""
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def close(self) -> None:
        """Nothing is held."""

    def _fill(self, row: Vector, text: str) -> None:
        for feature in _features(text):
            code = zlib.crc32(feature.encode("utf-8", "replace"))
            row[(code >> 1) % len(row)] += 1.0 if code & 1 else -1.0
        if not row.any():
            row[0] = 1.0


def _features(text: str) -> Iterator[str]:
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield word
        for left, right in pairwise(word):
            yield left + right
