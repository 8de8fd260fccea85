"""What a desktop does to a store: a full disk, a disk that turns read-only, damage, a clock set
back. Disks are made as file systems in memory where the machine lets a test do so."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import JiyiError, StorageDamaged, StoreUnavailable
from engine.storage.database import FILE_NAME
from engine.use_cases.backup import RestoreWish, restore_backup
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember, remember_all

ROOT = Path(__file__).parents[2]
DAY_S = 86_400.0
LONG = "很长的内容" * 300


def mounted(*arguments: str) -> bool:
    """Whether the machine let the test mount something."""
    if shutil.which("mount") is None:
        return False
    run = subprocess.run(["mount", *arguments], capture_output=True, check=False)
    return run.returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mounted("-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)):
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def statuses(engine: Engine) -> dict[str, str]:
    return {check.name: check.status for check in engine.diagnose().checks}


def written_until_refused(engine: Engine) -> tuple[list[int], JiyiError]:
    ids: list[int] = []
    while True:
        try:
            ids.append(remember(engine, f"记忆 {len(ids)} {LONG}"))
        except JiyiError as error:
            return ids, error


def test_a_full_disk_loses_nothing_and_is_said_until_there_is_room(disk: Path) -> None:
    home = disk / "记忆库"
    with open_engine(home, environ=HASHING) as engine:
        ids, refusal = written_until_refused(engine)
        assert len(ids) > 3
        assert isinstance(refusal, StoreUnavailable)
        assert refusal.key == "error.disk_full"
        with pytest.raises(StoreUnavailable):
            engine.backups.make()
        assert statuses(engine)["disk"] == "failure"
        assert found(engine, "记忆 0", k=1)
    with open_engine(home, environ=HASHING) as again:
        assert [memory.id for memory in again.list(limit=100).memories] == ids[::-1]
        assert mounted("-o", "remount,size=30m", str(disk))
        assert remember(again, "又有地方了") > max(ids)
        assert again.backups.make().contents.memories == len(ids) + 1
    assert disagreements(home / FILE_NAME) == []


def usage_of(disk: Path) -> int:
    status = os.statvfs(disk)
    return status.f_bavail * status.f_frsize


@pytest.mark.parametrize("room", [100_000, 700_000, 1_100_000])
def test_a_restore_without_room_leaves_the_store_as_it_was(
    disk: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    home = disk / "home"
    usage = shutil.disk_usage(disk)
    assert mounted("-o", "remount,size=9m", str(disk))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10**9))
    with open_engine(home, environ=HASHING) as engine:
        remember(engine, "起点")
        kept = engine.backups.make(name="start")
        ids = [remember(engine, f"{number} {LONG}") for number in range(6)]
        (disk / "ballast").write_bytes(b"x" * (usage_of(disk) - room))
        with pytest.raises(StoreUnavailable):
            engine.backups.restore(RestoreWish("start"), CALLER)
        assert len(engine.list(limit=50).memories) == len(ids) + 1
        assert engine.backups.list() == [kept.file]
    assert disagreements(home / FILE_NAME) == []


def test_a_disk_that_turned_read_only_answers_and_says_so(disk: Path) -> None:
    home = disk / "home"
    assert mounted("-o", "remount,size=30m", str(disk))
    with open_engine(home, environ=HASHING) as engine:
        remember(engine, "书房路由器")
        engine.backups.make()
    assert mounted("-o", "remount,ro", str(disk))
    with open_engine(home, environ=HASHING) as engine:
        assert found(engine, "路由器", k=1) == [1]
        with pytest.raises(StoreUnavailable):
            remember(engine, "x")
        assert statuses(engine)["writable"] == "failure"
        assert not engine.diagnose().healthy
        with pytest.raises(StoreUnavailable):
            engine.backups.make()
        with pytest.raises(JiyiError):
            engine.backups.restore(RestoreWish("newest"), CALLER)
        assert engine.backups.repair(apply=False).findings == ()
        copy = engine.backups.copy_to(disk.parent / "copy.db")
        assert copy.contents.memories == 1


@pytest.mark.parametrize("seed", range(4))
def test_damage_anywhere_is_named_or_harmless_and_a_backup_brings_all_back(
    tmp_path: Path, seed: int
) -> None:
    home = tmp_path / "home"
    with open_engine(home, environ=HASHING) as engine:
        remember_all(engine, (f"第 {number} 条 关于书房" for number in range(20)))
        engine.backups.make()
    dice, path = random.Random(seed), home / FILE_NAME
    size = path.stat().st_size
    with path.open("r+b") as file:
        for _ in range(20):
            file.seek(dice.randrange(0, size - 600))
            file.write(dice.randbytes(512))
    try:
        with open_engine(home, environ=HASHING) as engine:
            assert not engine.diagnose().healthy
    except StorageDamaged as error:
        assert error.params["path"] == str(path)
    restore_backup(home, RestoreWish("newest"), CALLER, now=2e9)
    with open_engine(home, environ=HASHING) as engine:
        assert len(engine.list(limit=50).memories) == 20
        assert statuses(engine)["store"] == statuses(engine)["fulltext"] == "ok"
    assert disagreements(path) == []


@pytest.mark.parametrize("cut", [0.0, 0.3, 0.6, 0.99])
def test_a_copy_with_a_cut_log_is_an_earlier_state_and_whole(tmp_path: Path, cut: float) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    copy.mkdir(mode=0o700)
    with open_engine(home, environ=HASHING) as engine:
        for number in range(30):
            remember(engine, f"第 {number} 条")
        shutil.copyfile(home / FILE_NAME, copy / FILE_NAME)
        log = (home / f"{FILE_NAME}-wal").read_bytes()
        (copy / f"{FILE_NAME}-wal").write_bytes(log[: int(len(log) * cut)])
    with open_engine(copy, environ=HASHING) as engine:
        texts = [memory.text for memory in engine.list(limit=50).memories][::-1]
        assert texts == [f"第 {number} 条" for number in range(len(texts))]
        assert remember(engine, "接着写") == len(texts) + 1
    assert disagreements(copy / FILE_NAME) == []


@pytest.mark.parametrize("name", ["测试用户/我的 记忆库(新)", "D：资料①/é #?%41"])
def test_everything_works_in_a_folder_with_such_a_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    with open_engine(home, environ=HASHING) as engine:
        remember_all(engine, ["书房路由器", "会议改期"])
    with open_engine(home, environ=HASHING) as engine:
        assert found(engine, "路由器", k=1) == [1]
        engine.backups.make(name="第一份 备份")
        remember(engine, "多余的")
        engine.backups.restore(RestoreWish("第一份 备份"), CALLER)
        assert len(engine.list().memories) == 2
        assert engine.diagnose().healthy


def test_a_clock_set_back_a_day_changes_no_answer_and_no_strength(tmp_path: Path) -> None:
    clock, maintenance = FixedClock(), Caller("maintenance")
    with open_engine(tmp_path / "home", environ=HASHING, clock=clock) as engine:
        remember(engine, "昨天的书房路由器")
        clock.advance(3 * DAY_S)
        engine.upkeep.tick(maintenance)
        strength = engine.get(1)
        clock.advance(-DAY_S)
        later = remember(engine, "回拨之后的会议纪要")
        assert engine.upkeep.tick(maintenance).failed == ()
        assert engine.get(1) == strength
        assert found(engine, "路由器", k=1) == [1]
        assert found(engine, "会议纪要", k=1) == [later]
        assert engine.diagnose().healthy
        clock.advance(DAY_S)
        assert engine.upkeep.tick(maintenance).failed == ()
        assert engine.get(1) == strength


SERVED = """
import sys, time
from pathlib import Path
from engine.bootstrap import open_engine
from tests.engine.use_cases.shortcuts import HASHING, found, remember
with open_engine(sys.argv[1], environ=HASHING) as engine:
    engine.start_background("test")
    print(len(engine.list(limit=50).memories), flush=True)
    for line in sys.stdin:
        remember(engine, line.strip())
        print(sorted(m.text for m in engine.list(limit=50).memories), flush=True)
"""


def test_servers_that_are_open_go_on_with_the_restored_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_engine(home, environ=HASHING) as engine:
        remember_all(engine, (f"早先 {number}" for number in range(10)))
        engine.backups.make(name="ten")
        remember_all(engine, (f"后来 {number}" for number in range(5)))
    servers = [served(home) for _ in range(2)]
    try:
        for server in servers:
            assert server.stdout is not None
            assert server.stdout.readline() == "15\n"
        restored = restore_backup(home, RestoreWish("ten"), CALLER, now=2e9)
        assert restored.replaced.contents_before is not None
        assert restored.replaced.contents_before.memories == 15
        answers = [told(server, f"新的 {number}") for number, server in enumerate(servers)]
        expected = sorted([*(f"早先 {number}" for number in range(10)), "新的 0", "新的 1"])
        assert answers[-1] == f"{expected}\n"
    finally:
        for server in servers:
            server.communicate(timeout=30)
    assert disagreements(home / FILE_NAME) == []


def served(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SERVED, str(home)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


def told(server: subprocess.Popen[str], text: str) -> str:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{text}\n")
    server.stdin.flush()
    return server.stdout.readline()
