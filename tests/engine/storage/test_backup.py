"""Copies of a store that is in use."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from engine.domain.errors import StorageDamaged
from engine.storage import backup, backup_files, workspaces
from engine.storage.database import Database, open_database
from tests.engine.storage.outside import copy_and_die


def filled(database: Database, count: int) -> None:
    with database.write() as connection:
        for number in range(count):
            workspaces.ensure(connection, f"w{number}", 1.0)


def rows_in(path: Path) -> int:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM workspace").fetchone()[0])
    finally:
        connection.close()


def test_a_copy_holds_what_is_still_in_the_log(database: Database, tmp_path: Path) -> None:
    filled(database, 100)
    assert database.path.with_name("jiyi.db-wal").stat().st_size > 0
    copy = backup.copy_database(database.path, tmp_path / "copies" / "one.db")
    assert rows_in(copy) == 100
    assert [path.name for path in copy.parent.iterdir()] == ["one.db"]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_copy_is_private(database: Database, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        copy = backup.copy_database(database.path, tmp_path / "copies" / "one.db")
    finally:
        os.umask(before)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700


def test_a_copy_can_be_opened_as_a_store(database: Database, tmp_path: Path) -> None:
    filled(database, 3)
    backup.copy_database(database.path, tmp_path / "second" / "jiyi.db")
    second = open_database(tmp_path / "second")
    filled(second, 5)
    assert rows_in(second.path) == 5
    assert rows_in(database.path) == 3
    second.close()


def test_a_killed_copy_never_looks_like_a_whole_one(database: Database, tmp_path: Path) -> None:
    filled(database, 10)
    target = tmp_path / "copies" / "one.db"
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=copy_and_die, args=(str(database.path), str(target)))
    process.start()
    process.join(30)
    assert process.exitcode == 9
    (left,) = target.parent.iterdir()
    assert left.suffix == backup.PARTIAL
    assert backup_files.listed(target.parent) == []
    backup.copy_database(database.path, target)
    assert [file.path for file in backup_files.listed(target.parent)] == [target]
    assert rows_in(target) == 10


def test_a_copy_replaces_an_older_one_only_when_it_is_whole(
    database: Database, tmp_path: Path
) -> None:
    filled(database, 200)
    target = backup.copy_database(database.path, tmp_path / "one.db")
    database.close()
    with database.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 40_000)
    with pytest.raises((StorageDamaged, sqlite3.DatabaseError)):
        backup.copy_database(database.path, target)
    assert rows_in(target) == 200
