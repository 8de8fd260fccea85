"""Upkeep: one tick runs the jobs that are due, in one process of the store at a time.

Each job has an interval of its own, counted from its last success. Ticking twice is harmless,
and so is being killed: what a job did stays, and the lease of the dead ends by itself.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from engine.context import EngineContext
from engine.domain.errors import JiyiError
from engine.domain.jobs import JobProblem, JobReport, JobRun, JobState, JobStatus
from engine.domain.vocabulary import check
from engine.lifecycle.schedule import DailyMoment
from engine.storage import jobs as stored
from engine.storage import leases

log = logging.getLogger("jiyi.maintenance")

LEASE = "maintenance"
LEASE_S = 120.0
_RENEW_S = 30.0
_WAIT_S = 5.0
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be done now and then.

    ``run(apply)`` returns what it counted. It is due ``interval_s`` after its last success, or
    with ``daily`` once that moment of the day has passed. ``applies`` is false where settings
    let it only look. One that is ``quiet`` is not worth a line when it counted nothing; one
    without ``has_preview`` cannot only look.
    """

    name: str
    run: Callable[[bool], Mapping[str, int]]
    interval_s: float = _DAY_S
    daily: DailyMoment | None = None
    enabled: bool = True
    applies: bool = True
    has_preview: bool = True
    quiet: bool = False

    def next_at(self, state: JobState, now: float) -> float | None:
        """When it is due (epoch seconds, ``now`` at the earliest); ``None`` while it is off."""
        last = state.last_success_at
        if not self.enabled:
            return None
        # A success that lies ahead was noted by a clock that has been put right since.
        if last is None or last > now:
            return now
        if self.daily is None:
            return max(now, last + self.interval_s)
        following = self.daily.between(last, last + 3 * _DAY_S)
        return max(now, following[0]) if following else now


@dataclass(frozen=True, slots=True)
class TickRequest:
    """Who ticks, and what to run: the jobs that are due, or those named, due or not.

    ``apply`` false only looks what there would be to do, true does it even where settings say
    to look only; ``None`` is as the settings say. ``stopped`` is asked between two jobs.
    """

    actor: str
    names: Sequence[str] = ()
    apply: bool | None = None
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Tick:
    """What a tick did. ``elsewhere`` means that another process is at it, so that nothing was
    done here."""

    reports: tuple[JobReport, ...] = ()
    elsewhere: bool = False

    @property
    def failed(self) -> tuple[JobReport, ...]:
        """The jobs that failed."""
        return tuple(report for report in self.reports if report.problem is not None)


def tick(context: EngineContext, jobs: Sequence[Job], request: TickRequest) -> Tick:
    """Run what is due, or what is named. A failing job is reported, keeps its turn, and keeps
    no other from being run. Raises InvalidInput for an unknown name, and what the store raises.

    A tick with nothing to do reads a few rows and writes nothing.
    """
    names = {check("job", name, [job.name for job in jobs]) for name in request.names}
    wanted = replace(request, names=tuple(names))
    if not _chosen(context, jobs, wanted):
        return Tick()
    with _lease(context) as lease:
        if lease is None:
            return Tick(elsewhere=True)
        # Another process may have done it between the look and the lease.
        record = _Record(context, request.actor)
        for job in _chosen(context, jobs, wanted):
            if lease.is_lost() or request.stopped():
                break
            record.add(job, _ran(context, job, wanted))
        return Tick(tuple(record.reports))


def job_statuses(context: EngineContext, jobs: Sequence[Job]) -> list[JobStatus]:
    """Where each job stands, and when it is due next."""
    now, states = context.clock.now(), _states(context)
    found = []
    for job in jobs:
        state = states.get(job.name, JobState(job.name))
        next_at = job.next_at(state, now)
        found.append(JobStatus(state, job.enabled, job.applies, next_at, next_at == now))
    return found


def last_runs(context: EngineContext, limit: int = stored.KEPT_RUNS) -> list[JobRun]:
    """The last runs, newest first; 50 are kept."""
    with context.database.read() as connection:
        return stored.runs(connection, limit)


def failing_jobs(context: EngineContext) -> list[JobState]:
    """The jobs whose last run failed."""
    return [state for state in _states(context).values() if state.problem is not None]


def _states(context: EngineContext) -> dict[str, JobState]:
    with context.database.read() as connection:
        return stored.states(connection)


def _chosen(context: EngineContext, jobs: Sequence[Job], request: TickRequest) -> list[Job]:
    if request.names:
        chosen = [job for job in jobs if job.name in request.names]
    else:
        now, states = context.clock.now(), _states(context)
        due = {job.name: job.next_at(states.get(job.name, JobState(job.name)), now) for job in jobs}
        chosen = [job for job in jobs if due[job.name] == now]
    return [job for job in chosen if job.has_preview or request.apply is not False]


