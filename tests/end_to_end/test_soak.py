"""A short soak on every run; the long one is ``python -m tests.end_to_end.soak``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.soak import soak
from tests.end_to_end.soak_roles import Task


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_what_was_acknowledged_is_there_and_found_after_kills(tmp_path: Path) -> None:
    home = tmp_path / "我的 store"
    task = Task(str(home), each=4, seconds=8.0, provider="hashing")
    outcome = soak(home, task, seconds=8.0, servers=2)
    assert outcome.faults == ()
    assert outcome.figures["server_acknowledged_writes"] >= 8
