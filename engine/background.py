"""Work that a long-lived process does beside answering: start-up checks, waiting vectors,
counting what was used, upkeep, its sign of life, and letting an idle model go.

One thread, owned and stopped by its engine. It never delays an answer: everything it writes
is a short transaction, and a store that is busy is simply tried again later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from engine.context import EngineContext
from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import JiyiError
from engine.jobs import build_jobs
from engine.use_cases.embed_pending import embed_pending, queue_missing
from engine.use_cases.fill_layers import derive_missing
from engine.use_cases.maintain import fill_missing_text
from engine.use_cases.maintenance import TickRequest, tick
from engine.use_cases.models import calibrate_model, release_unused_indexes
from engine.use_cases.presence import report_presence, withdraw_presence
from engine.use_cases.reinforce import flush_accesses

log = logging.getLogger("jiyi.background")

_TICK_S = 5.0
_PRESENCE_S = 60.0
_STOP_S = 3.0
_MODEL_WAIT_S = 30.0
_UNNAMED = "background"
_FILL_S = 1.0
# A long queue is worked off in turns, so that nothing else waits for its end.
_TURN_S = 5.0


class BackgroundWorker:
    """The background thread of one engine. ``client`` names whom the process serves; it may
    be set later, once the client has introduced itself."""

    def __init__(self, context: EngineContext, version: str, client: str) -> None:
        self.client = client
        self._context = context
        self._version = version
        self._started_at = context.clock.now()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._present_until = 0.0
        self._kept_up_until = 0.0
        self._followed: SpaceIdentity | None = None
        self._thread = threading.Thread(target=self._run, name="jiyi-background", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """There is new work; returns at once."""
        self._wake.set()

    def stop(self) -> None:
        """Stop after the step in hand, waiting some seconds at most; the engine is closing."""
        self._stop.set()
        self._wake.set()
        # A step that waits for the model ends at once when there will be none.
        self._context.models.close()
        if self._thread.is_alive():
            self._thread.join(_STOP_S)
        if self._present_until and not self._thread.is_alive():
            self._attempt(lambda: withdraw_presence(self._context))

    def _run(self) -> None:
        self._attempt(lambda: self._context.serving().warm_up())
        self._attempt(self._check_store)
        while not self._stop.is_set():
            self._attempt(self._step)
            self._attempt(self._context.unload_idle_models)
            self._wake.wait(_TICK_S)
            self._wake.clear()

    def _check_store(self) -> None:
        if not self._context.database.writable:
            return
        filled = fill_missing_text(self._context)
        if filled:
            log.warning("%d memories were missing from full-text search; added", filled)

    def _step(self) -> None:
        """Every job in turn; one that fails does not keep the others from being done."""
        if not self._context.database.writable:
            return
        for work in (
            self._show_presence,
            self._keep_up,
            self._count_uses,
            self._follow_model,
            self._embed_pending,
            self._fill_layers,
        ):
            if not self._stop.is_set():
                self._attempt(work)

    def _show_presence(self) -> None:
        if time.monotonic() < self._present_until:
            return
        report_presence(self._context, self.client, self._version, self._started_at)
        self._present_until = time.monotonic() + _PRESENCE_S
        release_unused_indexes(self._context)

    def _keep_up(self) -> None:
        """Run the jobs that are due, at the start and then now and then."""
        settings = self._context.settings.maintenance
        if not settings.enabled or time.monotonic() < self._kept_up_until:
            return
        # A tick that fails is tried again at the next one, not at every step.
        self._kept_up_until = time.monotonic() + settings.tick_minutes * 60
        request = TickRequest(self.client or _UNNAMED, stopped=self._stop.is_set)
        tick(self._context, build_jobs(self._context), request)

    def _count_uses(self) -> None:
        """After the upkeep, so that overdue days fade by what was used before them."""
        flush_accesses(self._context)

    def _embed_pending(self) -> None:
        self._in_turns(self._embed_some)

    def _embed_some(self) -> bool:
        progress = embed_pending(self._context, wait_s=_MODEL_WAIT_S)
        return progress.more and progress.reason is None

    def _fill_layers(self) -> None:
        """Atoms and graph for memories that lack them, a second at a time."""
        self._in_turns(lambda: bool(derive_missing(self._context, _FILL_S)))

    def _in_turns(self, work: Callable[[], bool]) -> None:
        """Work while there is more; after some seconds the rest is left to the next step, which
        comes at once."""
        until = time.monotonic() + _TURN_S
        while not self._stop.is_set() and work():
            if time.monotonic() >= until:
                self._wake.set()
                break

    def _follow_model(self) -> None:
        """Queue what the model lacks, at the start and when the settings name another one."""
        identity = self._context.models.identity()
        if identity != self._followed:
            queued = queue_missing(self._context)
            if queued:
                log.info("%d memories wait for vectors of the current model", queued)
            self._followed = identity
            self._attempt(self._calibrate)

    def _calibrate(self) -> None:
        """Thresholds of a space nobody measured; a model that does not answer is asked again."""
        if self._context.models.is_remote:
            calibrate_model(self._context, _MODEL_WAIT_S)

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except JiyiError as error:
            log.warning("%s", error)
        # The thread must outlive any fault of one step; it is logged with its traceback and
        # the step is tried again at the next tick.
        except Exception:
            log.exception("background work failed")


def drain(context: EngineContext, *, budget_s: float) -> int:
    """Embed waiting memories in the calling thread, for processes that are about to end.

    Returns how many got their vectors within ``budget_s`` seconds; the rest stays pending for
    the next process.
    """
    deadline = time.monotonic() + budget_s
    done = 0
    while (left_s := deadline - time.monotonic()) > 0:
        progress = embed_pending(context, wait_s=left_s)
        done += progress.done
        if not progress.more:
            break
    return done
