"""Opening the store's file: new, shared, newer, foreign, blocked, read-only."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.domain.errors import NewerSchema, StorageDamaged, StoreUnavailable
from engine.storage import workspaces
from engine.storage.database import FILE_NAME, SCHEMA_VERSION, open_database, schema_version
from tests.engine.storage.outside import open_at

POSIX = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")


def state(home: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in home.rglob("*")
        if path.is_file()
    }


def test_a_new_store_is_made_with_its_folders(home: Path) -> None:
    database = open_database(home / "deep" / "er")
    assert schema_version(database) == SCHEMA_VERSION
    assert database.writable
    database.close()
    assert (home / "deep" / "er" / FILE_NAME).is_file()


def test_a_home_with_blanks_and_chinese_characters_works(tmp_path: Path) -> None:
    home = tmp_path / "我的 记忆库(新) %41 #1?"
    database = open_database(home)
    database.close()
    assert (home / FILE_NAME).is_file()


@POSIX
def test_a_new_store_is_private(home: Path) -> None:
    before = os.umask(0o022)
    try:
        database = open_database(home)
        with database.write() as connection:
            connection.execute("UPDATE store SET created_at = 1")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
        database.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert modes == {FILE_NAME: 0o600, f"{FILE_NAME}-wal": 0o600, f"{FILE_NAME}-shm": 0o600}


def test_eight_processes_that_start_at_once_all_get_the_same_new_store(home: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(8, mp_context=context) as pool:
        moment = time.time() + 2.0
        opened = [pool.submit(open_at, str(home), moment) for _ in range(8)]
        assert [future.result(60) for future in opened] == [SCHEMA_VERSION] * 8
    connection = sqlite3.connect(home / FILE_NAME)
    assert connection.execute("SELECT count(*) FROM store").fetchone()[0] == 1
    connection.close()
    assert not (home / "backups").exists()


def test_opening_an_existing_store_writes_nothing(home: Path) -> None:
    open_database(home).close()
    before = state(home)
    database = open_database(home)
    with database.read() as connection:
        connection.execute("SELECT count(*) FROM memory").fetchone()
    database.close()
    assert state(home) == before


def test_a_store_of_a_newer_version_is_refused_and_left_alone(home: Path) -> None:
    open_database(home).close()
    connection = sqlite3.connect(home / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = state(home)
    with pytest.raises(NewerSchema) as caught:
        open_database(home)
    assert caught.value.params["found"] == SCHEMA_VERSION + 1
    assert state(home) == before


@pytest.mark.parametrize(
    "content", [b"not a database" * 100, b"SQLite format 3\x00" + b"\xff" * 200]
)
def test_a_file_that_is_no_database_is_named_and_left_alone(home: Path, content: bytes) -> None:
    home.mkdir()
    (home / FILE_NAME).write_bytes(content)
    with pytest.raises(StorageDamaged) as caught:
        open_database(home)
    assert caught.value.params["path"] == str(home / FILE_NAME)
    assert (home / FILE_NAME).read_bytes() == content


def test_a_folder_in_the_way_of_the_file_is_a_clear_refusal(home: Path) -> None:
    (home / FILE_NAME).mkdir(parents=True)
    with pytest.raises(StoreUnavailable):
        open_database(home)


def test_a_file_in_the_way_of_the_folder_is_a_clear_refusal(home: Path) -> None:
    home.write_text("", encoding="utf-8")
    with pytest.raises(StoreUnavailable) as caught:
        open_database(home)
    assert caught.value.key == "error.store_not_created"


READ_ONLY_VISIT = """
import os, sys
from pathlib import Path
from engine.domain.errors import StoreUnavailable
from engine.storage.database import open_database
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
database = open_database(Path(sys.argv[1]))
assert database.writable is False
with database.read() as connection:
    print(connection.execute("SELECT count(*) FROM workspace").fetchone()[0], flush=True)
try:
    with database.write():
        raise AssertionError("was allowed to write")
except StoreUnavailable as error:
    print(error.key)
database.close()
"""


@contextmanager
def read_only(home: Path) -> Iterator[None]:
    """Nobody may write in ``home``, and everybody may look into the folders above."""
    above = [place for place in home.parents if not place.stat().st_mode & stat.S_IXOTH]
    modes = {place: stat.S_IMODE(place.stat().st_mode) for place in [*home.iterdir(), home, *above]}
    for place, mode in modes.items():
        place.chmod(mode | 0o555 if place in above else 0o555 if place == home else 0o444)
    try:
        yield
    finally:
        for place, mode in modes.items():
            place.chmod(mode)


@POSIX
@pytest.mark.parametrize("being_written", [True, False], ids=["while-written", "at-rest"])
def test_a_read_only_store_is_read_and_refuses_to_write(home: Path, being_written: bool) -> None:
    database = open_database(home)
    with database.write() as connection:
        workspaces.ensure(connection, "one", 1.0)
    if not being_written:
        database.close()
    with read_only(home):
        visit = subprocess.run(
            [sys.executable, "-c", READ_ONLY_VISIT, str(home)],
            capture_output=True, text=True, encoding="utf-8", check=False, timeout=60,
        )  # fmt: skip
    database.close()
    assert visit.stdout.split() == ["1", "error.store_readonly"], visit.stderr
