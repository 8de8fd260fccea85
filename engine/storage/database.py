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
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.domain.errors import Busy, JiyiError, NewerSchema, StorageDamaged, StoreUnavailable
from engine.storage.places import NETWORK, place_of

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
    def write(self, wait_s: float | None = None) -> Iterator[Connection]:
        """A connection inside one immediate transaction: committed at the end of the block,
        rolled back whole when it raises.

        Raises :class:`Busy` when someone keeps the write lock beyond the time-out (the store's,
        or ``wait_s``) and :class:`StoreUnavailable` when the store cannot be written.
        """
        if not self.writable:
            raise StoreUnavailable("error.store_readonly", path=str(self.path))
        with _translated(self.path), self._turn_to_write(wait_s):
            connection = self._open_writer()
            self._begin(connection, wait_s)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _turn_to_write(self, wait_s: float | None) -> Iterator[None]:
        if not self._write_lock.acquire(timeout=-1 if wait_s is None else wait_s):
            raise Busy("error.store_busy", path=str(self.path))
        try:
            yield
        finally:
            self._write_lock.release()

    def _begin(self, connection: Connection, wait_s: float | None) -> None:
        if wait_s is None:
            connection.execute("BEGIN IMMEDIATE")
            return
        connection.execute(f"PRAGMA busy_timeout={round(wait_s * 1000)}")
        try:
            connection.execute("BEGIN IMMEDIATE")
        finally:
            connection.execute(f"PRAGMA busy_timeout={round(self._busy_timeout_s * 1000)}")

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def close(self) -> None:
        """Close every connection; reads in flight finish theirs."""
        with self._readers_lock:
            self._closed = True
        self.let_readers_go()
        # A thread that waits for another process's lock cannot be called back; it ends alone.
        if self._write_lock.acquire(timeout=_CLOSING_S):
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.close()
            self._write_lock.release()

    def let_readers_go(self) -> None:
        """Close the connections that nobody reads from now."""
        with self._readers_lock:
            idle, self._idle_readers = self._idle_readers, []
        for connection in idle:
            connection.close()

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
    if writable:
        with _translated(path):
            _choose_log(database)
    return database


def _choose_log(database: Database) -> None:
    """A write-ahead log, which a copy that was put here lacks; none on a network drive, since
    it needs memory that all who have the store open share. Who has it open now keeps it as it
    is until a later opening."""
    wanted = "delete" if place_of(database.path.parent).kind == NETWORK else "wal"
    with database.read() as connection:
        present = str(connection.execute("PRAGMA journal_mode").fetchone()[0])
    if present == wanted:
        return
    database.let_readers_go()
    connection = connect(database.path, _CLOSING_S)
    with suppress(sqlite3.OperationalError):
        connection.execute(f"PRAGMA journal_mode={wanted}")
    connection.close()


def schema_version(database: Database) -> int:
    """The store's ``PRAGMA user_version``; 0 for a new file."""
    with database.read() as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def connect(path: Path, busy_timeout_s: float, *, writable: bool = True) -> Connection:
    """A configured connection in manual-transaction mode."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{'mode=rw' if writable else read_only_mode(path)}",
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


def read_only_mode(path: Path) -> str:
    """How to open a store that is only read, as the query of its address.

    WAL readers make files beside the database, which nobody may do in a read-only folder.
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
