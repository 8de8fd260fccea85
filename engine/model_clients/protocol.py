"""What every embedding model looks like to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Quoted, so that naming a vector does not load numpy.
Vector: TypeAlias = "NDArray[np.float32]"
"""A float32 array of shape (dims,), L2-normalised."""

Matrix: TypeAlias = "NDArray[np.float32]"
"""A float32 array of shape (n, dims), every row L2-normalised."""


Outcome: TypeAlias = "Vector | ModelUnavailable"
"""What became of one text: its vector, or :class:`~engine.domain.errors.TextRefused` when the
text is to blame, or another ModelUnavailable when the model or its provider is."""


@dataclass(frozen=True, slots=True)
class CutVector:
    """The vector of ``text[start:end]``."""

    start: int
    end: int
    vector: Vector


CutOutcome: TypeAlias = "tuple[CutVector, ...] | ModelUnavailable"
"""What became of one text: the vectors of its parts in order, mostly one, or why there is
none."""


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
