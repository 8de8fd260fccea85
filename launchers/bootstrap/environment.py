"""The environment beside the checkout: where its parts are, and whether it can be used.

What lies in ``.venv`` besides the environment itself:

- ``jiyi-ready.json``: a :class:`Stamp` of what was installed; while it fits, pip is not run.
- ``jiyi-installing``: exists while packages are written; found later, it tells of an
  interrupted run, whose environment cannot be trusted.
- ``jiyi-start.lock``: an operating-system lock, so it ends with the process that holds it.
- ``jiyi-install.log``: what venv and pip printed.
- ``jiyi-weights-tried``: as old as the last try to fetch the better model's weights, which are
  kept in ``share/jiyi/models``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from launchers.bootstrap.failures import SetupFailed


@dataclass(frozen=True, slots=True)
class Checkout:
    """The folder that holds pyproject.toml, and where things are in its environment."""

    root: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def identity(self) -> str:
        """The folder's path, the same under every locale."""
        return os.fsencode(self.root).decode("utf-8", "backslashreplace")

    @property
    def stamp(self) -> Path:
        return self.venv / "jiyi-ready.json"

    @property
    def marker(self) -> Path:
        return self.venv / "jiyi-installing"

    @property
    def lock(self) -> Path:
        return self.venv / "jiyi-start.lock"

    @property
    def log(self) -> Path:
        return self.venv / "jiyi-install.log"

    @property
    def weights_folder(self) -> Path:
        return self.venv / "share" / "jiyi" / "models"

    @property
    def weights_tried(self) -> Path:
        return self.venv / "jiyi-weights-tried"

    @property
    def python(self) -> Path:
        return self._program("python")

    @property
    def jiyi(self) -> Path:
        return self._program("jiyi")

    def _program(self, name: str) -> Path:
        return self.venv / ("Scripts" if os.name == "nt" else "bin") / (name + _EXE_SUFFIX)


_EXE_SUFFIX = ".exe" if os.name == "nt" else ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a finished installation was made from.

    ``checkout`` is the folder's identity (environments cannot be moved), ``project`` the hash
    of pyproject.toml, ``python`` like ``3.11``, ``entries`` the names in site-packages.
    """

    checkout: str
    project: str
    extras: tuple[str, ...]
    python: str
    entries: tuple[str, ...]


def condition(checkout: Checkout, extras: Sequence[str]) -> str:
    """State of the environment, without running anything.

    ``missing``; ``unusable`` (moved, damaged or left half made); ``unknown`` (made by someone
    else, or not seen to its end); ``outdated`` (pyproject.toml changed, or an extra is
    wanted); ``ready``.
    """
    if not (checkout.venv / "pyvenv.cfg").is_file():
        return "missing"
    if checkout.marker.exists():
        return "unknown" if _pip_finished(checkout.log) else "unusable"
    stamp = read_stamp(checkout.stamp)
    if stamp is None:
        return "unknown"
    if not _still_whole(checkout, stamp):
        return "unusable"
    same_project = stamp.project == project_hash(checkout)
    return "ready" if same_project and set(extras) <= set(stamp.extras) else "outdated"


def _pip_finished(log: Path) -> bool:
    """Whether pip reached its end although the start that ran it was killed.

    An assistant ends a server that does not answer in time; its next try should find the
    packages there instead of beginning again.
    """
    try:
        return "\nSuccessfully installed " in log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _still_whole(checkout: Checkout, stamp: Stamp) -> bool:
    if stamp.checkout != checkout.identity:
        return False
    if not all(os.access(program, os.X_OK) for program in (checkout.python, checkout.jiyi)):
        return False
    # `python3` of the system may have become another version under an environment's link.
    linked = re.fullmatch(r"python(\d+\.\d+)", checkout.python.resolve().name)
    if linked and linked[1] != stamp.python:
        return False
    return set(stamp.entries) <= set(installed_entries(checkout, stamp.python))


def installed_entries(checkout: Checkout, python: str) -> tuple[str, ...]:
    """Names in site-packages whose disappearance means damage (versions left out)."""
    try:
        names = os.listdir(site_packages(checkout, python))
    except OSError:
        return ()
    return tuple(sorted(n for n in names if n != "__pycache__" and not n.endswith("-info")))


def site_packages(checkout: Checkout, python: str) -> Path:
    """Where the environment's packages are; ``python`` is its version, like ``3.11``."""
    library = "Lib" if os.name == "nt" else f"lib/python{python}"
    return checkout.venv / library / "site-packages"


def project_hash(checkout: Checkout) -> str:
    """Hash of pyproject.toml, which says everything that pip is asked to install."""
    try:
        return hashlib.sha256((checkout.root / "pyproject.toml").read_bytes()).hexdigest()
    except FileNotFoundError:
        raise SetupFailed("not_a_checkout", folder=checkout.root) from None


def read_stamp(path: Path) -> Stamp | None:
    """The stamp in ``path``, or ``None`` where there is none that can be read."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return Stamp(
            checkout=str(raw["checkout"]),
            project=str(raw["project"]),
            extras=tuple(map(str, raw["extras"])),
            python=str(raw["python"]),
            entries=tuple(map(str, raw["entries"])),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_stamp(path: Path, stamp: Stamp) -> None:
    """Write atomically: a stamp that exists is complete."""
    half = path.with_suffix(".part")
    half.write_text(json.dumps(asdict(stamp)), encoding="utf-8")
    half.replace(path)
