"""Putting a backup in the place of the store while others may have it open.

Nothing is copied over an open file: there the old write-ahead log would be replayed over it.
The backup is made ready beside the store, and SQLite writes it into the store in one
transaction. Every process that has the store open goes on with the restored content at its
next look, since every subject is marked as changed.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from engine.config.placing import move_into_place, sync_folder
from engine.domain.errors import Busy, JiyiError, NewerSchema, StorageDamaged, StoreUnavailable
from engine.storage import backup, changes, fulltext, integrity, journal
from engine.storage.backup import Contents
from engine.storage.database import SCHEMA_VERSION, Connection, connect
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject

OPERATION = "restore_backup"
_ATTEMPTS = 8
_PAGES = 16
# SQLite's processes each hold a shared lock on this byte of the log's index while open.
_IN_USE_BYTE = 128
# Above what a store that cannot be read any more may have counted.
_FAR = 1 << 40


@dataclass(frozen=True, slots=True)
class Replacement:
    """A backup at ``source`` for the store at ``store``.

    ``before`` is where the store as it was is kept, ``aside`` where, if it is damaged;
    ``wait_s`` how long others may keep the store; ``stamp`` goes into the restored journal.
    """

    source: Path
    store: Path
    before: Path
    aside: Path
    wait_s: float
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Replaced:
    """``contents`` of the restored store; ``before`` is the copy of the store as it was and
    ``contents_before`` what it holds, both ``None`` if there was no readable store; ``aside``
    is the damaged file that was put aside."""

    contents: Contents
    before: Path | None = None
    contents_before: Contents | None = None
    aside: Path | None = None


def replace_store(wanted: Replacement, folder: Path) -> Replaced:
    """Restore a backup, working in the empty ``folder`` on the store's disk.

    The store ends as it was or restored whole. Raises :class:`StorageDamaged` for a backup
    that is damaged, :class:`NewerSchema` for one of a newer program, :class:`Busy` when others
    keep writing or have a store open whose file has to be replaced.
    """
    staged = _staged(wanted, folder)
    try:
        if not wanted.store.exists():
            return _put_in_place(wanted, staged, None)
        if not _is_database(wanted.store):
            _refuse_in_use(wanted.store)
            return _put_in_place(wanted, staged, _set_aside(wanted, move=True))
        return _switch_over(wanted, staged)
    except OSError as error:
        raise StoreUnavailable(
            "error.store_failed", path=str(wanted.store), reason=error.strerror or str(error)
        ) from error


def is_open_elsewhere(path: Path) -> bool:
    """Whether another process has the store open, by the locks of the system.

    Only for a process that has no connection to it. False where the system cannot tell; a file
    that is open cannot be replaced there.
    """
    index = path.with_name(f"{path.name}-shm")
    if os.name != "posix" or not index.exists():
        return False
    import fcntl

    with index.open("rb+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _IN_USE_BYTE)
        except OSError:
            return True
        fcntl.lockf(file, fcntl.LOCK_UN, 1, _IN_USE_BYTE)
    return False


def _staged(wanted: Replacement, folder: Path) -> Path:
    """A checked copy of the backup of the current layout with a sound text index."""
    staged = backup.copy_database(wanted.source, folder / wanted.store.name)
    found = backup.glance(staged)
    if found.schema_version > SCHEMA_VERSION:
        raise NewerSchema(
            "error.newer_schema",
            path=str(wanted.source),
            found=found.schema_version,
            known=SCHEMA_VERSION,
        )
    if found.schema_version < SCHEMA_VERSION:
        from engine.storage.migrations import migrate

        migrate(staged, found.schema_version, wanted.wait_s)
    with _changing(staged, wanted.wait_s) as connection:
        _mend_text(connection)
        _begin_history(connection, wanted)
    return staged


def _mend_text(connection: Connection) -> None:
    counted = integrity.counts(connection)
    if counted.indexed_rows_agree and integrity.fulltext_verdict(connection) == "ok":
        return
    for index in fulltext.TEXT_INDEXES:
        fulltext.rebuild(connection, index)


def _begin_history(connection: Connection, wanted: Replacement) -> None:
    """Caches of the old history are of no use any more, and its processes are not here."""
    connection.execute("UPDATE store SET history_uid = ?", (new_uid(),))
    connection.execute("DELETE FROM process")
    connection.execute("DELETE FROM lease")
    named: tuple[None, str] = (None, wanted.source.stem)
    subject = Subject(0, "", journal.STORE)
    journal.append(connection, wanted.stamp, OPERATION, subject, {"backup": named})


def _switch_over(wanted: Replacement, staged: Path) -> Replaced:
    """Let SQLite write the staged store into the open one.

    Who writes is kept out while the store as it was is copied. Should one get in before the
    transaction begins, all is done again: what it wrote belongs into the copy.
    """
    for _ in range(_ATTEMPTS):
        with closing(_connected(wanted.store, wanted.wait_s)) as watch:
            with _kept_out(wanted):
                kept = _keep(wanted)
                with _changing(staged, wanted.wait_s) as connection:
                    _go_on_counting(connection, wanted.store)
                version = _data_version(watch)
            try:
                if _overwrite(staged, wanted, watch, version):
                    return replace(kept, contents=backup.contents(staged))
            except JiyiError:
                _drop(kept)
                raise
            _drop(kept)
    raise Busy("error.store_busy", path=str(wanted.store))


def _drop(kept: Replaced) -> None:
    """Take the copy away again of a store that stays as it is."""
    if kept.before is not None:
        kept.before.unlink(missing_ok=True)


@contextmanager
def _kept_out(wanted: Replacement) -> Iterator[None]:
    """Nobody else writes for the length of the block; a damaged store may not be lockable."""
    with closing(_connected(wanted.store, wanted.wait_s)) as holder:
        try:
            holder.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise Busy("error.store_busy", path=str(wanted.store)) from error
            raise StoreUnavailable(
                "error.store_failed", path=str(wanted.store), reason=str(error)
            ) from error
        except sqlite3.DatabaseError:
            yield
            return
        try:
            yield
        finally:
            if holder.in_transaction:
                holder.execute("ROLLBACK")


def _keep(wanted: Replacement) -> Replaced:
    nothing = Contents(0, 0, 0, "")
    try:
        found = backup.copy_checked(wanted.store, wanted.before)
    except StorageDamaged:
        return Replaced(nothing, aside=_set_aside(wanted, move=False))
    return Replaced(nothing, wanted.before, found)


def _go_on_counting(connection: Connection, store: Path) -> None:
    """Numbers that the store gave are not given again, and all that it or the backup has is
    marked as changed after its last change."""
    numbers: dict[str, int] = {}
    subjects: set[tuple[str, int]] = set()
    try:
        with closing(_connected(store, 1.0)) as live:
            subjects.update(_subjects(live))
            numbers = _numbers(live)
    except sqlite3.DatabaseError:
        numbers = {"change": _FAR}
    for name, number in numbers.items():
        connection.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, name)
        )
        connection.execute(
            """INSERT INTO sqlite_sequence (name, seq) SELECT :name, :number
            WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)""",
            {"name": name, "number": number},
        )
    for kind, subject_id in sorted(subjects | set(_subjects(connection))):
        changes.mark(connection, kind, [subject_id])


def _subjects(connection: Connection) -> list[tuple[str, int]]:
    rows = connection.execute("SELECT subject_kind, subject_id FROM change")
    return [(str(row[0]), int(row[1])) for row in rows]


def _numbers(connection: Connection) -> dict[str, int]:
    rows = connection.execute("SELECT name, seq FROM sqlite_sequence")
    return {str(row[0]): int(row[1]) for row in rows}


class _WrittenMeanwhile(Exception):
    """Somebody wrote into the store after it was copied."""


def _overwrite(staged: Path, wanted: Replacement, watch: Connection, version: int) -> bool:
    """Write the staged store over the open one; false when another was faster."""
    deadline = time.monotonic() + wanted.wait_s
    looked = False

    def guard(status: int, _remaining: int, _total: int) -> None:
        nonlocal looked
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            if time.monotonic() > deadline:
                raise Busy("error.store_busy", path=str(wanted.store))
        elif not looked:
            # The write lock is ours from the first page on, until all is written.
            looked = True
            if _data_version(watch) != version:
                raise _WrittenMeanwhile

    try:
        with closing(_connected(staged, 1.0)) as origin, closing(_target(wanted.store)) as target:
            origin.backup(target, pages=_PAGES, progress=guard, sleep=0.01)
    except _WrittenMeanwhile:
        return False
    except sqlite3.OperationalError as error:
        full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
        key = "error.disk_full" if full else "error.store_failed"
        raise StoreUnavailable(key, path=str(wanted.store), reason=str(error)) from error
    return True


def _put_in_place(wanted: Replacement, staged: Path, aside: Path | None) -> Replaced:
    """Where nothing is that could be written into, the staged file becomes the store."""
    found = backup.contents(staged)
    with closing(_target(staged)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    for name in ("-wal", "-shm", "-journal"):
        # A log that outlived its database would be replayed over the new one.
        wanted.store.with_name(wanted.store.name + name).unlink(missing_ok=True)
    move_into_place(staged, wanted.store)
    sync_folder(wanted.store.parent)
    return Replaced(found, aside=aside)


def _set_aside(wanted: Replacement, *, move: bool) -> Path:
    """Keep the files of a damaged store: perhaps somebody can read more out of them."""
    act = move_into_place if move else shutil.copyfile
    log = wanted.store.with_name(f"{wanted.store.name}-wal")
    wanted.aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for source, target in ((wanted.store, ""), (log, "-wal")):
        if source.exists():
            kept = wanted.aside.with_name(wanted.aside.name + target)
            act(source, kept)
            kept.chmod(0o600)
    return wanted.aside


def _refuse_in_use(store: Path) -> None:
    if is_open_elsewhere(store):
        raise Busy("error.restore_in_use", path=str(store))


def _is_database(path: Path) -> bool:
    try:
        with closing(_connected(path, 1.0)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError:
        return True
    except sqlite3.DatabaseError:
        return False
    return True


def _data_version(connection: Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


@contextmanager
def _changing(path: Path, wait_s: float) -> Iterator[Connection]:
    """A transaction on the staged store, which nobody else knows."""
    with closing(connect(path, wait_s)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _connected(path: Path, wait_s: float) -> Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=wait_s, isolation_level=None
    )


def _target(path: Path) -> Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0.0, isolation_level=None
    )
