"""Copies of the store through SQLite's backup interface.

A plain copy of the file misses what is still in the write-ahead log.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.config.placing import move_into_place, sync_folder
from engine.domain.errors import StorageDamaged, StoreUnavailable
from engine.storage.database import read_only_mode
from engine.storage.fulltext import TEXT_INDEXES

PARTIAL = ".partial"
_MEGABYTE = 1_000_000
# What a file system keeps for itself, and what other programs write meanwhile.
_SPARE_BYTES = 8 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class Contents:
    """What a copy holds: layout version, memories outside the trash, and in it. ``text_index``
    is ``ok`` or what FTS5 says of the full-text index; that one can be built again."""

    schema_version: int
    memories: int
    in_trash: int
    text_index: str


def copy_database(source: Path, target: Path) -> Path:
    """Write a verified copy to ``target`` and return its path; see :func:`copy_checked`."""
    copy_checked(source, target)
    return target


def copy_checked(source: Path, target: Path) -> Contents:
    """Write a verified copy of the store at ``source`` to ``target``; return what it holds.

    The copy counts only once it has been opened and checked; until then it has a temporary
    name, so that a half-made one never looks valid. Raises :class:`StorageDamaged`, and
    :class:`StoreUnavailable` when the copy cannot be written; nothing is left behind then.
    """
    partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_small_disk(source, target.parent)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        _copy(source, partial)
        found = contents(partial)
        _sync(partial)
        move_into_place(partial, target)
    except OSError as error:
        raise StoreUnavailable(
            "error.backup_unwritable", path=str(target), reason=error.strerror or str(error)
        ) from error
    finally:
        _remove(partial)
    sync_folder(target.parent)
    return found


def contents(path: Path) -> Contents:
    """What the closed store at ``path`` holds, looked at in full; only its indexes may be
    damaged. Raises :class:`StorageDamaged`."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            if verdict != "ok":
                raise StorageDamaged("error.store_damaged", path=str(path), reason=verdict)
            found = _counted(connection)
    except sqlite3.DatabaseError as error:
        raise StorageDamaged("error.store_damaged", path=str(path), reason=str(error)) from error
    return found


def glance(path: Path, *, in_use: bool = False) -> Contents:
    """What a store says it holds, unchecked and quick. Of a closed one nothing is written
    beside it; one ``in_use`` may have its newest in a log. Raises :class:`StorageDamaged`."""
    address = f"{path.absolute().as_uri()}?mode=ro{'' if in_use else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return Contents(*_numbers(connection), "")
    except sqlite3.DatabaseError as error:
        raise StorageDamaged("error.store_damaged", path=str(path), reason=str(error)) from error


def store_bytes(path: Path) -> int:
    """Size of a store's file and of its write-ahead log."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _refuse_small_disk(source: Path, folder: Path) -> None:
    needed = store_bytes(source) + _SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StoreUnavailable(
            "error.backup_no_space",
            path=str(folder),
            needed=-(-needed // _MEGABYTE),
            free=free // _MEGABYTE,
        )


def _copy(source: Path, partial: Path) -> None:
    address = f"{source.absolute().as_uri()}?{read_only_mode(source)}"
    try:
        with (
            closing(sqlite3.connect(address, uri=True)) as origin,
            closing(sqlite3.connect(partial)) as copy,
        ):
            origin.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code != sqlite3.SQLITE_FULL:
            raise StoreUnavailable(
                "error.backup_unwritable", path=str(partial.parent), reason=str(error)
            ) from error
        raise StoreUnavailable("error.disk_full", path=str(partial.parent)) from error
    except sqlite3.DatabaseError as error:
        raise StorageDamaged("error.store_damaged", path=str(source), reason=str(error)) from error


def _counted(connection: sqlite3.Connection) -> Contents:
    return Contents(*_numbers(connection), _text_verdict(connection))


def _numbers(connection: sqlite3.Connection) -> tuple[int, int, int]:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    row = connection.execute(
        """SELECT coalesce(sum(deleted_at IS NULL), 0), coalesce(sum(deleted_at IS NOT NULL), 0)
        FROM memory"""
    ).fetchone()
    return version, int(row[0]), int(row[1])


def _text_verdict(connection: sqlite3.Connection) -> str:
    """FTS5's own check, since SQLite's says "ok" while an index is broken."""
    for table in (index.table for index in TEXT_INDEXES if _has(connection, index.table)):
        try:
            connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 0)")
        except sqlite3.DatabaseError as error:
            return str(error)
    connection.rollback()
    return "ok"


def _has(connection: sqlite3.Connection, table: str) -> bool:
    query = "SELECT 1 FROM sqlite_schema WHERE name = ?"
    return connection.execute(query, (table,)).fetchone() is not None


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _remove(partial: Path) -> None:
    for name in (partial.name, f"{partial.name}-journal", f"{partial.name}-wal"):
        # A disk that fails is reported by what failed first.
        with suppress(OSError):
            partial.with_name(name).unlink(missing_ok=True)
