"""When a provider may be asked again: pauses after refusals that asking again cannot mend."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.domain.errors import ModelUnavailable

PAUSE_S = 15 * 60.0
"""Pause after a refused key, an unpaid account or a forbidden request. A changed
configuration makes a new client, which is not paused."""


@dataclass(frozen=True, slots=True)
class ProviderState:
    """What is known of a provider, for people.

    ``state`` is ``untried``, ``ready``, ``failing`` (the last request failed) or ``paused``
    (not asked before ``until``). ``since`` and ``until`` are seconds since the epoch.
    """

    state: Literal["untried", "ready", "failing", "paused"]
    reason: ModelUnavailable | None = None
    since: float = 0.0
    until: float = 0.0


class Gate:
    """Keeps requests back while a provider is paused; safe to use from several threads.

    ``clock`` gives seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._state = ProviderState("untried")

    def check(self) -> None:
        """Raise the reason of a pause that has not ended."""
        state = self.state()
        if state.state == "paused" and state.reason is not None:
            raise type(state.reason)(state.reason.key, **state.reason.params)

    def succeeded(self) -> None:
        """The provider answered."""
        with self._lock:
            if self._state.state != "ready":
                self._state = ProviderState("ready", since=self._clock())

    def failed(self, reason: ModelUnavailable, pause_s: float = 0.0) -> None:
        """The provider failed; with ``pause_s`` it is not asked for so many seconds."""
        with self._lock:
            now = self._clock()
            kind: Literal["paused", "failing"] = "paused" if pause_s > 0 else "failing"
            self._state = ProviderState(kind, reason, since=now, until=now + pause_s)

    def state(self) -> ProviderState:
        """The state now; a pause that ended counts as failing until the next request."""
        with self._lock:
            state = self._state
        if state.state == "paused" and self._clock() >= state.until:
            return ProviderState("failing", state.reason, state.since)
        return state
