"""A loaded model as the engine uses it, whether it is embedded or remote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable, TextRefused
from engine.model_clients.protocol import CutOutcome, CutVector

if TYPE_CHECKING:
    from engine.model_clients.protocol import Embedder, Vector
    from engine.model_clients.remote.embedder import OpenAICompatibleEmbedder


_HARMLESS = "memory"


class LoadedModel(Protocol):
    """A model that can answer now; safe to use from several threads."""

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        ...

    def embed_query(self, text: str, wait_s: float) -> Vector:
        """The vector of a search text, shape (dims,), within ``wait_s`` seconds where the
        model may be slow. Raises :class:`ModelUnavailable`."""
        ...

    def embed_texts(self, texts: Sequence[str], wait_s: float | None = None) -> list[CutOutcome]:
        """Per text the vectors of its parts, or why there is none; raises nothing."""
        ...

    def problem(self) -> ModelUnavailable | None:
        """Why it does not answer at the moment, if so."""
        ...

    def close(self) -> None:
        """Give back what the model holds."""
        ...


class LocalModel:
    """A model of this process. Whatever its package raises is a model that cannot answer: it
    costs the meaning search of one call and never a write."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        return self._inner.identity

    def embed_query(self, text: str, wait_s: float = 0.0) -> Vector:
        """The vector of a search text, shape (dims,)."""
        with self._translated():
            return self._inner.embed_query(text)

    def embed_texts(self, texts: Sequence[str], wait_s: float | None = None) -> list[CutOutcome]:
        """One vector per text. When a batch fails, its texts are tried one by one: those that
        fail while a harmless one passes are to blame themselves."""
        try:
            return self._batch(texts)
        except ModelUnavailable:
            outcomes = [self._alone(text) for text in texts]
        if isinstance(self._alone(_HARMLESS), ModelUnavailable):
            return outcomes
        return [
            TextRefused(outcome.key, **outcome.params)
            if isinstance(outcome, ModelUnavailable)
            else outcome
            for outcome in outcomes
        ]

    def problem(self) -> ModelUnavailable | None:
        """A loaded model of this process answers."""
        return None

    def close(self) -> None:
        """Give back what the model holds."""
        self._inner.close()

    def _batch(self, texts: Sequence[str]) -> list[CutOutcome]:
        with self._translated():
            rows = self._inner.embed_passages(texts)
        return [(CutVector(0, len(text), row),) for text, row in zip(texts, rows, strict=True)]

    def _alone(self, text: str) -> CutOutcome:
        try:
            return self._batch([text])[0]
        except ModelUnavailable as failure:
            return failure

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


class RemoteModel:
    """A model at a provider. Texts beyond its window are cut until they fit."""

    def __init__(self, inner: OpenAICompatibleEmbedder) -> None:
        from engine.model_clients.remote.windows import WindowCutter

        self._inner = inner
        self._cutter = WindowCutter()

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        return self._inner.identity

    def embed_query(self, text: str, wait_s: float) -> Vector:
        """The vector of a search text, within ``wait_s`` seconds."""
        return self._inner.embed_query(text, wait_s)

    def embed_texts(self, texts: Sequence[str], wait_s: float | None = None) -> list[CutOutcome]:
        """Per text the vectors of its parts, or why there is none, in time."""
        return self._cutter.embed(texts, lambda parts: self._inner.embed_each(parts, wait_s))

    def problem(self) -> ModelUnavailable | None:
        """Why the provider does not answer at the moment, if so."""
        state = self._inner.state()
        return state.reason if state.state in ("failing", "paused") else None

    def close(self) -> None:
        """End waiting and running requests."""
        self._inner.close()
