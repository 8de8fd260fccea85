"""Work that must answer in time, whatever it hangs on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TypeVar

Result = TypeVar("Result")


class Bounded:
    """Runs calls beside the caller, at most ``slots`` at once.

    Time limits of a connection leave out the look-up of a host's name and a server that
    sends a byte now and then; here the caller goes on, and the call ends by itself later.
    """

    def __init__(self, slots: int = 8) -> None:
        self._slots = threading.BoundedSemaphore(slots)

    def run(self, work: Callable[[], Result], wait_s: float, late: Exception) -> Result:
        """What ``work`` returns or raises; raises ``late`` after ``wait_s`` seconds, and at
        once when all slots hang."""
        if not self._slots.acquire(blocking=False):
            raise late
        future: Future[Result] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            # Whatever it is, the caller gets it.
            except Exception as error:
                future.set_exception(error)
            finally:
                self._slots.release()

        threading.Thread(target=run, name="model-request", daemon=True).start()
        try:
            return future.result(max(0.0, wait_s))
        except FutureTimeout:
            raise late from None
