"""What every embedding model looks like to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from engine.domain.embedding import SpaceIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Quoted, so that naming a vector does not load numpy.
Vector: TypeAlias = "NDArray[np.float32]"
"""A float32 array of shape (dims,), L2-normalised."""

Matrix: TypeAlias = "NDArray[np.float32]"
"""A float32 array of shape (n, dims), every row L2-normalised."""


class Embedder(Protocol):
    """A loaded model of one embedding space; safe to use from several threads.

    A passage is at most one piece of a text (:mod:`engine.model_clients.pieces`); a model
    may cut what is longer. Every row handed out is finite and has length one.
    """

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of stored texts, shape (len(texts), dims), in order."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a search text, shape (dims,)."""
        ...

    def close(self) -> None:
        """Give back what the model holds; it is not used afterwards."""
        ...
