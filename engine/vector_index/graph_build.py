"""Building a graph in the background, by one process at a time."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from engine.domain.errors import JiyiError
from engine.vector_index.graph import GraphTuning, build
from engine.vector_index.graph_file import GraphFolder
from engine.vector_index.source import VectorSource

_STOP_TIMEOUT_S = 10.0
_LEASE_TAKEN_PAUSE_S = 5.0
_RENEWALS_PER_LEASE = 4


class GraphBuilder:
    """At most one building thread. It stops between two batches, also when the program ends
    without :meth:`stop`: it is no daemon, since native code killed at exit aborts."""

    def __init__(self, source: VectorSource, folder: GraphFolder, tuning: GraphTuning) -> None:
        self._source = source
        self._folder = folder
        self._tuning = tuning
        self._stopping = threading.Event()
        self._finished = threading.Event()
        self._thread: threading.Thread | None = None
        self._not_before = 0.0
        self._renew_at = 0.0
        self.problem: tuple[str, str] = ("", "")
        """Catalogue key and detail of why the last build failed, or two empty texts."""

    @property
    def running(self) -> bool:
        """Whether a build is under way in this process."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, known_seq: int) -> None:
        """Build a graph unless one runs, one failed just now, or a file newer than
        ``known_seq`` appears by then."""
        if self.running or self._stopping.is_set() or time.monotonic() < self._not_before:
            return
        self._thread = threading.Thread(
            target=self._run, args=(known_seq,), name="vector-graph-build"
        )
        self._thread.start()

    def take_finished(self) -> bool:
        """Whether a build ended since this was last asked."""
        ended = self._finished.is_set()
        self._finished.clear()
        return ended

    def stop(self) -> None:
        """Stop a build and wait for it, at most ten seconds."""
        self._stopping.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_STOP_TIMEOUT_S)

    def _run(self, known_seq: int) -> None:
        problem = ("", "")
        pause_s = 0.0
        try:
            if not self._reserve_and_build(known_seq):
                pause_s = _LEASE_TAKEN_PAUSE_S
        except ImportError as error:
            problem = ("index.library_missing", str(error))
        except OSError as error:
            problem = ("index.folder_unwritable", error.strerror or str(error))
        except (JiyiError, RuntimeError, MemoryError) as error:
            problem = ("index.build_failed", str(error) or type(error).__name__)
        self.problem = problem
        self._not_before = time.monotonic() + (self._tuning.retry_s if problem[0] else pause_s)
        self._finished.set()

    def _reserve_and_build(self, known_seq: int) -> bool:
        reserved = self._folder.reserve()
        try:
            return self._build_under_lease(known_seq, reserved)
        finally:
            reserved.unlink(missing_ok=True)

    def _build_under_lease(self, known_seq: int, reserved: Path) -> bool:
        name = self._folder.lease_name
        if not self._source.try_lease(name, self._tuning.lease_s):
            return False
        try:
            if not self._another_was_quicker(known_seq):
                self._build(reserved)
        finally:
            self._source.release_lease(name)
        return True

    def _another_was_quicker(self, known_seq: int) -> bool:
        now_seq = self._source.last_change()
        return any(known_seq < seq <= now_seq for seq, _ in self._folder.newest_first())

    def _build(self, reserved: Path) -> None:
        seq, block = self._source.snapshot()
        self._renew_at = time.monotonic() + self._tuning.lease_s / _RENEWALS_PER_LEASE
        content = build(block, self._source.dims, self._tuning, self._may_go_on)
        if content is not None:
            self._folder.publish(reserved, content, seq)

    def _may_go_on(self) -> bool:
        if self._stopping.is_set() or not threading.main_thread().is_alive():
            return False
        now = time.monotonic()
        if now < self._renew_at:
            return True
        self._renew_at = now + self._tuning.lease_s / _RENEWALS_PER_LEASE
        return self._source.try_lease(self._folder.lease_name, self._tuning.lease_s)
