"""Stores, and indexes that are closed when a test ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.vector_index.graph import GraphTuning
from engine.vector_index.index import VectorIndex
from tests.engine.vector_index.memory_source import MemorySource, SharedStore, clustered

Opener = Callable[..., VectorIndex]
FAST = GraphTuning(poll_s=0.0, retry_s=0.0, batch_rows=200, exact_scope=20, rebuild_share=0.2)


@pytest.fixture
def store() -> SharedStore:
    """600 memories with one piece each, 32 dims."""
    shared = SharedStore(dims=32)
    shared.put_all(clustered(600, 32))
    return shared


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "我的 记忆库(新)" / "vectors"


@pytest.fixture
def opened(folder: Path) -> Iterator[Opener]:
    """Open an index over a store, as another process would."""
    indexes: list[VectorIndex] = []

    def open_index(
        store: SharedStore,
        *,
        exact_below: int = 500,
        tuning: GraphTuning = FAST,
        space_key: str = "space",
    ) -> VectorIndex:
        source = MemorySource(store, space_key)
        index = VectorIndex(source, folder, exact_below=exact_below, tuning=tuning)
        indexes.append(index)
        return index

    yield open_index
    for index in indexes:
        index.close()


def until_mode(index: VectorIndex, mode: str, seconds: float = 20.0) -> None:
    """Catch up until the index has the mode."""
    until(index, lambda: index.status().mode == mode, seconds)


def until(index: VectorIndex, reached: Callable[[], bool], seconds: float = 20.0) -> None:
    """Catch up until something holds."""
    deadline = time.monotonic() + seconds
    index.catch_up()
    while not reached():
        assert time.monotonic() < deadline, index.status()
        time.sleep(0.01)
        index.catch_up()
