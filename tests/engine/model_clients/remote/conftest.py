"""The mock provider and embedders that ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from engine.model_clients.remote.config import RemoteConfig
from engine.model_clients.remote.embedder import OpenAICompatibleEmbedder, connect
from tests.engine.model_clients.remote.mock_embedder import MockEmbedder, running

KEY = "sk-test-ABCDEFG-123456"

Connect = Callable[..., OpenAICompatibleEmbedder]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not depend on the proxies of the machine they run on."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[MockEmbedder]:
    """A provider that works until a switch is set."""
    with running() as started:
        yield started


@pytest.fixture
def config_of(server: MockEmbedder) -> Callable[..., RemoteConfig]:
    """A configuration for the provider, quick to give up."""

    def make(**changes) -> RemoteConfig:
        values = {
            "base_url": server.url,
            "model": "mock-model",
            "api_key": KEY,
            "dimensions": None,
            "timeout_s": 5.0,
            "max_retries": 0,
        }
        return RemoteConfig(**(values | changes))

    return make


@pytest.fixture
def connected(config_of, server: MockEmbedder) -> Iterator[Connect]:
    """An embedder for the provider; what was asked while connecting is forgotten."""
    opened: list[OpenAICompatibleEmbedder] = []

    def make(**changes) -> OpenAICompatibleEmbedder:
        opened.append(connect(config_of(**changes)))
        server.requests.clear()
        return opened[-1]

    yield make
    for embedder in opened:
        embedder.close()
