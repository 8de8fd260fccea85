"""A process of a store that goes on beside the programs that people see.

An operating-system lock says whether it runs, never a process number: after a crash that number
may belong to another program. Stopping is asked for in a file that the process looks at; a
signal is sent only to the holder of the lock.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

_POLL_S = 0.1
_START_S = 30.0
_LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Running:
    """The process that runs: its number, when it started (epoch seconds), and a name of its
    own."""

    pid: int
    started_at: float
    token: str


class Detached:
    """The one process called ``name`` of a home folder, which need not exist yet."""

    def __init__(self, home: Path, name: str) -> None:
        folder = home / "run"
        self.log = home / "logs" / f"{name}.log"
        self._lock = folder / f"{name}.lock"
        self._facts = folder / f"{name}.json"
        self._request = folder / f"{name}.stop"

    def running(self) -> Running | None:
        """The process that runs now, if one does."""
        if not self._lock.exists() or not self._is_locked():
            return None
        return self._told()

    @contextmanager
    def held(self) -> Iterator[Callable[[], bool] | None]:
        """Be that process for the length of the block; ``None`` when another one is. What is
        yielded tells whether the process was asked to stop."""
        handle = _opened(self._lock)
        try:
            if not _lock_soon(handle):
                yield None
                return
            token = uuid.uuid4().hex
            self._request.unlink(missing_ok=True)
            _write(self._facts, json.dumps(asdict(Running(os.getpid(), time.time(), token))))
            try:
                yield lambda: _read(self._request) == token
            finally:
                self._facts.unlink(missing_ok=True)
                self._request.unlink(missing_ok=True)
        finally:
            os.close(handle)

    def start(self, arguments: Sequence[str], environ: Mapping[str, str]) -> Running | None:
        """Start ``jiyi`` with ``arguments``, which is to hold the lock; ``None`` when it ended
        without doing so. What it prints goes to the log."""
        self.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            process = _spawned(arguments, environ, handle)
        finally:
            os.close(handle)
        deadline = time.monotonic() + _START_S
        while process.poll() is None and time.monotonic() < deadline:
            found = self.running()
            if found is not None:
                # It is left behind on purpose.
                process.returncode = 0
                return found
            time.sleep(_POLL_S)
        return None

    def stop(self, wait_s: float, *, force: bool = True) -> bool:
        """Ask the process to stop, and with ``force`` end it when it has not within ``wait_s``
        seconds; true when none runs any more."""
        found = self.running()
        if found is None:
            return True
        _write(self._request, found.token)
        if self._ends_within(wait_s):
            return True
        if force and self.running() == found:
            with suppress(OSError):
                os.kill(found.pid, signal.SIGTERM)
        return self._ends_within(wait_s)

    def _ends_within(self, wait_s: float) -> bool:
        deadline = time.monotonic() + wait_s
        while self.running() is not None:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        return True

    def _is_locked(self) -> bool:
        handle = _opened(self._lock)
        try:
            return not _try_lock(handle)
        finally:
            os.close(handle)

    def _told(self) -> Running | None:
        try:
            told = json.loads(_read(self._facts))
            return Running(int(told["pid"]), float(told["started_at"]), str(told["token"]))
        except (ValueError, KeyError, TypeError):
            # It has the lock and has not said yet who it is.
            return None


def _spawned(
    arguments: Sequence[str], environ: Mapping[str, str], log: int
) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parent.parent)
    paths = [root, *filter(None, [environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "launchers.cli", *arguments],
        env={**environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        creationflags=_DETACHED_FLAGS,
    )


def _opened(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _write(path: Path, content: str) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(draft, path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _try_lock(handle: int) -> bool:
    try:
        _lock_once(handle)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _lock_soon(handle: int) -> bool:
    """Somebody who only looks whether the lock is held has it for an instant."""
    deadline = time.monotonic() + _LOOK_S
    while not _try_lock(handle):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


if sys.platform == "win32":
    import msvcrt

    _DETACHED_FLAGS = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP

    def _lock_once(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    _DETACHED_FLAGS = 0

    def _lock_once(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
