"""A store and its panel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from tests.engine.use_cases.shortcuts import HASHING
from tests.web_panel.visitor import Visitor


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine whose vectors come from feature hashing."""
    with open_engine(tmp_path / "store", environ=HASHING) as opened:
        yield opened


@pytest.fixture
def stranger(engine: Engine) -> Visitor:
    """Somebody without a link."""
    return Visitor(engine)


@pytest.fixture
def visitor(stranger: Visitor) -> Visitor:
    """Somebody who followed a link."""
    stranger.enter()
    return stranger
