"""One set-up at a time: an operating-system lock that ends with the process holding it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from launchers.bootstrap.failures import SetupFailed
from launchers.bootstrap.speech import Speaker

WAIT_LIMIT_S = 1800.0
POLL_S = 0.2


@contextmanager
def held_lock(path: Path, speaker: Speaker) -> Iterator[int]:
    """Hold the set-up lock; waits for another start, never for a dead one. Yields the handle."""
    path.parent.mkdir(exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _wait_for_lock(handle, path, speaker)
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, str(os.getpid()).encode())
        yield handle
    finally:
        os.close(handle)


def _wait_for_lock(handle: int, path: Path, speaker: Speaker) -> None:
    deadline = time.monotonic() + WAIT_LIMIT_S
    told = False
    while not _try_lock(handle):
        holder = _holder(path)
        if not told:
            speaker.say("waiting", pid=holder)
            told = True
        if time.monotonic() > deadline:
            raise SetupFailed("busy", pid=holder)
        time.sleep(POLL_S)


def _holder(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace") or "?"
    return "?"


def _try_lock(handle: int) -> bool:
    try:
        _lock_once(handle)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks: go on alone rather than not at all
        return True
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock_once(handle: int) -> None:
        os.lseek(handle, 1 << 30, os.SEEK_SET)  # past the process number, which others read
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock_once(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
