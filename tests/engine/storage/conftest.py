"""A database without an engine around it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.storage.database import Database, open_database


@pytest.fixture
def database(home: Path) -> Iterator[Database]:
    """A new, empty store."""
    opened = open_database(home, busy_timeout_s=5.0)
    yield opened
    opened.close()