def _ran(context: EngineContext, job: Job, request: TickRequest) -> _Ran:
    started_at, since = context.clock.now(), time.perf_counter()
    applied = job.applies if request.apply is None else request.apply
    counts: Mapping[str, int] = {}
    problem = None
    try:
        counts = job.run(applied)
    except JiyiError as error:
        problem = JobProblem.of(error)
        log.warning("job %s: %s", job.name, error)
    # No fault of one job may keep the others from being done; it is shown in the runs and in
    # the health of the store, and the log has the trace.
    except Exception as error:
        problem = JobProblem.of(JiyiError("error.job_failed", kind=type(error).__name__))
        log.exception("job %s failed", job.name)
    seconds = round(time.perf_counter() - since, 3)
    report = JobReport(job.name, dict(counts), seconds, not applied, problem)
    # A look that settings ask for is the job's turn; one that somebody asked for is not.
    return _Ran(report, started_at, counts_as_turn=applied or not job.applies)


@dataclass(frozen=True, slots=True)
class _Ran:
    """A job that ran, and whether that was its turn."""

    report: JobReport
    started_at: float
    counts_as_turn: bool

    def state(self, before: JobState) -> JobState:
        """Where the job stands now; a failure does not move its schedule."""
        problem = self.report.problem
        moves = problem is None and self.counts_as_turn
        return JobState(
            before.name,
            self.started_at,
            self.started_at if moves else before.last_success_at,
            problem if problem or self.counts_as_turn else before.problem,
        )


@dataclass(slots=True)
class _Record:
    """Writes down each job as soon as it has run, so that a kill loses no word of it."""

    context: EngineContext
    actor: str
    reports: list[JobReport] = field(default_factory=list)
    _run: JobRun | None = None

    def add(self, job: Job, ran: _Ran) -> None:
        """Note a job that ran."""
        report = ran.report
        self.reports.append(report)
        with self.context.database.write() as connection:
            before = stored.states(connection).get(job.name, JobState(job.name))
            stored.put_state(connection, ran.state(before))
            if job.quiet and report.problem is None and not any(report.counts.values()):
                return
            earlier = next(iter(stored.runs(connection, 1)), None)
            run = self._extended(report, ran.started_at, earlier)
            self._run = replace(run, id=stored.put_run(connection, run))
            stored.drop_old_runs(connection)

    def _extended(self, report: JobReport, at: float, earlier: JobRun | None) -> JobRun:
        now = self.context.clock.now()
        if self._run is not None:
            return replace(self._run, ended_at=now, reports=(*self._run.reports, report))
        # A job that fails again and again, alone, shall not push all other runs out.
        if earlier is not None and _same_failure(earlier.reports, report):
            return replace(earlier, ended_at=now, actor=self.actor, reports=(report,))
        return JobRun(at, now, self.actor, (report,))


def _same_failure(earlier: Sequence[JobReport], report: JobReport) -> bool:
    known = [(item.name, item.problem) for item in earlier]
    return report.problem is not None and known == [(report.name, report.problem)]


class _Lease:
    """The right to do upkeep, renewed beside the work for as long as it lasts."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
        # Two threads of one process are two holders.
        self._holder = uuid.uuid4().hex
        self._ended = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="jiyi-lease", daemon=True)

    def take(self) -> bool:
        """Take or renew the lease; False when another holder's has not ended."""
        with self._context.database.write(_WAIT_S) as connection:
            now = self._context.clock.now()
            return leases.take(connection, LEASE, self._holder, now, LEASE_S)

    def start(self) -> None:
        """Renew it from now on."""
        self._thread.start()

    def is_lost(self) -> bool:
        """Whether another process has taken over, after this one slept for instance."""
        return self._lost.is_set()

    def end(self) -> None:
        """Give it back."""
        self._ended.set()
        self._thread.join(_WAIT_S + 1.0)
        with self._context.database.write(_WAIT_S) as connection:
            leases.release(connection, LEASE, self._holder)

    def _renew(self) -> None:
        while not self._ended.wait(_RENEW_S):
            try:
                if not self.take():
                    self._lost.set()
                    return
            except JiyiError as error:
                log.info("the lease is renewed later: %s", error)


@contextmanager
def _lease(context: EngineContext) -> Iterator[_Lease | None]:
    lease = _Lease(context)
    if not lease.take():
        yield None
        return
    lease.start()
    try:
        yield lease
    finally:
        try:
            lease.end()
        except JiyiError as error:
            # It ends by itself; what the jobs did stands.
            log.info("the lease ends by itself: %s", error)
