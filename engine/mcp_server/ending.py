"""Ending with the client, whatever is going on: no server stays behind, no lock is kept."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from engine.mcp_server.calls import Running
from engine.mcp_server.opening import Store

_GRACE_S = 2.0
_CLOSING_S = 1.5
_PARENT_LOOK_S = 1.0


class Ending:
    """Brings one server to its end, once."""

    def __init__(self, running: Running, store: Store) -> None:
        self._running = running
        self._store = store
        self._begun = threading.Event()

    def watch(self) -> None:
        """End on SIGTERM, SIGINT and when the parent process is gone."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        _start("parent-watch", lambda: _when_parent_is_gone(self.begin))

    def begin(self) -> None:
        """End the process from a thread of its own; returns at once, again is harmless."""
        if not self._begun.is_set():
            self._begun.set()
            _start("ending", self._leave)

    def finish(self, grace_s: float = _GRACE_S) -> bool:
        """Wait for running calls and close the store, both for a bounded time.

        False when something still runs; only leaving the process ends that.
        """
        calm = self._running.wait(grace_s)
        closing = _start("closing", self._store.close)
        closing.join(_CLOSING_S)
        return calm and not closing.is_alive()

    def leave(self) -> None:
        """Leave the process at once with code 0. A thread inside SQLite is stopped by that
        alone; its transaction is rolled back by whoever opens the store next."""
        logging.shutdown()
        os._exit(0)

    def _leave(self) -> None:
        self.finish()
        self.leave()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.begin()


def _start(name: str, work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


def _when_parent_is_gone(act: Callable[[], None]) -> None:
    parent = os.getppid()
    if sys.platform == "win32":
        _wait_for_process(parent)
    else:
        pause = threading.Event()
        # An orphan gets another parent.
        while os.getppid() == parent:
            pause.wait(_PARENT_LOOK_S)
    act()


def _wait_for_process(pid: int) -> None:
    """Block until a Windows process ends, for ever when it cannot be watched."""
    import ctypes

    synchronize, infinite = 0x00100000, 0xFFFFFFFF
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - absent elsewhere
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        threading.Event().wait()
    kernel.WaitForSingleObject(handle, infinite)
