"""Scores from a ``/rerank`` endpoint, in the forms of Cohere, Jina, Voyage and others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.config import RemoteConfig
from engine.model_clients.remote.gate import ProviderState
from engine.model_clients.remote.http import RemoteClient


class RerankClient:
    """Asks one rerank model; safe to use from several threads.

    Raises :class:`ModelUnavailable` for a configuration that cannot be used.
    """

    def __init__(self, config: RemoteConfig) -> None:
        self._client = RemoteClient(config)
        self._model = config.model

    def scores(
        self, query: str, documents: Sequence[str], *, wait_s: float | None = None
    ) -> list[float]:
        """One score per document, in their order; higher fits better, the scale is the
        model's.

        Raises :class:`ModelUnavailable`, also when a document has no finite score of its own.
        """
        if not documents:
            return []
        payload = {"model": self._model, "query": query, "documents": list(documents)}
        answer = self._client.post("rerank", payload, self._client.patience(wait_s))
        by_place = _by_place(answer)
        expected = range(len(documents))
        if sorted(by_place) != list(expected):
            raise ModelUnavailable(
                "error.remote_wrong_scores",
                host=self._client.host,
                expected=len(documents),
                found=len(by_place),
            )
        return [by_place[place] for place in expected]

    def state(self) -> ProviderState:
        """What is known of the provider."""
        return self._client.state()

    def close(self) -> None:
        """End waiting and running requests."""
        self._client.close()


def _by_place(answer: object) -> dict[int, float]:
    items: object = answer
    if isinstance(answer, Mapping):
        items = answer.get("results", answer.get("data"))
    found = {}
    for item in items if isinstance(items, list) else []:
        place, score = _entry(item)
        # Two scores for one document leave another one without.
        if place is not None and score is not None:
            found[place] = score
    return found


def _entry(item: object) -> tuple[int | None, float | None]:
    if not isinstance(item, Mapping):
        return None, None
    place, score = item.get("index"), item.get("relevance_score", item.get("score"))
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not isinstance(place, int) or not is_number or not math.isfinite(score):
        return None, None
    return place, float(score)
