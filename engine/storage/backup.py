"""Copies of the store through SQLite's backup interface.

A plain copy of the file misses what is still in the write-ahead log.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from engine.domain.errors import StorageDamaged


def copy_database(source: Path, target: Path) -> Path:
    """Write a verified copy of the store at ``source`` to ``target`` and return its path.

    The copy counts only once it has been opened and checked; until then it has a temporary
    name, so that a half-made one never looks valid. Raises :class:`StorageDamaged`.
    """
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_CREAT | os.O_RDWR, 0o600))
    _copy(source, partial)
    os.replace(partial, target)
    return target


def _copy(source: Path, partial: Path) -> None:
    origin = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)
    copy = sqlite3.connect(partial)
    try:
        origin.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        verdict = str(copy.execute("PRAGMA quick_check(1)").fetchone()[0])
    finally:
        copy.close()
        origin.close()
    if verdict != "ok":
        raise StorageDamaged("error.store_damaged", path=str(source), reason=verdict)
