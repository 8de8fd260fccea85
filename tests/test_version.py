"""The version is written in two places, which must agree."""

from __future__ import annotations

import tomllib
from pathlib import Path

from engine import VERSION


def test_the_engine_and_the_package_have_one_version() -> None:
    project = Path(__file__).parents[1] / "pyproject.toml"
    assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] == VERSION
