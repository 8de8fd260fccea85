"""Old entries of the journal: which may go, and the compressed files that they go to.

A file holds JSON lines, one an entry, in gzip members of some thousand; a kill between writing
a member and removing its rows leaves them in both places, so readers go by the entry's id.
Only whole undo groups go.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.storage.database import Connection

FOLDER = "journal"
# What a row takes beside its changes: ids, uids, names and three indexes.
_ROW_BYTES = 250
_COLUMNS = """id, group_uid, at, operation, actor, subject_kind, subject_id, subject_uid, changes,
    other_id, undoes"""
_NAMES = tuple(name.strip() for name in _COLUMNS.split(","))

Line = dict[str, str | float | int | None]


@dataclass(frozen=True, slots=True)
class Measure:
    """How many entries there are, their size in bytes (about), and the first one to keep."""

    entries: int
    size_bytes: int
    keep_from: int


def measure(connection: Connection, keep_since: float, max_bytes: int) -> Measure:
    """Walk the journal once, newest first, without reading contents into memory.

    Kept is what is both younger than ``keep_since`` (epoch seconds) and, counted from the
    newest, within ``max_bytes``.
    """
    first = connection.execute(
        "SELECT id FROM journal WHERE at >= ? ORDER BY id LIMIT 1", (keep_since,)
    ).fetchone()
    rows = connection.execute(
        "SELECT id, length(CAST(changes AS BLOB)) FROM journal ORDER BY id DESC"
    )
    entries = size = 0
    by_size = newest = 0
    for entry_id, length in rows:
        newest = newest or entry_id
        entries += 1
        size += length + _ROW_BYTES
        if size > max_bytes and not by_size:
            by_size = entry_id + 1
    by_age = int(first[0]) if first else newest + 1
    return Measure(entries, size, max(by_age, by_size))


def next_groups(connection: Connection, keep_from: int, limit: int) -> list[str]:
    """Groups all of whose entries may go, the oldest first, of about ``limit`` entries."""
    rows = connection.execute(
        """SELECT group_uid FROM journal j WHERE id < :keep_from AND NOT EXISTS
        (SELECT 1 FROM journal g WHERE g.group_uid = j.group_uid AND g.id >= :keep_from)
        ORDER BY id LIMIT :row_limit""",
        {"keep_from": keep_from, "row_limit": limit},
    )
    return list(dict.fromkeys(str(row[0]) for row in rows))


def rows_of(connection: Connection, group_uids: Sequence[str]) -> Iterator[Line]:
    """The entries of groups as lines, oldest first."""
    rows = connection.execute(
        f"""SELECT {_COLUMNS} FROM journal
        WHERE group_uid IN (SELECT value FROM json_each(?)) ORDER BY id""",
        (json.dumps(list(group_uids)),),
    )
    for row in rows:
        yield dict(zip(_NAMES, row, strict=True))


def remove(connection: Connection, group_uids: Sequence[str]) -> int:
    """Remove the entries of groups; return how many."""
    cursor = connection.execute(
        "DELETE FROM journal WHERE group_uid IN (SELECT value FROM json_each(?))",
        (json.dumps(list(group_uids)),),
    )
    return cursor.rowcount


def append_lines(home: Path, name: str, lines: Iterator[Line]) -> Path:
    """Add lines to a file of the archive as one gzip member, on disk when this returns. The
    file is its owner's alone."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o600)
    with os.fdopen(handle, "ab") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=5, mtime=0) as packed:
            for line in lines:
                packed.write(json.dumps(line, ensure_ascii=False).encode("utf-8") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return path


def files(home: Path) -> list[Path]:
    """The files of the archive, oldest first."""
    folder = home / FOLDER
    return sorted(folder.glob("journal-*.jsonl.gz")) if folder.is_dir() else []


def lines_in(path: Path) -> Iterator[str]:
    """The lines of a file as far as they can be read: the last one may be half-written."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        try:
            yield from file
        except (EOFError, OSError, zlib.error):
            return


def rewrite(path: Path, changed: Callable[[Line], Line]) -> None:
    """Write a file anew, each line changed; a kill leaves the old file or the new one."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    append_lines(path.parent.parent, partial.name, map(changed, _readable(path)))
    os.replace(partial, path)


def _readable(path: Path) -> Iterator[Line]:
    for line in lines_in(path):
        try:
            read = json.loads(line)
        except ValueError:
            continue
        if isinstance(read, dict):
            yield read
