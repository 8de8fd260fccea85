"""``jiyi repair`` and ``jiyi rebuild-index``: put right what can be, build anew what is
derived."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.domain.vocabulary import check
from engine.use_cases.rebuild import PARTS
from engine.use_cases.repair import Finding, RepairReport
from launchers.cli.failures import FAILED
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session
from launchers.cli.vectors import settled_vectors
from launchers.cli.work import progress_bars


def repair_command(
    context: typer.Context,
    general: GeneralOptions,
    apply: Annotated[bool, option("--apply", key="repair_apply")] = False,
) -> int:
    """Look for damage, and with ``--apply`` put it right."""
    session = open_session(context, general)
    with session.engine() as engine:
        report = engine.backups.repair(apply=apply)
        waiting = settled_vectors(engine) if apply else 0
        _show(session.output, report, waiting)
    needs_more = report.left if report.applied else report.findings
    return FAILED if needs_more else 0


def _show(output: Output, report: RepairReport, waiting: int) -> None:
    if output.format == "json":
        output.json(
            {
                "applied": report.applied,
                "findings": {finding.name: finding.count for finding in report.findings},
                "left": {finding.name: finding.count for finding in report.left},
                "vectors_waiting": waiting,
            }
        )
        return
    rows = [_row(output, finding) for finding in report.findings]
    if output.format == "tsv":
        output.tsv([(finding.name, finding.count) for finding in report.findings])
    elif rows:
        output.table((Column("", right=True), Column("", wraps=True)), rows)
    if not report.findings:
        output.note("cli.repair.nothing")
    elif not report.applied:
        output.note("cli.repair.would")
    elif report.left:
        output.note("cli.repair.left", count=len(report.left))
    else:
        output.note("cli.repair.done", waiting=waiting)


def _row(output: Output, finding: Finding) -> tuple[str, str]:
    return str(finding.count), output.say(f"cli.repair.finding.{finding.name}")


def rebuild_index_command(
    context: typer.Context,
    general: GeneralOptions,
    part: Annotated[
        str, typer.Argument(metavar="[all|text|vectors]", help="cli.argument.index_part")
    ] = "all",
) -> int:
    """Build the full-text and the vector index anew."""
    session = open_session(context, general)
    output, chosen = session.output, check("part", part, ("all", *PARTS))
    with session.engine() as engine, progress_bars(output) as show:
        parts = () if chosen == "all" else (chosen,)
        done = engine.backups.rebuild_index(
            parts, lambda name, count, total: show(name, "index", count, total)
        )
    if output.format == "json":
        output.json(
            {
                "memories": done.memories,
                "other_rows": done.other_rows,
                "vectors": done.vectors,
            }
        )
    elif output.format == "tsv":
        output.tsv([(done.memories, done.other_rows, done.vectors)])
    else:
        told = output.say(
            "cli.rebuild_index.done",
            memories=done.memories,
            others=done.other_rows,
            vectors=done.vectors,
        )
        output.line(told)
    return 0
