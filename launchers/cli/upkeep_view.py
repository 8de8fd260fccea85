"""Jobs of upkeep as people and scripts see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.domain.jobs import JobProblem, JobReport, JobRun, JobStatus
from engine.domain.times import iso, minute_with_offset
from launchers.cli.output import Column, Output

_SHOWN_RUNS = 10


@dataclass(frozen=True, slots=True)
class UpkeepView:
    """Renders for one output; ``zone`` is that of shown times."""

    output: Output
    zone: tzinfo | None

    def report_record(self, report: JobReport) -> dict[str, object]:
        """The JSON shape of a job that ran; ``error`` is ``null`` when it went well."""
        return {
            "job": report.name,
            "counts": dict(report.counts),
            "seconds": report.seconds,
            "dry_run": report.dry_run,
            "error": self._reason(report.problem),
        }

    def run_record(self, run: JobRun) -> dict[str, object]:
        """The JSON shape of a run."""
        return {
            "id": run.id,
            "started_at": iso(run.started_at, self.zone),
            "ended_at": iso(run.ended_at, self.zone),
            "actor": run.actor,
            "jobs": [self.report_record(report) for report in run.reports],
        }

    def status_record(self, job: JobStatus) -> dict[str, object]:
        """The JSON shape of where a job stands."""
        state = job.state
        return {
            "job": job.name,
            "enabled": job.enabled,
            "applies": job.applies,
            "last_run_at": self._iso(state.last_run_at),
            "last_success_at": self._iso(state.last_success_at),
            "next_at": self._iso(job.next_at),
            "error": self._reason(state.problem),
        }

    def show_reports(self, reports: Sequence[JobReport]) -> None:
        """The jobs that a tick ran."""
        output = self.output
        if output.format == "tsv":
            output.tsv(self._report_row(report) for report in reports)
            return
        columns = (
            Column(output.say("cli.column.job")),
            Column(output.say("cli.column.outcome"), wraps=True),
            Column("s", right=True),
        )
        rows = [(self._name(r.name), self._outcome(r), f"{r.seconds:.1f}") for r in reports]
        output.table(columns, rows)

    def show_statuses(self, jobs: Sequence[JobStatus]) -> None:
        """Where each job stands."""
        output = self.output
        if output.format == "tsv":
            output.tsv(self._status_row(job) for job in jobs)
            return
        columns = (
            Column(output.say("cli.column.job")),
            Column(output.say("cli.column.last_success")),
            Column(output.say("cli.column.next_due")),
            Column(output.say("cli.column.outcome"), wraps=True),
        )
        output.table(columns, [self._shown_status(job) for job in jobs])

    def show_runs(self, runs: Sequence[JobRun]) -> None:
        """The last runs, each job of a run in a line."""
        output = self.output
        rows = [
            (self._minute(run.started_at), run.actor, self._name(report.name), report)
            for run in runs[:_SHOWN_RUNS]
            for report in run.reports
        ]
        if output.format == "tsv":
            output.tsv((at, actor, *self._report_row(report)) for at, actor, _, report in rows)
            return
        columns = (
            Column(output.say("cli.column.started")),
            Column(output.say("cli.column.by")),
            Column(output.say("cli.column.job")),
            Column(output.say("cli.column.outcome"), wraps=True),
        )
        output.table(columns, [(*row[:3], self._outcome(row[3])) for row in rows])

    def _shown_status(self, job: JobStatus) -> tuple[str, ...]:
        say, state = self.output.say, job.state
        last = state.last_success_at
        outcome = "" if job.applies else say("cli.maintenance.looks_only")
        if state.problem is not None:
            outcome = say("cli.maintenance.failed", reason=self._reason(state.problem))
        shown = say("cli.maintenance.never") if last is None else self._minute(last)
        return self._name(job.name), shown, self._next(job), outcome

    def _next(self, job: JobStatus) -> str:
        if job.next_at is None:
            return self.output.say("cli.maintenance.off")
        if job.is_due:
            return self.output.say("cli.maintenance.now")
        return self._minute(job.next_at)

    def _status_row(self, job: JobStatus) -> tuple[object, ...]:
        state = job.state
        error = state.problem.key if state.problem else ""
        times = self._iso(state.last_success_at) or "", self._iso(job.next_at) or ""
        return job.name, "on" if job.enabled else "off", *times, error

    def _report_row(self, report: JobReport) -> tuple[object, ...]:
        word = "failed" if report.problem else "dry-run" if report.dry_run else "ok"
        counts = " ".join(f"{name}={count}" for name, count in report.counts.items())
        return report.name, word, counts, self._reason(report.problem) or ""

    def _outcome(self, report: JobReport) -> str:
        say = self.output.say
        if report.problem is not None:
            return say("cli.maintenance.failed", reason=self._reason(report.problem))
        counted = [
            say(f"job_count.{name}", count=count) for name, count in report.counts.items() if count
        ]
        counts = " · ".join(counted) or say("cli.maintenance.nothing_done")
        return say("cli.maintenance.dry_run", counts=counts) if report.dry_run else counts

    def _name(self, name: str) -> str:
        return f"{name} ({self.output.say(f'job.{name}')})"

    def _reason(self, problem: JobProblem | None) -> str | None:
        return None if problem is None else self.output.sentence(problem.error())

    def _iso(self, instant: float | None) -> str | None:
        return None if instant is None else iso(instant, self.zone)

    def _minute(self, instant: float) -> str:
        return minute_with_offset(instant, self.zone)
