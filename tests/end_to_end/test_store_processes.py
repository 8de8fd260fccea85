"""Several processes on one store: each sees at once what another did, and none is in the way."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.storage.database import FILE_NAME
from tests.end_to_end.store_actor import Actor
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import HASHING, found, remember_all

MODES = ("keyword", "semantic", "auto")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "我的 store"


@pytest.fixture
def actor(home: Path) -> Iterator[Callable[..., Actor]]:
    """Starts processes with the store open, and sees that none stays behind."""
    started: list[Actor] = []

    def start(environ: dict[str, str] | None = None) -> Actor:
        started.append(Actor(home, environ))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()


@pytest.mark.parametrize("exact_below", ["0", "50000"], ids=["graph", "exact"])
def test_each_process_finds_at_once_what_the_other_did(
    home: Path, actor: Callable[..., Actor], exact_below: str
) -> None:
    environ = {"JIYI_VECTORS__EXACT_BELOW": exact_below}
    one, two = actor(environ), actor(environ)
    two("remember_all", texts=[f"平常的第 {number} 件小事" for number in range(20)])
    memory_id = one("remember", text="小雨在甲公司上班")
    for mode in MODES:
        assert two("found", query="小雨在甲公司上班", k=1, mode=mode) == [memory_id]
    two("edit", memory_id=memory_id, text="小雪住在海边的灯塔")
    for mode in MODES:
        assert one("found", query="小雪住在海边的灯塔", k=1, mode=mode) == [memory_id]
    assert one("found", query="小雨在甲公司上班", mode="keyword") == []
    one("delete", memory_id=memory_id)
    for mode in MODES:
        assert memory_id not in two("found", query="小雪住在海边的灯塔", k=100, mode=mode)
    two("restore", memory_id=memory_id)
    for mode in MODES:
        assert one("found", query="小雪住在海边的灯塔", k=1, mode=mode) == [memory_id]
    one.close()
    two.close()
    assert disagreements(home / FILE_NAME) == []


ENDS = ["second-first", "first-first", "killed"]


@pytest.mark.parametrize("end", ENDS)
def test_the_last_process_to_leave_takes_nobodys_vectors_along(
    home: Path, actor: Callable[..., Actor], end: str
) -> None:
    one, two = actor(), actor()
    texts = [
        f"{who} 的第 {number} 条 {who}{number}" for who in ("甲", "乙") for number in range(10)
    ]
    ids = [one("remember", text=text) for text in texts[:10]]
    ids += [two("remember", text=text) for text in texts[10:]]
    ids.append(one("remember", text="最后一条 last"))
    order = (one, two) if end == "first-first" else (two, one)
    for process in order:
        process.kill() if end == "killed" else process.close()
    with open_engine(home, environ=HASHING) as engine:
        numbers = engine.statistics()
        assert (numbers.total, numbers.vectors) == (21, 21)
        for memory_id, text in zip(ids, [*texts, "最后一条 last"], strict=True):
            for mode in MODES:
                assert found(engine, text, k=1, mode=mode) == [memory_id]


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_four_writers_and_one_at_maintenance_all_succeed(
    home: Path, tmp_path: Path, actor: Callable[..., Actor]
) -> None:
    writers = [actor() for _ in range(4)]
    keeper = actor()
    keeper.start("keep_busy", target=str(tmp_path / "copies" / "one.db"), seconds=4.0)
    for number, writer in enumerate(writers):
        writer.start("add_one_by_one", prefix=f"w{number}", count=50)
    done = [writer.answer() for writer in writers]
    assert keeper.answer() >= 1
    assert max(answer["longest_s"] for answer in done) < 5.0
    ids = {memory_id for answer in done for memory_id in answer["ids"]}
    assert len(ids) == 200
    for number, answer in enumerate(done):
        reader = writers[number - 1]
        for place, memory_id in list(enumerate(answer["ids"]))[::7]:
            for mode in ("keyword", "semantic"):
                query = f"w{number} 第 {place} 条记忆 w{number}x{place}"
                assert reader("found", query=query, k=1, mode=mode) == [memory_id]
    for process in (*writers, keeper):
        process.close()
    assert disagreements(home / FILE_NAME) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_kill_during_many_lines_leaves_whole_lines_or_none(
    home: Path, actor: Callable[..., Actor], seed: int
) -> None:
    with open_engine(home, environ=HASHING) as engine:
        remember_all(engine, ["先前的一条"])
    process = actor()
    assert process("found", query="先前的一条", k=1) == [1]
    lines = [f"导入的第 {number} 行 line{number}" for number in range(500)]
    process.start("remember_all", texts=lines)
    time.sleep(random.Random(seed).uniform(0.0, 0.35))
    process.kill()
    assert disagreements(home / FILE_NAME) == []
    with open_engine(home, environ=HASHING) as engine:
        stored = engine.statistics().total - 1
        assert stored in (0, 200, 400, 500)
        for number in range(0, stored, 50):
            assert found(engine, f"line{number}", k=1, mode="keyword") == [number + 2]
        assert remember_all(engine, ["后来的一条"])


def sizes(home: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(home)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in home.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


@pytest.mark.slow
def test_reading_writes_nothing_however_often(home: Path) -> None:
    environ = HASHING | {"JIYI_VECTORS__EXACT_BELOW": "0", "JIYI_RECALL__POOL": "10"}
    # Looking for conflicts while writing would build a first graph over some of them.
    environ |= {"JIYI_CONFLICTS__ON_WRITE": "ignore"}
    with open_engine(home, environ=environ) as engine:
        ids = remember_all(engine, (f"第 {number} 条 item{number} 会议" for number in range(1000)))
        wait_for_graph(engine, home)
        before = sizes(home)
        for number in range(1500):
            assert found(engine, f"item{number % 1000}", k=1) == [ids[number % 1000]]
            engine.get(ids[number % 1000])
        assert sizes(home) == before
    assert sum(size for size, _ in sizes(home).values()) < 12_000_000


def wait_for_graph(engine: Engine, home: Path) -> None:
    deadline = time.monotonic() + 20
    while engine.diagnose().vectors.index_mode != "hnsw":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert list(home.rglob("*.graph"))


def test_the_log_does_not_grow_without_end(home: Path) -> None:
    with open_engine(home, environ=HASHING) as engine:
        for _ in range(40):
            remember_all(engine, (f"第 {number} 条会议记录" for number in range(50)))
            found(engine, "会议")
        log = home / f"{FILE_NAME}-wal"
        assert log.stat().st_size < 16_000_000
    assert not log.exists() or log.stat().st_size == 0


def test_a_process_that_was_killed_blocks_nobody_and_no_other_is_touched(
    home: Path, actor: Callable[..., Actor]
) -> None:
    process = actor()
    process("remember", text="文")
    process.kill()
    with open_engine(home, environ=HASHING) as engine:
        with engine.context.database.write() as connection:
            connection.execute("UPDATE process SET pid = ?", (os.getppid(),))
        engine.start_background("test")
        remember_all(engine, ["新的一条"])
        assert found(engine, "新的一条", k=1) == [2]
    os.kill(os.getppid(), 0)


def test_reading_and_leaving_need_no_write_lock(home: Path, actor: Callable[..., Actor]) -> None:
    with open_engine(home, environ=HASHING) as engine:
        ids = remember_all(engine, ["书房路由器的口令", "会议改到周五"])
        with engine.context.database.write():
            started = time.monotonic()
            process = actor()
            for mode in MODES:
                assert process("found", query="书房路由器", k=1, mode=mode) == [ids[0]]
            assert time.monotonic() - started < 5.0
            left = time.monotonic()
            process.close()
            assert time.monotonic() - left < 5.5
