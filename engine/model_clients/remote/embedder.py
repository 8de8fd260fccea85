"""Vectors from an OpenAI-compatible provider."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable, TextRefused
from engine.model_clients.protocol import Outcome
from engine.model_clients.remote.batches import BatchRun
from engine.model_clients.remote.bounded import Bounded
from engine.model_clients.remote.config import RemoteConfig, space_of
from engine.model_clients.remote.embedding_api import EmbeddingRequests
from engine.model_clients.remote.failures import RequestRefused
from engine.model_clients.remote.gate import ProviderState
from engine.model_clients.remote.http import Patience, RemoteClient

if TYPE_CHECKING:
    from engine.model_clients.protocol import Matrix, Vector

# Half a character is no UTF-8, and NUL ends a text in some servers.
_UNSENDABLE = re.compile(r"[\x00\ud800-\udfff]")
_QUERY_RETRIES = 1
# The request's own limit ends first and says more.
_GRACE_S = 0.2


class OpenAICompatibleEmbedder:
    """Embeds texts at a provider; safe to use from several threads.

    :func:`connect` makes one. Blank texts are never sent.
    """

    def __init__(
        self, client: RemoteClient, requests: EmbeddingRequests, config: RemoteConfig
    ) -> None:
        self._client = client
        self._requests = requests
        self._config = config
        self._limit = max(1, config.batch_size)
        self._identity = space_of(config, requests.dims)
        self._queries = Bounded()
        self._writers = Bounded()

    @property
    def identity(self) -> SpaceIdentity:
        """The space its vectors live in."""
        return self._identity

    @property
    def batch_limit(self) -> int:
        """Texts in one request: as configured, or less once the provider refused as many."""
        return self._limit

    def embed_each(self, texts: Sequence[str], wait_s: float | None = None) -> list[Outcome]:
        """One outcome per text, in order: a float32 vector of shape (dims,) and length one,
        or why there is none.

        :class:`TextRefused` means that this text is to blame and others pass; any other
        :class:`ModelUnavailable` that the provider is, whatever the text. Nothing is raised.
        With ``wait_s`` the answer comes within so many seconds; what is late has failed.
        """
        if wait_s is None:
            return self._each(texts, self._client.patience())
        try:
            patience = self._client.patience(wait_s)
            return self._writers.run(
                lambda: self._each(texts, patience), wait_s + _GRACE_S, self._late(wait_s)
            )
        except ModelUnavailable as failure:
            return [failure] * len(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of shape (len(texts), dims), float32, L2-normalised; raises the first
        failure of :meth:`embed_each`."""
        import numpy as np

        rows = np.empty((len(texts), self._identity.dims), dtype=np.float32)
        for place, outcome in enumerate(self.embed_each(texts)):
            if isinstance(outcome, ModelUnavailable):
                raise outcome
            rows[place] = outcome
        return rows

    def embed_query(self, text: str, wait_s: float | None = None) -> Vector:
        """The vector of a search text, shape (dims,), within ``wait_s`` seconds (the
        configured time of a request without it)."""
        sent = _sendable(text)
        if not sent:
            raise _blank()
        limit_s = self._config.timeout_s if wait_s is None else wait_s
        patience = Patience(time.monotonic() + limit_s, _QUERY_RETRIES)
        work = self._asking(self._config.query_prefix + sent, patience)
        return self._queries.run(work, limit_s + _GRACE_S, self._late(limit_s))

    def state(self) -> ProviderState:
        """What is known of the provider."""
        return self._client.state()

    def notice(self) -> ModelUnavailable | None:
        """What a person should know although vectors are made: a proxy left unused."""
        return self._client.notice()

    def close(self) -> None:
        """End waiting and running requests."""
        self._client.close()

    def _each(self, texts: Sequence[str], patience: Patience) -> list[Outcome]:
        sendable = [_sendable(text) for text in texts]
        sent = [self._config.passage_prefix + text for text in sendable if text]
        run = BatchRun(self._requests, patience, self._limit)
        done = iter(run.outcomes(sent))
        self._limit = min(self._limit, run.limit)
        if run.down is not None:
            self._client.report(run.down)
        elif run.blamed:
            self._client.clear()
        return [next(done) if text else _blank() for text in sendable]

    def _asking(self, text: str, patience: Patience) -> Callable[[], Vector]:
        def ask() -> Vector:
            try:
                return self._ask(text, patience)
            except RequestRefused:
                raise
            except ModelUnavailable as failure:
                self._client.report(failure)
                raise

        return ask

    def _ask(self, text: str, patience: Patience) -> Vector:
        simplified = self._requests.simplified
        try:
            [vector] = self._requests.rows([text], patience)
        except RequestRefused:
            # Raises when the provider takes no text at all.
            self._requests.probe(patience)
            if self._requests.simplified == simplified:
                raise
            [vector] = self._requests.rows([text], patience)
        if vector is None:
            raise ModelUnavailable("error.model_bad_vector", model=self._config.model)
        return vector

    def _late(self, limit_s: float) -> ModelUnavailable:
        return ModelUnavailable(
            "error.remote_slow", host=self._client.host, seconds=round(limit_s, 1)
        )


def connect(config: RemoteConfig, wait_s: float | None = None) -> OpenAICompatibleEmbedder:
    """An embedder for ``config``. Asks the provider for the size of its vectors, within
    ``wait_s`` seconds, unless ``dimensions`` says it.

    Raises :class:`ModelUnavailable` for a configuration that cannot be used, or when the
    size is not known and the provider does not answer.
    """
    client = RemoteClient(config)
    requests = EmbeddingRequests(client, config)
    try:
        if not requests.dims:
            requests.probe(client.patience(wait_s))
    except ModelUnavailable:
        client.close()
        raise
    return OpenAICompatibleEmbedder(client, requests, config)


def _sendable(text: str) -> str:
    """``text`` as a provider can read it; empty when nothing but blanks is left."""
    cleaned = _UNSENDABLE.sub(" ", text)
    return "" if cleaned.isspace() else cleaned


def _blank() -> TextRefused:
    return TextRefused("error.remote_blank")
