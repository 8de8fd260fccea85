"""A web server that ends when asked to and comes back to its caller."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

_ENDING = (signal.SIGINT, signal.SIGTERM)


class CalmServer(uvicorn.Server):
    """Ends when asked to, and comes back: the store is to be closed then. The library's own way
    ends the process on the spot."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals that mean to end, for as long as it serves."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in _ENDING}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
