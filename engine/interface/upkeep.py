"""The upkeep of the store: due jobs, their runs, and what use strengthens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.jobs import JobRun, JobState, JobStatus
from engine.jobs import build_jobs
from engine.use_cases import maintenance, reinforce
from engine.use_cases.maintenance import Tick, TickRequest
from engine.use_cases.reinforce import Flushed, Reinforced


class Upkeep:
    """The upkeep of the store: due jobs, their runs, and what use strengthens."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def tick(
        self,
        caller: Caller,
        *,
        names: Sequence[str] = (),
        apply: bool | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Tick:
        """Run what is due, or what is named; see :func:`engine.use_cases.maintenance.tick`."""
        request = TickRequest(caller.actor, names, apply, stopped)
        return maintenance.tick(self._context, build_jobs(self._context), request)

    def jobs(self) -> Sequence[JobStatus]:
        """Where each job stands, and when it is due next."""
        return maintenance.job_statuses(self._context, build_jobs(self._context))

    def runs(self, limit: int = 50) -> Sequence[JobRun]:
        """The last runs, newest first."""
        return maintenance.last_runs(self._context, limit)

    def failing_jobs(self) -> Sequence[JobState]:
        """The jobs whose last run failed."""
        return maintenance.failing_jobs(self._context)

    def reinforce(self, ref: str | int, caller: Caller) -> Reinforced:
        """Say that a memory matters; see
        :func:`engine.use_cases.reinforce.reinforce_memory`."""
        return reinforce.reinforce_memory(self._context, ref, caller)

    def count_uses(self) -> Flushed:
        """Count the uses that wait, now instead of in a moment."""
        return reinforce.flush_accesses(self._context)
