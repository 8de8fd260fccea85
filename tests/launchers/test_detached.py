"""A process beside the others: one at a time, stopped when asked, and never taken for another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launchers.detached import Detached


@pytest.fixture
def detached(tmp_path: Path) -> Detached:
    return Detached(tmp_path, "work")


def test_who_holds_it_runs_and_a_second_one_does_not(detached: Detached, tmp_path: Path) -> None:
    assert detached.running() is None
    with detached.held() as asked_to_stop:
        assert asked_to_stop is not None and not asked_to_stop()
        running = detached.running()
        assert running is not None and running.pid == os.getpid()
        with Detached(tmp_path, "work").held() as second:
            assert second is None
        assert detached.running() == running
    assert detached.running() is None


def test_it_is_asked_to_stop_by_a_file(detached: Detached) -> None:
    with detached.held() as asked_to_stop:
        assert asked_to_stop is not None
        assert not detached.stop(0.2, force=False)
        assert asked_to_stop()
    assert detached.stop(0.2)


def test_an_old_request_stops_no_new_process(detached: Detached) -> None:
    with detached.held():
        assert not detached.stop(0.1, force=False)
    with detached.held() as asked_to_stop:
        assert asked_to_stop is not None and not asked_to_stop()


def test_a_number_that_belongs_to_another_program_by_now_is_left_alone(
    detached: Detached, tmp_path: Path
) -> None:
    foreign = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        folder = tmp_path / "run"
        folder.mkdir()
        facts = {"pid": foreign.pid, "started_at": 1.0, "token": "x"}
        (folder / "work.json").write_text(json.dumps(facts), encoding="utf-8")
        (folder / "work.lock").touch()
        assert detached.running() is None
        assert detached.stop(0.1)
        with detached.held() as asked_to_stop:
            assert asked_to_stop is not None
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


HANGING = """
import sys, time
from pathlib import Path
from launchers.detached import Detached
with Detached(Path(sys.argv[1]), "work").held():
    time.sleep(60)
"""


@pytest.mark.parametrize("way", ["killed", "ended by force"])
def test_one_that_was_killed_or_does_not_listen_is_gone(
    detached: Detached, tmp_path: Path, way: str
) -> None:
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", HANGING, str(tmp_path)], env={**os.environ, "PYTHONPATH": root}
    )
    deadline = time.monotonic() + 20.0
    while detached.running() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    if way == "killed":
        process.kill()
        process.wait()
    else:
        assert detached.stop(0.3)
        process.wait()
    assert detached.running() is None
    with detached.held() as asked_to_stop:
        assert asked_to_stop is not None


def test_what_ends_without_holding_it_did_not_start(detached: Detached, tmp_path: Path) -> None:
    assert detached.start(["--version"], os.environ) is None
    assert "jiyi" in detached.log.read_text(encoding="utf-8")
