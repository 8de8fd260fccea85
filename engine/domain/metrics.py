"""What a process has done since it started: counted in memory, never kept."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

KEPT_CALLS = 1_024
"""Latencies are those of the last so many calls."""


@dataclass(frozen=True, slots=True)
class OperationCount:
    """How often an operation was called, and how many of the calls failed."""

    calls: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds that the last calls took; all zero before the first."""

    calls: int = 0
    average_ms: float = 0.0
    max_ms: float = 0.0
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    p99_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of one process. ``recalls`` counts all recalls, ``empty_recalls`` those that
    found nothing; ``recall`` and ``stages`` are latencies, in whole and by stage."""

    uptime_s: float
    operations: Mapping[str, OperationCount]
    recalls: int
    empty_recalls: int
    recall: Latency
    stages: Mapping[str, Latency] = field(default_factory=dict)


class Meter:
    """Counts calls, errors and latencies of this process. Thread-safe.

    ``clock`` gives seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started_at = clock()
        self._lock = threading.Lock()
        self._operations: dict[str, OperationCount] = {}
        self._recalls = 0
        self._empty = 0
        self._recall_ms: deque[float] = deque(maxlen=KEPT_CALLS)
        self._stages_ms: dict[str, deque[float]] = {}

    def called(self, operation: str, *, failed: bool) -> None:
        """An operation ended."""
        with self._lock:
            known = self._operations.get(operation, OperationCount())
            self._operations[operation] = OperationCount(known.calls + 1, known.errors + failed)

    def recalled(self, took_ms: float, stages_ms: Mapping[str, float], *, empty: bool) -> None:
        """A recall ended."""
        with self._lock:
            self._recalls += 1
            self._empty += empty
            self._recall_ms.append(took_ms)
            for stage, stage_ms in stages_ms.items():
                kept = self._stages_ms.setdefault(stage, deque(maxlen=KEPT_CALLS))
                kept.append(stage_ms)

    def read(self) -> Metrics:
        """The figures now."""
        with self._lock:
            return Metrics(
                uptime_s=self._clock() - self._started_at,
                operations=dict(sorted(self._operations.items())),
                recalls=self._recalls,
                empty_recalls=self._empty,
                recall=latency(tuple(self._recall_ms)),
                stages={stage: latency(tuple(ms)) for stage, ms in self._stages_ms.items()},
            )


def latency(took_ms: Sequence[float]) -> Latency:
    """Average, greatest and percentiles (nearest rank) of some durations."""
    if not took_ms:
        return Latency()
    ordered = sorted(took_ms)
    return Latency(
        calls=len(ordered),
        average_ms=sum(ordered) / len(ordered),
        max_ms=ordered[-1],
        p50_ms=_percentile(ordered, 50),
        p95_ms=_percentile(ordered, 95),
        p99_ms=_percentile(ordered, 99),
    )


def _percentile(ordered: Sequence[float], percent: int) -> float:
    rank = -(-percent * len(ordered) // 100)
    return ordered[max(rank, 1) - 1]
