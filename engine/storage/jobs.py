"""When the jobs of upkeep ran, and how the last runs went."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from engine.domain.jobs import JobProblem, JobReport, JobRun, JobState
from engine.storage.database import Connection, Row

KEPT_RUNS = 50


def states(connection: Connection) -> dict[str, JobState]:
    """The state of each job that ever ran, by name."""
    rows = connection.execute(
        "SELECT name, last_run_at, last_success_at, last_error FROM job ORDER BY name"
    )
    return {
        row["name"]: JobState(
            row["name"],
            row["last_run_at"],
            row["last_success_at"],
            _problem(json.loads(row["last_error"])) if row["last_error"] else None,
        )
        for row in rows
    }


def put_state(connection: Connection, state: JobState) -> None:
    """Write where a job stands."""
    connection.execute(
        """INSERT OR REPLACE INTO job (name, last_run_at, last_success_at, last_error)
        VALUES (?, ?, ?, ?)""",
        (
            state.name,
            state.last_run_at,
            state.last_success_at,
            _json(asdict(state.problem)) if state.problem else None,
        ),
    )


def put_run(connection: Connection, run: JobRun) -> int:
    """Write a run, or one anew that has an id; return its id."""
    cursor = connection.execute(
        """INSERT OR REPLACE INTO job_run (id, started_at, ended_at, actor, report)
        VALUES (?, ?, ?, ?, ?)""",
        (
            run.id or None,
            run.started_at,
            run.ended_at,
            run.actor,
            _json([asdict(report) for report in run.reports]),
        ),
    )
    return int(cursor.lastrowid or 0)


def drop_old_runs(connection: Connection) -> None:
    """Keep the last :data:`KEPT_RUNS` runs."""
    connection.execute(
        """DELETE FROM job_run WHERE id NOT IN
        (SELECT id FROM job_run ORDER BY id DESC LIMIT ?)""",
        (KEPT_RUNS,),
    )


def runs(connection: Connection, limit: int = KEPT_RUNS) -> list[JobRun]:
    """The last runs, newest first."""
    rows = connection.execute(
        """SELECT id, started_at, ended_at, actor, report FROM job_run
        ORDER BY id DESC LIMIT ?""",
        (limit,),
    )
    return [_run(row) for row in rows]


def _run(row: Row) -> JobRun:
    return JobRun(
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        actor=row["actor"],
        reports=tuple(_report(item) for item in json.loads(row["report"])),
        id=row["id"],
    )


def _report(item: Mapping[str, object]) -> JobReport:
    counts, problem, seconds = item["counts"], item["problem"], item["seconds"]
    assert isinstance(counts, dict)
    assert isinstance(seconds, float | int)
    return JobReport(
        name=str(item["name"]),
        counts={str(name): int(count) for name, count in counts.items()},
        seconds=float(seconds),
        dry_run=bool(item["dry_run"]),
        problem=_problem(problem) if isinstance(problem, dict) else None,
    )


def _problem(item: Mapping[str, object]) -> JobProblem:
    params = item["params"]
    assert isinstance(params, dict)
    return JobProblem(str(item["key"]), {str(name): str(value) for name, value in params.items()})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
