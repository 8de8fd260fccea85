"""The panel as a person starts it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.engine.use_cases.shortcuts import HASHING


@dataclass(frozen=True, slots=True)
class Running:
    """A panel that runs: the address to open, and its process."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.split(":")[2].split("/")[0])


def command(home: Path, *words: str) -> list[str]:
    """The command line of a start."""
    start = [sys.executable, "-m", "launchers.cli", "panel", "--no-browser", "--lang", "en"]
    return [*start, "--home", str(home), *words]


def environment() -> dict[str, str]:
    """As the tests' own, with vectors from feature hashing."""
    return dict(os.environ) | dict(HASHING) | {"OMP_NUM_THREADS": "1"}


@contextmanager
def running_panel(home: Path, *words: str) -> Iterator[Running]:
    """A panel for the length of the block."""
    process = subprocess.Popen(
        command(home, *words),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        yield Running(process.stdout.readline().strip(), process)
    finally:
        process.terminate()
        process.communicate(timeout=20)


def started_again(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A second start, which ends by itself."""
    return subprocess.run(
        command(home, *words),
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
