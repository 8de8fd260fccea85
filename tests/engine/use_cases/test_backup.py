"""Backups: what counts as one, which stay, and going back to one under others' feet."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import VERSION
from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import (
    Busy,
    InvalidInput,
    JiyiError,
    NewerSchema,
    NotFound,
    StorageDamaged,
    StoreUnavailable,
)
from engine.storage import backup_files, leases
from engine.storage.database import FILE_NAME, SCHEMA_VERSION
from engine.use_cases.backup import LEASE, RestoreWish, back_up, back_up_daily, restore_backup
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember, remember_all

NEWEST = RestoreWish("newest")
DAY_S = 86_400.0


@pytest.fixture
def other(engine: Engine, home: Path, clock: FixedClock) -> Iterator[Engine]:
    """A second engine on the same store, as another assistant has it."""
    with open_engine(home, environ=HASHING, clock=clock) as opened:
        yield opened


def texts(engine: Engine) -> list[str]:
    return sorted(memory.text for memory in engine.list(limit=100).memories)


def alone(path: Path, tmp_path: Path) -> int:
    """Memories in a copy that is opened elsewhere, without anything beside it."""
    lone = tmp_path / "alone" / FILE_NAME
    lone.parent.mkdir(exist_ok=True)
    shutil.copyfile(path, lone)
    connection = sqlite3.connect(lone)
    try:
        return int(connection.execute("SELECT count(*) FROM memory").fetchone()[0])
    finally:
        connection.close()


def test_a_backup_taken_at_once_holds_all_that_was_just_written(
    engine: Engine, other: Engine, home: Path, tmp_path: Path
) -> None:
    remember_all(other, (f"第 {number} 条" for number in range(100)))
    made = engine.backups.make()
    assert made.contents.memories == alone(made.file.path, tmp_path) == 100
    assert made.contents.text_index == "ok"
    assert made.file.reason == "manual"
    assert made.file.size_bytes == made.file.path.stat().st_size
    assert engine.backups.list() == [made.file]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_backups_are_private(engine: Engine) -> None:
    before = os.umask(0o022)
    try:
        made = engine.backups.make()
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.file.path.parent.stat().st_mode) == 0o700


def test_going_back_leaves_the_backup_and_what_comes_after_and_no_blend(
    engine: Engine, other: Engine, home: Path
) -> None:
    remember_all(engine, (f"早先 {number}" for number in range(10)))
    engine.backups.make(name="十条")
    late = remember_all(other, (f"后来 {number}" for number in range(5)))
    assert found(other, "后来 3", k=1) == [late[3]]

    restored = engine.backups.restore(RestoreWish("十条"), CALLER)

    assert restored.replaced.contents.memories == 10
    assert restored.replaced.contents_before is not None
    assert restored.replaced.contents_before.memories == 15
    new = [remember(engine, "甲写的新记忆"), remember(other, "乙写的新记忆")]
    assert min(new) > max(late), "numbers of the state before are not given again"
    expected = sorted([f"早先 {number}" for number in range(10)] + ["甲写的新记忆", "乙写的新记忆"])
    assert texts(engine) == texts(other) == expected
    for opened in (engine, other):
        assert not set(late) & set(found(opened, "后来 3", k=15))
        assert found(opened, "乙写的新记忆", k=1) == [new[1]]
    assert disagreements(home / FILE_NAME) == []
    assert other.diagnose().healthy


def test_the_state_before_can_be_gone_back_to(engine: Engine, home: Path) -> None:
    remember(engine, "一")
    engine.backups.make(name="one")
    remember(engine, "二")
    restored = engine.backups.restore(RestoreWish("one"), CALLER)
    assert texts(engine) == ["一"]
    assert restored.replaced.before is not None
    engine.backups.restore(RestoreWish(restored.replaced.before.stem), CALLER)
    assert texts(engine) == ["一", "二"]
    (entry,) = journal_of(home)
    assert entry == restored.replaced.before.stem


def journal_of(home: Path) -> list[str]:
    connection = sqlite3.connect(home / FILE_NAME)
    rows = connection.execute("SELECT changes FROM journal WHERE operation = 'restore_backup'")
    found_names = [row[0].split('"')[3] for row in rows]
    connection.close()
    return found_names


def test_a_restore_waits_for_who_writes_and_keeps_what_was_acknowledged(
    engine: Engine, other: Engine, home: Path
) -> None:
    remember(engine, "起点")
    engine.backups.make(name="start")
    written: list[int] = []
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            written.append(remember(other, f"写入 {len(written)}"))

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        while len(written) < 3:
            stop.wait(0.01)
        restored = engine.backups.restore(RestoreWish("start"), CALLER)
        after = len(written)
        while len(written) < after + 3:
            stop.wait(0.01)
    finally:
        stop.set()
        writer.join()
    before = restored.replaced.before
    assert before is not None
    kept = set(ids_in(before)) | {memory.id for memory in engine.list(limit=100).memories}
    assert set(written) <= kept
    assert disagreements(home / FILE_NAME) == []


def ids_in(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    try:
        return [int(row[0]) for row in connection.execute("SELECT id FROM memory")]
    finally:
        connection.close()


def test_a_restore_is_refused_while_somebody_keeps_the_store(engine: Engine, home: Path) -> None:
    remember(engine, "一")
    engine.backups.make(name="one")
    remember(engine, "二")
    holder = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Busy):
            restore_backup(home, RestoreWish("one"), CALLER, now=1.0, wait_s=0.2)
    finally:
        holder.close()
    assert texts(engine) == ["一", "二"]
    assert sorted(path.name for path in (home / "backups").iterdir()) == ["one.db"]


def damage(home: Path, start: int, length: int) -> None:
    with (home / FILE_NAME).open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * length)


DAMAGES = {"no-database": (0, 4_096), "pages": (4_096, 200_000)}


@pytest.mark.parametrize(("start", "length"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_store_is_put_aside_and_restored(
    engine: Engine, home: Path, clock: FixedClock, start: int, length: int
) -> None:
    remember_all(engine, ["一", "二", "三"])
    engine.backups.make()
    engine.close()
    damage(home, start, length)
    restored = restore_backup(home, NEWEST, CALLER, now=clock.now())
    assert restored.replaced.before is None
    assert restored.replaced.aside is not None
    assert restored.replaced.aside.stat().st_size > 0
    with open_engine(home, environ=HASHING, clock=clock) as opened:
        assert texts(opened) == sorted(["一", "二", "三"])
        assert opened.diagnose().healthy
    assert disagreements(home / FILE_NAME) == []
    assert journal_mode(home) == "wal"


def journal_mode(home: Path) -> str:
    connection = sqlite3.connect(home / FILE_NAME)
    try:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])
    finally:
        connection.close()


@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file cannot be replaced")
def test_a_damaged_file_that_others_have_open_is_not_replaced(engine: Engine, home: Path) -> None:
    remember(engine, "一")
    engine.backups.make()
    engine.close()
    other = subprocess.Popen(
        [sys.executable, "-m", "tests.engine.storage.outside", str(home), "60"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        damage(home, 0, 4_096)
        with pytest.raises(Busy) as refused:
            restore_backup(home, NEWEST, CALLER, now=1.0)
        assert refused.value.key == "error.restore_in_use"
    finally:
        other.kill()
        other.communicate()
    assert restore_backup(home, NEWEST, CALLER, now=1.0).replaced.contents.memories == 1


def test_a_lost_store_is_restored_without_its_old_log(
    engine: Engine, home: Path, clock: FixedClock
) -> None:
    remember(engine, "一")
    engine.backups.make()
    engine.close()
    (home / FILE_NAME).unlink()
    (home / f"{FILE_NAME}-wal").write_bytes(b"\x37\x7f\x06\x82" + b"\x00" * 5_000)
    restored = restore_backup(home, NEWEST, CALLER, now=clock.now())
    assert restored.replaced.contents.memories == 1
    with open_engine(home, environ=HASHING, clock=clock) as opened:
        assert texts(opened) == ["一"]


def test_a_damaged_backup_is_refused_and_the_store_stays(engine: Engine, home: Path) -> None:
    remember_all(engine, ["一", "二"])
    made = engine.backups.make()
    with made.file.path.open("r+b") as file:
        file.seek(8_192)
        file.write(b"\xff" * 100_000)
    with pytest.raises(StorageDamaged):
        engine.backups.restore(NEWEST, CALLER)
    assert texts(engine) == ["一", "二"]
    assert [file.path for file in engine.backups.list()] == [made.file.path]


def test_a_backup_of_a_newer_program_is_refused(engine: Engine) -> None:
    made = engine.backups.make(name="newer")
    connection = sqlite3.connect(made.file.path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(NewerSchema):
        engine.backups.restore(RestoreWish("newer"), CALLER)


def test_a_backup_with_a_broken_text_index_is_restored_with_a_whole_one(
    engine: Engine, home: Path
) -> None:
    remember_all(engine, ["书房路由器", "会议改期"])
    connection = sqlite3.connect(home / FILE_NAME)
    connection.execute("DELETE FROM memory_fts_data WHERE id > 10")
    connection.commit()
    connection.close()
    made = engine.backups.make(name="broken")
    assert made.contents.text_index != "ok"
    engine.backups.restore(RestoreWish("broken"), CALLER)
    assert found(engine, "路由器", k=1, mode="keyword") == [1]
    assert disagreements(home / FILE_NAME) == []


BAD_NAMES = [
    "../../x",
    "/etc/x",
    "C:\\x",
    "..\\x",
    "con",
    "CON.db",
    "nul.txt",
    "lpt1",
    "a:b",
    "中文/路径",
    "x" * 300,
    "x.",
    "..",
    "",
    "a\x00b",
    "newest",
]


@pytest.mark.parametrize("name", [name for name in BAD_NAMES if name])
def test_a_name_that_leads_elsewhere_is_refused(engine: Engine, home: Path, name: str) -> None:
    before = sorted(home.rglob("*"))
    with pytest.raises(InvalidInput):
        engine.backups.make(name=name)
    assert sorted(home.rglob("*")) == before


@pytest.mark.parametrize("name", [name for name in BAD_NAMES if name != "newest"])
def test_nothing_outside_the_folder_is_restored(engine: Engine, name: str) -> None:
    engine.backups.make()
    with pytest.raises((InvalidInput, NotFound)):
        engine.backups.restore(RestoreWish(name), CALLER)


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_in_the_folder_is_no_backup(engine: Engine, tmp_path: Path) -> None:
    elsewhere = engine.backups.copy_to(tmp_path / "elsewhere.db").file.path
    engine.backups.make()
    link = engine.backups.list()[0].path.with_name("link.db")
    link.symlink_to(elsewhere)
    with pytest.raises(NotFound):
        engine.backups.restore(RestoreWish("link"), CALLER)
    with pytest.raises(InvalidInput):
        engine.backups.make(name="link")
    assert len(engine.backups.list()) == 1


def test_a_name_that_is_taken_is_not_overwritten(engine: Engine) -> None:
    engine.backups.make(name="mine")
    with pytest.raises(InvalidInput):
        engine.backups.make(name="mine.db")


def test_a_year_of_daily_backups_stays_small(engine: Engine, home: Path, clock: FixedClock) -> None:
    remember(engine, "一")
    engine.backups.make(name="kept")
    content = engine.backups.make(reason="daily").file.path.read_bytes()
    folder = home / backup_files.FOLDER
    for _ in range(365):
        clock.advance(DAY_S)
        backup_files.new_path(folder, "daily", VERSION, clock.now()).write_bytes(content)
        engine.backups.thin()
    reasons = [file.reason for file in engine.backups.list()]
    assert reasons.count("daily") == 8, "of seven days, and of this moment"
    assert reasons.count("named") == 1


def test_the_daily_backup_thins_as_it_goes(engine: Engine, clock: FixedClock) -> None:
    remember(engine, "一")
    removed = 0
    for _ in range(10):
        clock.advance(DAY_S)
        made = back_up_daily(engine.context)
        assert made is not None
        removed += len(made.removed)
    assert (len(engine.backups.list()), removed) == (8, 2)


def test_switched_off_backups_are_not_made(engine: Engine, home: Path, clock: FixedClock) -> None:
    off = HASHING | {"JIYI_BACKUP__ENABLED": "false"}
    with open_engine(home, environ=off, clock=clock) as opened:
        assert back_up_daily(opened.context) is None


def test_a_new_version_of_the_program_backs_the_store_up_once(
    engine: Engine, home: Path, clock: FixedClock
) -> None:
    remember(engine, "一")
    made = engine.backups.make(reason="daily").file
    made.path.rename(made.path.with_name(made.path.name.replace(VERSION, "0.0.9")))
    clock.advance(60.0)
    for told in (["notice.upgraded"], []):
        with open_engine(home, environ=HASHING, clock=clock) as opened:
            assert [notice.key for notice in opened.notices] == told
    assert [file.reason for file in engine.backups.list()] == ["upgrade", "daily"]


def test_a_new_version_that_cannot_back_up_says_so_and_works(
    engine: Engine, home: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine.backups.make(reason="daily").file
    made.path.rename(made.path.with_name(made.path.name.replace(VERSION, "0.0.9")))
    usage = shutil.disk_usage(home)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    with open_engine(home, environ=HASHING, clock=clock) as opened:
        told = [notice.key for notice in opened.notices]
        assert told == ["notice.upgrade_not_backed_up", "error.backup_no_space"]
        assert remember(opened, "照样能用") == 1


def test_thinning_keeps_the_newest_and_one_of_each_version(
    engine: Engine, home: Path, clock: FixedClock
) -> None:
    made = engine.backups.make()
    folder = made.file.path.parent
    for name in (
        "20200101-000000-daily-0.0.1",
        "20200102-000000-daily-0.0.1",
        "before-v2-20200101-000000",
    ):
        shutil.copyfile(made.file.path, folder / f"{name}.db")
    clock.advance(30 * DAY_S)
    expected = engine.backups.outdated()
    gone = engine.backups.thin()
    assert gone == expected
    assert [file.name for file in gone] == ["20200101-000000-daily-0.0.1"]
    assert made.file in engine.backups.list()


def test_what_killed_backups_left_is_cleared_away_later(engine: Engine) -> None:
    folder = engine.backups.make().file.path.parent
    left = folder / "x.db.0123abcd.partial"
    left.write_bytes(b"half")
    engine.backups.thin()
    assert left.exists(), "perhaps it is still being written"
    os.utime(left, (1, 1))
    engine.backups.thin()
    assert not left.exists()


def test_a_second_daily_backup_at_the_same_time_is_left_to_the_first(
    engine: Engine, other: Engine
) -> None:
    with other.context.database.write() as connection:
        leases.take(connection, LEASE, "other", other.context.clock.now(), 60.0)
    with pytest.raises(Busy):
        back_up_daily(engine.context)
    assert engine.backups.list() == []


def test_a_backup_that_does_not_fit_is_refused_before_anything_is_written(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(engine.context.home)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    with pytest.raises(StoreUnavailable) as refused:
        back_up(engine.context, reason="manual")
    assert refused.value.key == "error.backup_no_space"
    assert engine.backups.list() == []


def test_a_full_folder_is_a_clear_refusal(engine: Engine, home: Path) -> None:
    (home / "backups").write_text("in the way", encoding="utf-8")
    with pytest.raises(JiyiError) as refused:
        engine.backups.make()
    assert refused.value.key == "error.backup_unwritable"
