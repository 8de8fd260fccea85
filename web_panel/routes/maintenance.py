"""Maintenance: jobs, backups and repairs, each looked at before it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.config.messages import template_of
from engine.domain.health import Check
from engine.domain.jobs import JobReport, JobStatus
from engine.domain.times import minute_with_offset
from engine.domain.vocabulary import check
from engine.use_cases.rebuild import PARTS
from engine.use_cases.repair import Finding, RepairReport
from web_panel.answers import (
    Body,
    action,
    caller,
    data,
    engine_of,
    flag_of,
    page,
    sentence,
    text_of,
)
from web_panel.language import Words
from web_panel.routes.statistics import megabytes
from web_panel.work import Outcome, Work, Works

_RUNS, _BACKUPS = 12, 20


def maintenance_page(request: Request) -> Response:
    """Jobs, backups and findings as they are now."""
    engine = engine_of(request)
    works: Works = request.app.state.works
    return page(
        request,
        "maintenance.html",
        jobs=[_job(request, status) for status in engine.upkeep.jobs()],
        runs=_runs(request),
        backups=_backups(request),
        parts=PARTS,
        running=works.running or "",
    )


def run_job(request: Request, body: Body) -> Response:
    """Run a job, or with ``preview`` look what it would do."""
    name, preview = text_of(body, "job"), flag_of(body, "preview")
    check("job", name, [status.name for status in engine_of(request).upkeep.jobs()])
    return _start(request, f"job.{name}", partial(_run_job, request, name, preview))


def make_backup(request: Request, body: Body) -> Response:
    """Make a verified backup."""
    return _start(request, "backup", partial(_make_backup, request))


def repair(request: Request, body: Body) -> Response:
    """Look at everything; with ``apply`` put right what can be."""
    apply = flag_of(body, "apply")
    return _start(request, "repair" if apply else "scan", partial(_repair, request, apply))


def rebuild(request: Request, body: Body) -> Response:
    """Build an index anew."""
    part = check("part", text_of(body, "part"), PARTS)
    return _start(request, f"rebuild.{part}", partial(_rebuild, request, part))


def diagnose(request: Request, body: Body) -> Response:
    """Everything that the doctor looks at."""
    return _start(request, "doctor", partial(_diagnose, request))


def _start(request: Request, name: str, job: partial[Outcome]) -> Response:
    works: Works = request.app.state.works
    works.start(name, job)
    return data({"started": name}, 202)


def _run_job(request: Request, name: str, preview: bool, work: Work) -> Outcome:
    upkeep, words = engine_of(request).upkeep, request.state.words
    tick = upkeep.tick(caller(), names=(name,), apply=not preview, stopped=work.is_stopped)
    if tick.elsewhere:
        return {"said": words("panel.maintenance.elsewhere")}
    lines = [_outcome(request, report) for report in tick.reports]
    return {"said": " ".join(lines) or words("panel.maintenance.nothing")}


def _make_backup(request: Request, work: Work) -> Outcome:
    made, words = engine_of(request).backups.make(), request.state.words
    size, count = megabytes(made.file.size_bytes), made.contents.memories
    return {"said": words("panel.backup.made", name=made.file.name, size=size, count=count)}


def _repair(request: Request, apply: bool, work: Work) -> Outcome:
    report = engine_of(request).backups.repair(apply=apply)
    return {"said": _repaired(request.state.words, report), "found": bool(report.findings)}


def _repaired(words: Words, report: RepairReport) -> str:
    if not report.findings:
        return words("panel.repair.fine")
    said = _listed(words, report.findings)
    if not report.applied:
        return words("panel.repair.found", findings=said)
    if report.left:
        return words("panel.repair.left", findings=_listed(words, report.left))
    return words("panel.repair.done", findings=said)


def _listed(words: Words, findings: Sequence[Finding]) -> str:
    return "; ".join(f"{words(f'cli.repair.finding.{one.name}')}: {one.count}" for one in findings)


def _rebuild(request: Request, part: str, work: Work) -> Outcome:
    def step(_: str, done: int, of: int) -> None:
        work.step_or_end(done, of)

    built = engine_of(request).backups.rebuild_index((part,), step)
    words = request.state.words
    return {"said": words("panel.rebuild.done", memories=built.memories, vectors=built.vectors)}


def _diagnose(request: Request, work: Work) -> Outcome:
    found = engine_of(request).diagnose()
    return {
        "said": request.state.words(f"panel.doctor.{'well' if found.healthy else 'ill'}"),
        "checks": [_check(request.state.words, one) for one in found.checks],
    }


def _check(words: Words, one: Check) -> Mapping[str, str]:
    return {"status": one.status, "name": one.name, "said": words(one.key, **one.params)}


def _job(request: Request, status: JobStatus) -> Mapping[str, object]:
    words, state = request.state.words, status.state
    problem = None if state.problem is None else sentence(request, state.problem.error())
    return {
        "name": status.name,
        "title": words(f"job.{status.name}"),
        "last": _minute(request, state.last_success_at),
        "next": _next(request, status),
        "problem": problem,
        "applies": status.applies,
    }


def _next(request: Request, status: JobStatus) -> str:
    if status.next_at is None or status.is_due:
        return str(request.state.words(f"panel.maintenance.{'due' if status.is_due else 'off'}"))
    return _minute(request, status.next_at)


def _runs(request: Request) -> Sequence[Mapping[str, str]]:
    return [
        {
            "at": _minute(request, run.started_at),
            "actor": run.actor,
            "title": request.state.words(f"job.{report.name}"),
            "said": _outcome(request, report),
        }
        for run in engine_of(request).upkeep.runs(_RUNS)
        for report in run.reports
    ][:_RUNS]


def _outcome(request: Request, report: JobReport) -> str:
    words = request.state.words
    if report.problem is not None:
        return sentence(request, report.problem.error())
    counted = [words(f"job_count.{name}", count=n) for name, n in report.counts.items() if n]
    said = " · ".join(counted) or words("panel.maintenance.nothing")
    return str(words("panel.maintenance.would", said=said) if report.dry_run else said)


def _backups(request: Request) -> Sequence[Mapping[str, str]]:
    words = request.state.words
    return [
        {
            "name": file.name,
            "at": _minute(request, file.at),
            "reason": words(f"panel.reason.{file.reason}")
            if template_of(f"panel.reason.{file.reason}", "en")
            else file.reason,
            "size": megabytes(file.size_bytes),
        }
        for file in engine_of(request).backups.list()[:_BACKUPS]
    ]


def _minute(request: Request, instant: float | None) -> str:
    if instant is None:
        return "–"
    return minute_with_offset(instant, engine_of(request).context.zone)[:16]


ROUTES = [
    Route("/maintenance", maintenance_page),
    Route("/maintenance/job", action(run_job), methods=["POST"]),
    Route("/maintenance/backup", action(make_backup), methods=["POST"]),
    Route("/maintenance/repair", action(repair), methods=["POST"]),
    Route("/maintenance/rebuild", action(rebuild), methods=["POST"]),
    Route("/maintenance/doctor", action(diagnose), methods=["POST"]),
]
