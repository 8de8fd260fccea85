"""``jiyi doctor``: is everything as it should be, and what does a person have to do?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.embedding import ModelStatus
from engine.domain.errors import JiyiError
from engine.domain.health import FAILURE, OK, WARNING, Check
from engine.domain.times import iso
from engine.use_cases.inspect import Diagnosis
from engine.use_cases.privacy import exposed_files
from launchers import logs
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session
from launchers.cli.vectors import settled_vectors

HEALTHY, NEEDS_A_PERSON, CANNOT_LOOK = 0, 1, 2
_MARKS = {OK: "✓", WARNING: "!", FAILURE: "✗"}
_EXPOSED_SHOWN = 5

Line = tuple[str, str, str]
"""Status, name and sentence of one line of the report."""


def doctor_command(
    context: typer.Context,
    general: GeneralOptions,
    repair: Annotated[bool, option("--repair")] = False,
) -> int:
    """Look at store, index, model, settings and processes."""
    session = open_session(context, general)
    output = session.output
    try:
        with session.engine() as engine:
            if repair:
                _repair(output, engine)
            diagnosis = engine.diagnose()
            _show(output, engine, diagnosis)
    except JiyiError as error:
        output.error(error)
        output.note("doctor.cannot_look")
        if output.format == "json":
            problem = {"key": error.key, "message": output.sentence(error)}
            output.json({"healthy": None, "error": problem})
        return CANNOT_LOOK
    return HEALTHY if diagnosis.healthy else NEEDS_A_PERSON


def _repair(output: Output, engine: Engine) -> None:
    done = engine.repair()
    waiting = settled_vectors(engine)
    rebuilt = output.say("doctor.rebuilt") if done.rebuilt else ""
    output.note(
        "doctor.repaired",
        filled=done.filled,
        removed=done.removed,
        retried=done.retried,
        waiting=waiting,
        rebuilt=rebuilt,
    )


def _show(output: Output, engine: Engine, diagnosis: Diagnosis) -> None:
    if output.format == "json":
        output.json(_record(output, engine, diagnosis))
        return
    lines = list(_lines(output, engine, diagnosis))
    if output.format == "tsv":
        output.tsv(lines)
        return
    columns = (Column(""), Column(""), Column("", wraps=True))
    output.table(columns, [(_MARKS[s], output.say(f"doctor.name.{n}"), t) for s, n, t in lines])
    output.line()
    output.line(output.say("doctor.healthy" if diagnosis.healthy else "doctor.unhealthy"))


def _lines(output: Output, engine: Engine, diagnosis: Diagnosis) -> Iterator[Line]:
    yield OK, "home", diagnosis.home
    yield (
        OK,
        "size",
        output.say(
            "doctor.size",
            size=_megabytes(diagnosis.store_bytes),
            schema=diagnosis.schema_version,
            live=diagnosis.counts.live,
            trash=diagnosis.counts.trash,
        ),
    )
    for check in _checks(engine, diagnosis):
        yield check.status, check.name, _sentence(output, check)
        if check.name == "model":
            yield from _model_line(output, diagnosis)
    yield OK, "index", output.say(f"doctor.index.{diagnosis.vectors.index_mode or 'none'}")
    yield OK, "versions", ", ".join(f"{n} {v}" for n, v in diagnosis.versions.items())
    yield from _process_lines(output, engine, diagnosis)
    yield OK, "log", str(logs.log_path(engine.context.home))


def _checks(engine: Engine, diagnosis: Diagnosis) -> Iterator[Check]:
    """The engine's findings, and what is worth a warning around the store."""
    yield from diagnosis.checks
    for warning in engine.context.live.warnings:
        yield Check("settings", WARNING, warning.key, dict(warning.params))
    exposed = exposed_files(engine.context)
    if not exposed:
        yield Check("privacy", OK, "doctor.private", {})
        return
    shown = ", ".join(f"{item.path} ({item.mode})" for item in exposed[:_EXPOSED_SHOWN])
    params = {"paths": shown, "count": len(exposed), "home": diagnosis.home}
    yield Check("privacy", WARNING, "doctor.exposed", params)


def _model_line(output: Output, diagnosis: Diagnosis) -> Iterator[Line]:
    model = diagnosis.model
    state = output.say(f"doctor.state.{model.state}")
    speed = "" if diagnosis.probe_ms is None else f", {diagnosis.probe_ms:.1f} ms"
    yield OK, "provider", f"{model.provider}, {state}{speed}"


def _process_lines(output: Output, engine: Engine, diagnosis: Diagnosis) -> Iterator[Line]:
    if not diagnosis.processes:
        yield OK, "processes", output.say("doctor.no_processes")
    for process in diagnosis.processes:
        seen = iso(process.last_seen, engine.context.zone)
        yield (
            OK,
            "processes",
            output.say(
                "doctor.process",
                pid=process.pid,
                client=process.client,
                version=process.version,
                seen=seen,
            ),
        )


def _sentence(output: Output, check: Check) -> str:
    return output.sentence(JiyiError(check.key, **check.params))


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:.1f} MB"


def _record(output: Output, engine: Engine, diagnosis: Diagnosis) -> dict[str, object]:
    zone = engine.context.zone
    return {
        "healthy": diagnosis.healthy,
        "home": diagnosis.home,
        "store": diagnosis.store,
        "writable": diagnosis.writable,
        "store_bytes": diagnosis.store_bytes,
        "schema_version": diagnosis.schema_version,
        "counts": asdict(diagnosis.counts) | {"agree": diagnosis.counts.agree},
        "model": _model_record(output, diagnosis.model) | {"probe_ms": diagnosis.probe_ms},
        "vectors": asdict(diagnosis.vectors),
        "versions": diagnosis.versions,
        "processes": [
            {
                "pid": process.pid,
                "host": process.host,
                "client": process.client,
                "version": process.version,
                "started_at": iso(process.started_at, zone),
                "last_seen": iso(process.last_seen, zone),
            }
            for process in diagnosis.processes
        ],
        "checks": [
            {"name": check.name, "status": check.status, "message": _sentence(output, check)}
            for check in _checks(engine, diagnosis)
        ],
        "log": str(logs.log_path(engine.context.home)),
    }


def _model_record(output: Output, model: ModelStatus) -> dict[str, object]:
    reason = None
    if model.reason_key:
        reason = output.sentence(JiyiError(model.reason_key, **dict(model.reason_params)))
    return {
        "provider": model.provider,
        "model": model.model,
        "state": model.state,
        "dims": model.dims,
        "reason": reason,
    }
