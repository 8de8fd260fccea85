"""What every test starts from: no settings and no home of the person who runs the tests."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("JIYI_")]:
        monkeypatch.delenv(name)
