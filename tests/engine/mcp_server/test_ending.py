"""A server ends with its client and leaves nothing behind (as real processes)."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest

from engine.bootstrap import open_engine
from tests.engine.mcp_server.process import SERVE, ServerProcess, environment, is_running

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")

HANGS_IN_RECALL = """\
import time
import engine.mcp_server.core_tools as core_tools
core_tools.RUN["recall"] = lambda call: time.sleep(60)
"""
PARENT = """\
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {code!r}], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
time.sleep(60)
"""


def assert_nothing_left(home: Path) -> None:
    """No lock on the store and no entry of a process in it."""
    with closing(sqlite3.connect(home / "store" / "jiyi.db", timeout=0.1)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("ROLLBACK")
    with open_engine(home / "store", environ={"JIYI_EMBEDDING__PROVIDER": "none"}) as engine:
        assert engine.diagnose().processes == ()


def test_empty_input_ends_it_with_code_0(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", SERVE],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(tmp_path),
        timeout=10,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    assert not (tmp_path / "store").exists()


def test_input_closed_after_a_call_ends_it_with_code_0(tmp_path):
    with ServerProcess(tmp_path) as server:
        server.initialize()
        server.ask("memorize", text="x")
        server.close_input()
        assert server.exit_code(within_s=5) == 0
        assert "Traceback" not in server.errors
    assert_nothing_left(tmp_path)


@pytest.mark.slow
def test_a_hanging_call_does_not_keep_it_alive(tmp_path):
    with ServerProcess(tmp_path, HANGS_IN_RECALL + SERVE) as server:
        server.initialize()
        server.ask("memorize", text="x")
        server.begin("tools/call", {"name": "recall", "arguments": {"query": "x"}})
        time.sleep(0.2)
        server.close_input()
        started = time.monotonic()
        assert server.exit_code(within_s=6) == 0
        assert time.monotonic() - started < 5
    assert_nothing_left(tmp_path)


@pytest.mark.slow
def test_a_write_that_waits_for_a_lock_does_not_keep_it_alive(tmp_path):
    with ServerProcess(tmp_path) as server:
        server.initialize()
        server.ask("memorize", text="x")
        with closing(
            sqlite3.connect(tmp_path / "store" / "jiyi.db", isolation_level=None)
        ) as other:
            other.execute("BEGIN IMMEDIATE")
            server.begin("tools/call", {"name": "memorize", "arguments": {"text": "y"}})
            time.sleep(0.3)
            server.close_input()
            assert server.exit_code(within_s=7) == 0
            other.execute("ROLLBACK")
    with closing(sqlite3.connect(tmp_path / "store" / "jiyi.db", timeout=0.1)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert connection.execute("SELECT count(*) FROM memory").fetchone() == (1,)
        connection.execute("ROLLBACK")


def wait_until_it_watches(server: int) -> None:
    """The watch over the parent is the server's first thread beside its main one."""
    deadline = time.monotonic() + 30
    while psutil.Process(server).num_threads() < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1.0)
    assert is_running(server)


@POSIX
def test_a_killed_parent_takes_it_along_although_the_pipe_stays_open(tmp_path):
    reader, writer = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(code=SERVE)],
        stdin=reader,
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
    )
    os.close(reader)
    assert parent.stdout is not None
    try:
        server = int(parent.stdout.readline())
        wait_until_it_watches(server)
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + 6
        while is_running(server) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not is_running(server)
    finally:
        os.close(writer)
        parent.stdout.close()


@POSIX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path, number):
    with ServerProcess(tmp_path) as server:
        server.initialize()
        server.ask("memorize", text="x")
        answered = len(server.lines)
        server.process.send_signal(number)
        assert server.exit_code(within_s=6) == 0
        assert "Traceback" not in server.errors
        assert len(server.lines) == answered
    assert_nothing_left(tmp_path)


def test_a_client_that_stops_reading_is_no_crash(tmp_path):
    reader, writer = os.pipe()
    with (tmp_path / "errors.txt").open("wb") as errors:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=writer,
            stderr=errors,
            env=environment(tmp_path),
        )
        os.close(writer)
        os.close(reader)
        assert server.stdin is not None
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert server.wait(timeout=10) == 0
        with suppress(BrokenPipeError):
            server.stdin.close()
    assert "Traceback" not in (tmp_path / "errors.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_quick_starts_and_stops_leave_nothing(tmp_path):
    pids = []
    for round_number in range(5):
        with ServerProcess(tmp_path) as server:
            server.initialize()
            if round_number % 2:
                server.ask("memorize", text=f"round {round_number}")
            server.close_input()
            assert server.exit_code(within_s=6) == 0
            pids.append(server.process.pid)
    assert not any(is_running(pid) for pid in pids)
    assert_nothing_left(tmp_path)
