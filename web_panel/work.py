"""Long work: one at a time, beside the pages, telling how far it is; a person can stop it."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.domain.errors import Busy, JiyiError
from web_panel.feed import Feed

_TELL_EVERY_S = 0.1
_log = logging.getLogger("jiyi.panel")

Outcome = Mapping[str, object]
"""What work hands over when it ends, as JSON."""


class Stopped(JiyiError):
    """A person stopped the work."""

    def __init__(self) -> None:
        super().__init__("panel.work.stopped")


@dataclass(slots=True)
class Work:
    """One piece of work on its way. Its methods are called in its own thread."""

    name: str
    _feed: Feed
    _stop: threading.Event = field(default_factory=threading.Event)
    _told_at: float = 0.0

    def step(self, done: int, of: int) -> bool:
        """So much is done; False when a person wants it to end."""
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY_S or done == of:
            self._told_at = now
            self._feed.tell("work", _event(self.name, "runs", {"done": done, "of": of}))
        return not self._stop.is_set()

    def step_or_end(self, done: int, of: int) -> None:
        """The same for work that only an error ends; it has nothing to take back."""
        if not self.step(done, of):
            raise Stopped

    def is_stopped(self) -> bool:
        """Whether a person wants it to end."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Let it end after the step that it is at."""
        self._stop.set()


class Works:
    """Starts work, and knows what runs. ``say`` words an error for people."""

    def __init__(self, feed: Feed, say: Callable[[JiyiError], str]) -> None:
        self._feed = feed
        self._say = say
        self._lock = threading.Lock()
        self._now: Work | None = None

    @property
    def running(self) -> str | None:
        """The name of what runs now."""
        work = self._now
        return None if work is None else work.name

    def start(self, name: str, job: Callable[[Work], Outcome]) -> None:
        """Run ``job`` in a thread of its own. Its end is told as an event ``work`` with the state
        ``done``, ``stopped`` or ``failed``. Raises :class:`Busy` while another runs."""
        with self._lock:
            if self._now is not None:
                raise Busy("panel.work.busy")
            work = self._now = Work(name, self._feed)
        # A daemon: the panel may be ended in the middle, as any program may.
        threading.Thread(target=self._run, args=(work, job), name="panel-work", daemon=True).start()

    def stop(self) -> bool:
        """Ask what runs to end; False when nothing runs."""
        work = self._now
        if work is None:
            return False
        work.stop()
        return True

    def _run(self, work: Work, job: Callable[[Work], Outcome]) -> None:
        self._feed.tell("work", _event(work.name, "runs", {"done": 0, "of": 0}))
        state = "failed"
        told: Outcome = {"error": self._say(JiyiError("panel.unexpected"))}
        try:
            told = job(work)
            state = "done"
        except Stopped as error:
            state, told = "stopped", {"error": self._say(error)}
        except JiyiError as error:
            told = {"error": self._say(error)}
        except (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError):
            _log.exception("work failed")
        finally:
            self._now = None
            self._feed.tell("work", _event(work.name, state, told))


def _event(name: str, state: str, more: Mapping[str, object]) -> str:
    return json.dumps({"name": name, "state": state, **more}, ensure_ascii=False)
