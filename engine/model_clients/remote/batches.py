"""Many texts in few requests, where one bad text costs only itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.domain.errors import ModelUnavailable
from engine.model_clients.protocol import Outcome
from engine.model_clients.remote.embedding_api import EmbeddingRequests
from engine.model_clients.remote.failures import RequestRefused, text_refused
from engine.model_clients.remote.http import Patience


class BatchRun:
    """The requests of one call.

    A refused batch is parted until the guilty texts stand alone. A text counts as guilty only
    if the model took another one just before, else the provider is asked for a harmless text:
    a provider that is down costs one request more, not one for every text. ``limit`` is the
    most texts in one request; it ends lower when the provider takes the halves of what it
    refused whole. ``blamed`` tells that a text was found guilty,
    ``down`` is the failure of the provider after which nothing more was asked.
    """

    def __init__(self, requests: EmbeddingRequests, patience: Patience, limit: int) -> None:
        self.limit = limit
        self.blamed = False
        self._requests = requests
        self._patience = patience
        self._proved = False
        self.down: ModelUnavailable | None = None

    def outcomes(self, texts: Sequence[str]) -> list[Outcome]:
        """One outcome per text, in order. Every text must hold more than blanks."""
        return self._in_batches(texts, replace(self._patience, retry_500=False))

    def _in_batches(self, texts: Sequence[str], patience: Patience) -> list[Outcome]:
        outcomes: list[Outcome] = []
        while len(outcomes) < len(texts):
            start = len(outcomes)
            outcomes += self._batch(texts[start : start + self.limit], patience)
        return outcomes

    def _batch(self, texts: Sequence[str], patience: Patience) -> list[Outcome]:
        simplified = self._requests.simplified
        try:
            if self.down is None:
                return self._asked(texts, patience)
        except RequestRefused as refusal:
            if self._prove():
                if self._requests.simplified != simplified:
                    return self._batch(texts, patience)
                return self._parted(texts, refusal)
        except ModelUnavailable as failure:
            self.down = failure
        assert self.down is not None
        return [self.down] * len(texts)

    def _asked(self, texts: Sequence[str], patience: Patience) -> list[Outcome]:
        rows = self._requests.rows(texts, patience)
        bad = RequestRefused("error.model_bad_vector", model=self._requests.model)
        if any(row is not None for row in rows):
            self._proved = True
        return [self._guilty(bad) if row is None else row for row in rows]

    def _parted(self, texts: Sequence[str], refusal: RequestRefused) -> list[Outcome]:
        if len(texts) == 1:
            return [self._guilty(refusal)]
        middle = len(texts) // 2
        once = replace(self._patience, retries=0, retry_500=False)
        parts = self._in_batches(texts[:middle], once) + self._in_batches(texts[middle:], once)
        passed = not any(isinstance(part, ModelUnavailable) for part in parts)
        # A server error may have been over by itself.
        if passed and refusal.key != "error.remote_server_error":
            self.limit = min(self.limit, len(texts) - middle)
        return parts

    def _guilty(self, refusal: RequestRefused) -> Outcome:
        if not self._prove():
            assert self.down is not None
            return self.down
        # The next text is judged by an answer of its own.
        self._proved = False
        self.blamed = True
        return text_refused(refusal)

    def _prove(self) -> bool:
        """True when the model takes texts at all."""
        if self.down is None and not self._proved:
            try:
                self._requests.probe(self._patience)
                self._proved = True
            except ModelUnavailable as failure:
                self.down = failure
        return self.down is None
