"""``jiyi maintenance``: what is due, and who does it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from engine.domain.caller import Caller
from engine.domain.errors import Conflict, JiyiError
from engine.domain.jobs import JobRun
from engine.domain.times import minute_with_offset
from engine.domain.vocabulary import check
from launchers.cli.failures import FAILED
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Output
from launchers.cli.session import ACTOR, Session, open_session
from launchers.cli.upkeep_view import UpkeepView
from launchers.detached import Detached, Running

if TYPE_CHECKING:
    from engine.bootstrap import Engine

_ACTIONS = ("status", "tick", "run", "start", "stop")
_NAME = "maintenance"
_ENDINGS = (signal.SIGTERM, signal.SIGINT)
_LOOK_S = 0.5
_STOP_S = 20.0


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What a tick runs, and whether it only looks."""

    job: Annotated[list[str] | None, option("--job", metavar="NAME")] = None
    apply: Annotated[bool, option("--apply", key="apply_jobs")] = False
    dry_run: Annotated[bool, option("--dry-run", key="dry_run_jobs")] = False

    @property
    def applies(self) -> bool | None:
        """``None``: as the settings say."""
        return False if self.dry_run else (True if self.apply else None)


def maintenance_command(
    context: typer.Context,
    general: GeneralOptions,
    given: JobOptions,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[status|tick|run|start|stop]", help="cli.argument.maintenance_action"
        ),
    ] = "status",
) -> int:
    """Show what is due, run it once, or let it go on."""
    session = open_session(context, general)
    chosen = check("action", action, _ACTIONS)
    if chosen == "tick":
        return _tick(session, given)
    act: Callable[[Session], int] = {
        "status": _status,
        "run": _run,
        "start": _start,
        "stop": _stop,
    }[chosen]
    return act(session)


def _tick(session: Session, given: JobOptions) -> int:
    with session.engine() as engine:
        done = engine.upkeep.tick(Caller(ACTOR), names=given.job or (), apply=given.applies)
        view = UpkeepView(session.output, engine.context.zone)
        if session.output.format == "json":
            records = [view.report_record(report) for report in done.reports]
            session.output.json({"reports": records, "elsewhere": done.elsewhere})
        elif done.elsewhere:
            session.output.note("cli.maintenance.elsewhere")
        elif not done.reports:
            session.output.note("cli.maintenance.none_due")
        else:
            view.show_reports(done.reports)
    return FAILED if done.failed else 0


def _status(session: Session) -> int:
    output, running = session.output, _detached(session).running()
    with session.engine() as engine:
        enabled = engine.context.settings.maintenance.enabled
        view = UpkeepView(output, engine.context.zone)
        jobs, runs = engine.upkeep.jobs(), engine.upkeep.runs()
        if output.format == "json":
            output.json(
                {
                    "enabled": enabled,
                    "running": _record(running),
                    "jobs": [view.status_record(job) for job in jobs],
                    "runs": [view.run_record(run) for run in runs],
                }
            )
            return 0
        view.show_statuses(jobs)
        if output.format == "table":
            if runs:
                output.line()
                output.line(output.say("cli.maintenance.runs"))
                view.show_runs(runs)
            output.line()
            _show_running(session, engine, running)
            if not enabled:
                output.note("cli.maintenance.disabled")
    return 0


def _show_running(session: Session, engine: Engine, running: Running | None) -> None:
    output = session.output
    if running is None:
        output.line(output.say("cli.maintenance.not_running"))
        return
    since = minute_with_offset(running.started_at, engine.context.zone)
    log = _detached(session).log
    output.line(output.say("cli.maintenance.running", pid=running.pid, since=since, log=log))


def _run(session: Session) -> int:
    """Do what is due until somebody says to stop."""
    detached = _detached(session)
    with detached.held() as asked_to_stop, session.engine() as engine:
        if asked_to_stop is None:
            raise _already(detached.running(), engine)
        if not engine.context.settings.maintenance.enabled:
            raise Conflict("error.upkeep_off")
        session.output.note("cli.maintenance.goes_on")
        with _signals() as told:
            _go_on(session.output, engine, lambda: bool(told) or asked_to_stop())
    return 0


def _go_on(output: Output, engine: Engine, stopped: Callable[[], bool]) -> None:
    """Let the background work, and show its runs."""
    view = UpkeepView(output, engine.context.zone)
    seen = max((run.id for run in engine.upkeep.runs(1)), default=0)
    engine.start_background(_NAME)
    while not stopped():
        time.sleep(_LOOK_S)
        seen = _show_new(output, view, _runs_after(engine, seen), seen)


def _runs_after(engine: Engine, seen: int) -> list[JobRun]:
    try:
        return [run for run in engine.upkeep.runs(5) if run.id > seen]
    except JiyiError:
        # Shown at the next look; the work itself is not disturbed by it.
        return []


def _show_new(output: Output, view: UpkeepView, runs: list[JobRun], seen: int) -> int:
    for run in reversed(runs):
        if output.format == "json":
            output.json(view.run_record(run))
        else:
            view.show_runs([run])
        seen = run.id
    return seen


def _start(session: Session) -> int:
    output, detached = session.output, _detached(session)
    with session.engine() as engine:
        if not engine.context.settings.maintenance.enabled:
            raise Conflict("error.upkeep_off")
        if (running := detached.running()) is not None:
            raise _already(running, engine)
    arguments = [_NAME, "run", "--format", "tsv", "--home", str(session.home)]
    started = detached.start(arguments, session.environ)
    if started is None:
        raise Conflict("error.upkeep_not_started", log=str(detached.log))
    if output.format == "json":
        output.json({"running": _record(started)})
    elif output.format == "tsv":
        output.tsv([("started", started.pid)])
    else:
        output.line(output.say("cli.maintenance.started", pid=started.pid, log=detached.log))
    return 0


def _stop(session: Session) -> int:
    output, detached = session.output, _detached(session)
    running = detached.running()
    if running is not None and not detached.stop(_STOP_S):
        raise Conflict("error.upkeep_goes_on", pid=running.pid)
    if output.format == "json":
        output.json({"stopped": _record(running)})
    elif output.format == "tsv":
        output.tsv([] if running is None else [("stopped", running.pid)])
    else:
        key = "cli.maintenance.not_there" if running is None else "cli.maintenance.stopped"
        output.line(output.say(key))
    return 0


def _detached(session: Session) -> Detached:
    return Detached(session.home, _NAME)


def _already(running: Running | None, engine: Engine) -> Conflict:
    pid = running.pid if running else "?"
    since = minute_with_offset(running.started_at, engine.context.zone) if running else "?"
    return Conflict("error.upkeep_runs", pid=pid, since=since)


def _record(running: Running | None) -> dict[str, object] | None:
    return None if running is None else {"pid": running.pid, "started_at": running.started_at}


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Signals that told the process to end; it does so with everything closed."""
    told: list[int] = []

    def remember(number: int, _: FrameType | None) -> None:
        told.append(number)

    before = {number: signal.signal(number, remember) for number in _ENDINGS}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
