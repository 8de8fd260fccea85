"""A model behind a guard: whatever a third party's code raises is a model that cannot answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable

if TYPE_CHECKING:
    from engine.model_clients.protocol import Embedder, Matrix, Vector


class GuardedEmbedder:
    """Hands calls on and turns every fault into :class:`ModelUnavailable`, which costs the
    meaning search of one call and never a write."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        return self._inner.identity

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of stored texts, shape (len(texts), dims), in order."""
        with self._translated():
            return self._inner.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        """The vector of a search text, shape (dims,)."""
        with self._translated():
            return self._inner.embed_query(text)

    def close(self) -> None:
        """Give back what the model holds."""
        self._inner.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except ModelUnavailable:
            raise
        # The packages of models document no errors; none of theirs may stop a write.
        except Exception as error:
            model = self._inner.identity.model
            detail = type(error).__name__
            raise ModelUnavailable("error.model_failed", model=model, detail=detail) from error
