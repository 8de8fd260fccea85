"""Does this provider work, with which model, what size of vectors, how fast?"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.config import RemoteConfig
from engine.model_clients.remote.embedding_api import EmbeddingRequests
from engine.model_clients.remote.http import RemoteClient


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """The outcome of one test request.

    ``dims`` is 0 and ``latency_ms`` the time until the failure when there is a ``problem``.
    ``notice`` is something to know although it works.
    """

    model: str
    dims: int
    latency_ms: float
    problem: ModelUnavailable | None = None
    notice: ModelUnavailable | None = None


def connection_test(config: RemoteConfig) -> ConnectionReport:
    """Ask for the vector of one harmless word, without retries; raises nothing."""
    started = time.monotonic()
    try:
        client = RemoteClient(replace(config, max_retries=0))
    except ModelUnavailable as unusable:
        return ConnectionReport(config.model, 0, 0.0, unusable)
    requests = EmbeddingRequests(client, config)
    problem = _problem(requests, client)
    latency_ms = (time.monotonic() - started) * 1000
    notice = client.notice()
    client.close()
    dims = 0 if problem else requests.dims
    return ConnectionReport(config.model, dims, latency_ms, problem, notice)


def _problem(requests: EmbeddingRequests, client: RemoteClient) -> ModelUnavailable | None:
    try:
        requests.probe(client.patience())
    except ModelUnavailable as problem:
        return problem
    return None
