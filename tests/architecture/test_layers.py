"""The dependency rule of pyproject.toml."""

from __future__ import annotations

import subprocess
import sys

from tests.architecture.source import ROOT

COMMAND = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def test_imports_point_downwards_and_every_library_has_one_home():
    run = subprocess.run(
        [sys.executable, "-c", COMMAND, "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
