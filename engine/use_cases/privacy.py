"""Can other accounts of this computer read the store?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.context import EngineContext


@dataclass(frozen=True, slots=True)
class ExposedFile:
    """A file or folder that others may open; ``mode`` is its permission bits, ``0644``."""

    path: Path
    mode: str


def exposed_files(context: EngineContext) -> tuple[ExposedFile, ...]:
    """What in the home folder others can read, the folder itself first.

    Files in a folder that is closed to others are safe and not listed. Empty on Windows,
    where a user's folder is private by inheritance.
    """
    if os.name == "nt" or not _open_to_others(context.home):
        return ()
    return tuple(
        ExposedFile(path, f"{stat.S_IMODE(path.stat().st_mode):04o}")
        for path in _paths(context.home)
        if path.exists() and _open_to_others(path)
    )


def _paths(home: Path) -> Iterator[Path]:
    yield home
    for folder, folders, names in os.walk(home):
        yield from (Path(folder) / name for name in sorted(folders + names))


def _open_to_others(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)
