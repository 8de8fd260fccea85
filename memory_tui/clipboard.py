"""A copy in a file, for terminals that take nothing into the clipboard."""

from __future__ import annotations

from pathlib import Path

from engine.domain.errors import StoreUnavailable

_NAME = "copied.txt"


def write_copy(folder: Path, text: str) -> Path:
    """Write a text to ``copied.txt`` in a folder, for its owner alone, and return the path.
    Raises StoreUnavailable where it cannot be written."""
    path = folder / _NAME
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
    except OSError as error:
        raise StoreUnavailable("tui.copy_not_written", path=str(path)) from error
    return path
