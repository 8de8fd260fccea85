"""A store and a browser over it, driven by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from tests.engine.use_cases.shortcuts import HASHING


@pytest.fixture
def clock() -> FixedClock:
    """A clock that only the test moves."""
    return FixedClock()


@pytest.fixture
def engine(tmp_path: Path, clock: FixedClock) -> Iterator[Engine]:
    """An engine whose vectors come from feature hashing."""
    environ = HASHING | {"JIYI_TIMEZONE": "Asia/Shanghai"}
    with open_engine(tmp_path / "store", environ=environ, clock=clock) as opened:
        yield opened
