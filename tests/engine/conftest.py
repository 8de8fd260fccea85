"""A store in a folder of its own, with vectors from hashing or with keywords only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from tests.engine.use_cases.shortcuts import HASHING, KEYWORDS


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the store of the test lies; not made yet."""
    return tmp_path / "store"


@pytest.fixture
def clock() -> FixedClock:
    """A clock that only the test moves."""
    return FixedClock()


@pytest.fixture
def engine(home: Path, clock: FixedClock) -> Iterator[Engine]:
    """An engine whose vectors come from feature hashing."""
    with open_engine(home, environ=HASHING, clock=clock) as opened:
        yield opened


@pytest.fixture
def keyword_engine(home: Path, clock: FixedClock) -> Iterator[Engine]:
    """An engine without any model."""
    with open_engine(home, environ=KEYWORDS, clock=clock) as opened:
        yield opened
