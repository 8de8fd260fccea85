"""The command line in process: a home in a temporary folder, quick vectors, English."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import launchers
from launchers.cli.main import main


@dataclass(frozen=True)
class Answer:
    """What one run left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[list[str]]:
        return [line.split("\t") for line in self.out.splitlines()]


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return True


class Jiyi:
    """Runs commands; ``terminal()`` runs one as on a screen."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        self.home = home
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str, stdin: bytes | None = None) -> Answer:
        if stdin is not None:
            self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        code = main(arguments)
        captured = self._capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    def terminal(self, *arguments: str) -> Answer:
        out, err = Terminal(), Terminal()
        with self._monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", out)
            patched.setattr(sys, "stderr", err)
            code = main(arguments)
        return Answer(code, out.bytes.getvalue().decode(), err.bytes.getvalue().decode())


@pytest.fixture
def jiyi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Jiyi:
    home = tmp_path / "home"
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("JIYI_HOME", str(home))
    monkeypatch.setenv("JIYI_EMBEDDING__PROVIDER", "hashing")
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("_JIYI_COMPLETE", raising=False)
    return Jiyi(home, monkeypatch, capsys)


class Command:
    """Runs ``jiyi`` as a process of its own; keyword arguments are environment variables."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self._folder = folder

    def __call__(
        self, *arguments: str, cwd: Path | None = None, umask: int = -1, **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        options: dict[str, Any] = {} if os.name == "nt" else {"umask": umask}
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            self._command(arguments),
            env=self._environ(environ),
            cwd=cwd or self._folder,
            capture_output=True,
            check=False,
            **options,
        )
        return done

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command(arguments), env=self._environ({}), cwd=self._folder, **options
        )

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "launchers.cli", *arguments]

    def _environ(self, changed: dict[str, str]) -> dict[str, str]:
        root = Path(launchers.__file__).parent.parent
        return {
            **os.environ,
            "PYTHONPATH": str(root),
            "JIYI_HOME": str(self.home),
            "JIYI_EMBEDDING__PROVIDER": "hashing",
            **changed,
        }


@pytest.fixture
def run_command(tmp_path: Path) -> Command:
    folder = tmp_path / "folder"
    folder.mkdir()
    return Command(tmp_path / "home", folder)
