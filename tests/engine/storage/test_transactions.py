"""Writing whole or not at all, waiting for others, reading meanwhile."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.domain.errors import Busy, StorageDamaged, StoreUnavailable
from engine.storage import workspaces
from engine.storage.database import Database, open_database


@contextmanager
def locked_by_another_process(home: Path, seconds: float) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.engine.storage.outside", str(home), str(seconds)]
    holder = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        yield
    finally:
        holder.kill()
        holder.communicate()


def names(database: Database) -> list[str]:
    with database.read() as connection:
        return workspaces.names(connection)


def test_an_error_takes_back_the_whole_write(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.write() as connection:
        workspaces.ensure(connection, "one", 1.0)
        workspaces.ensure(connection, "two", 1 / 0)
    assert names(database) == []
    with database.write() as connection:
        workspaces.ensure(connection, "three", 1.0)
    assert names(database) == ["three"]


def test_an_interrupted_write_is_taken_back_and_the_next_one_works(database: Database) -> None:
    with pytest.raises(KeyboardInterrupt), database.write() as connection:
        workspaces.ensure(connection, "one", 1.0)
        raise KeyboardInterrupt
    with database.write() as connection:
        workspaces.ensure(connection, "two", 1.0)
    assert names(database) == ["two"]


def test_a_wrong_reference_is_refused_by_the_database(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        connection.execute("INSERT INTO workspace_root VALUES ('path', '/x', 99)")


def test_a_reader_sees_one_moment_while_others_write(database: Database) -> None:
    with database.read() as reader:
        assert workspaces.names(reader) == []
        with database.write() as connection:
            workspaces.ensure(connection, "one", 1.0)
        assert workspaces.names(reader) == []
    assert names(database) == ["one"]


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreUnavailable) as caught, database.read() as connection:
        workspaces.ensure(connection, "one", 1.0)
    assert caught.value.key == "error.store_readonly"


def test_a_lock_held_for_too_long_is_named_and_reading_goes_on(home: Path) -> None:
    database = open_database(home, busy_timeout_s=0.3)
    with locked_by_another_process(home, 20.0):
        started = time.monotonic()
        assert names(database) == []
        late = open_database(home, busy_timeout_s=0.3)
        assert names(late) == []
        assert time.monotonic() - started < 0.3
        with pytest.raises(Busy), late.write():
            pass
        late.close()
    with database.write() as connection:
        workspaces.ensure(connection, "one", 1.0)
    database.close()


def test_a_writer_waits_for_a_lock_that_is_given_back(home: Path) -> None:
    database = open_database(home, busy_timeout_s=10.0)
    with locked_by_another_process(home, 0.5), database.write() as connection:
        workspaces.ensure(connection, "one", 1.0)
    assert names(database) == ["one"]
    database.close()


def test_threads_write_one_after_the_other_and_read_at_will(database: Database) -> None:
    def work(number: int) -> None:
        for turn in range(10):
            with database.write() as connection:
                workspaces.ensure(connection, f"{number}-{turn}", 1.0)
            names(database)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names(database)) == 80


def test_a_read_before_a_write_in_one_transaction_never_fails_for_being_late(home: Path) -> None:
    one, two = open_database(home, busy_timeout_s=5.0), open_database(home, busy_timeout_s=5.0)
    with one.read() as reader:
        workspaces.names(reader)
        with two.write() as connection:
            workspaces.ensure(connection, "first", 1.0)
        with one.write() as connection:
            assert workspaces.names(connection) == ["first"]
            workspaces.ensure(connection, "second", 1.0)
    assert names(two) == ["first", "second"]
    one.close()
    two.close()


def test_damage_inside_the_file_is_named_without_sql(home: Path) -> None:
    database = open_database(home)
    with database.write() as connection:
        for number in range(500):
            workspaces.ensure(connection, f"workspace {number}", 1.0)
    database.close()
    with database.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (database.path.stat().st_size - 4096))
    with pytest.raises(StorageDamaged) as caught:
        names(open_database(home))
    assert caught.value.params["path"] == str(database.path)
    assert "SELECT" not in str(caught.value)
