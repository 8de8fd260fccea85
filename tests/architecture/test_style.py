"""ruff and mypy as configured in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.source import ROOT


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check", "--diff"], ["mypy"]],
    ids=["lint", "format", "types"],
)
def test_the_source_is_clean(command):
    run = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
