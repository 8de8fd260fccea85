"""The store's file: opening it, reading it from many threads, writing it from one.

WAL mode lets readers of every process go on while one writes. Reads take a pooled
connection for one consistent snapshot; a write is one ``BEGIN IMMEDIATE`` transaction, since a
deferred one that reads first fails at once when another process wrote meanwhile.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.domain.errors import Busy, JiyiError, NewerSchema, StorageDamaged, StoreUnavailable

Connection = sqlite3.Connection
Row = sqlite3.Row

SCHEMA_VERSION = 3
FILE_NAME = "jiyi.db"
_MAX_IDLE_READERS = 8
_CLOSING_S = 1.0


class Database:
    """One store file. Thread-safe; create with :func:`open_database`.

    ``created`` tells whether this opening made the store.
    """

    def __init__(
        self,
        path: Path,
        *,
        writable: bool = True,
        busy_timeout_s: float = 30.0,
        synchronous: str = "normal",
    ) -> None:
        self.path = path
        self.writable = writable
        self.created = False
        self._busy_timeout_s = busy_timeout_s
        self._synchronous = synchronous
        self._idle_readers: list[Connection] = []
        self._readers_lock = threading.Lock()
        self._write_lock = threading.RLock()
        self._writer: Connection | None = None
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one snapshot of the store for the length of the block."""
        with _translated(self.path):
            connection = self._take_reader()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection inside one immediate transaction: committed at the end of the block,
        rolled back whole when it raises.

        Raises :class:`Busy` when another process keeps the write lock beyond the time-out and
        :class:`StoreUnavailable` when the store cannot be written.
        """
        if not self.writable:
            raise StoreUnavailable("error.store_readonly", path=str(self.path))
        with _translated(self.path), self._write_lock:
            connection = self._open_writer()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close every connection; reads in flight finish theirs."""
        with self._readers_lock:
            self._closed = True
            idle, self._idle_readers = self._idle_readers, []
        for connection in idle:
            connection.close()
        # A thread that waits for another process's lock cannot be called back; it ends alone.
        if self._write_lock.acquire(timeout=_CLOSING_S):
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.close()
            self._write_lock.release()

    def _take_reader(self) -> Connection:
        with self._readers_lock:
            if self._idle_readers:
                return self._idle_readers.pop()
        connection = connect(self.path, self._busy_timeout_s, writable=self.writable)
        connection.execute("PRAGMA query_only=ON")
        return connection

    def _give_back(self, connection: Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with self._readers_lock:
            keep = self.writable and not self._closed
            if keep and len(self._idle_readers) < _MAX_IDLE_READERS:
                self._idle_readers.append(connection)
                return
        connection.close()

    def _open_writer(self) -> Connection:
        if self._writer is None:
            self._writer = connect(self.path, self._busy_timeout_s)
            self._writer.execute("PRAGMA foreign_keys=ON")
            # NORMAL keeps every acknowledged write over a kill of the process, FULL over a
            # loss of power as well, for some milliseconds a commit.
            self._writer.execute(f"PRAGMA synchronous={_synchronous(self._synchronous)}")
        return self._writer


def open_database(
    home: Path, *, busy_timeout_s: float = 30.0, synchronous: str = "normal"
) -> Database:
    """Open the store in ``home``, creating or upgrading it when needed.

    Opening a store of the current version reads one number and writes nothing. Raises
    :class:`StoreUnavailable`, :class:`StorageDamaged`, :class:`NewerSchema` or :class:`Busy`.
    """
    path = home / FILE_NAME
    writable = _prepare_file(path)
    database = Database(
        path, writable=writable, busy_timeout_s=busy_timeout_s, synchronous=synchronous
    )
    found = schema_version(database)
    if found > SCHEMA_VERSION:
        database.close()
        raise NewerSchema("error.newer_schema", path=str(path), found=found, known=SCHEMA_VERSION)
    if found < SCHEMA_VERSION:
        from engine.storage.migrations import migrate

        with _translated(path):
            database.created = migrate(path, found, busy_timeout_s) and found == 0
    return database


def schema_version(database: Database) -> int:
    """The store's ``PRAGMA user_version``; 0 for a new file."""
    with database.read() as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def connect(path: Path, busy_timeout_s: float, *, writable: bool = True) -> Connection:
    """A configured connection in manual-transaction mode."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{'mode=rw' if writable else _read_only_mode(path)}",
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA mmap_size=268435456")
    connection.execute("PRAGMA cache_size=-16384")
    return connection


def _read_only_mode(path: Path) -> str:
    """WAL readers make files beside the database, which nobody may do in a read-only folder.
    Without a log there, all of the store is in the one file, and it is read as it lies. Such
    a connection would miss what another user's process writes later; none is kept."""
    log = path.with_name(path.name + "-wal")
    if os.access(path.parent, os.W_OK) or (log.exists() and log.stat().st_size > 0):
        return "mode=ro"
    return "mode=ro&immutable=1"


def sqlite_version() -> str:
    """Version of the SQLite library in use."""
    return sqlite3.sqlite_version


def _prepare_file(path: Path) -> bool:
    """Make the folder and an empty private file when there is none; tell if it is writable."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            "error.store_not_created", path=str(path), reason=error.strerror or str(error)
        ) from error
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _synchronous(name: str) -> str:
    return "FULL" if name == "full" else "NORMAL"


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, so that no SQL text reaches a person."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _operational(error, path) from error
    except sqlite3.DatabaseError as error:
        if type(error) is sqlite3.DatabaseError:
            raise StorageDamaged(
                "error.store_damaged", path=str(path), reason=str(error)
            ) from error
        raise


def _operational(error: sqlite3.OperationalError, path: Path) -> JiyiError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy("error.store_busy", path=str(path))
    if code == sqlite3.SQLITE_FULL:
        return StoreUnavailable("error.disk_full", path=str(path))
    if code == sqlite3.SQLITE_READONLY:
        return StoreUnavailable("error.store_readonly", path=str(path))
    return StoreUnavailable("error.store_failed", path=str(path), reason=str(error))
