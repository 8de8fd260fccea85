"""What the tools do that pin, put aside and strengthen memories, and upkeep. Runs on worker
threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from engine.config.messages import render
from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput
from engine.domain.jobs import JobReport
from engine.mcp_server.core_tools import Call
from engine.mcp_server.recorded import View
from engine.use_cases.bulk import BulkRequest


def pin_memory(call: Call) -> str:
    """Pin or unpin one memory."""
    off = call.arguments.text("pinned") == "no"
    return _changed(call, "unpin" if off else "pin")


def archive_memory(call: Call) -> str:
    """Put one memory aside or bring it back."""
    off = call.arguments.text("archived") == "no"
    return _changed(call, "unarchive" if off else "archive")


def reinforce_memory(call: Call) -> str:
    """Strengthen a memory, or one fact."""
    ref, atom = call.arguments.text("id"), call.arguments.text("atom")
    if (ref is None) == (atom is None):
        raise InvalidInput("mcp.keeping.memory_or_atom")
    if atom is not None:
        fact = call.engine.reinforce_atom(atom, _caller(call))
        return call.view.say("mcp.keeping.atom", id=fact.id, days=f"{fact.ttl_days:.0f}")
    done = call.engine.upkeep.reinforce(ref or "", _caller(call))
    return call.view.say(
        "mcp.keeping.reinforced",
        ref=f"#{done.memory.id}",
        before=f"{done.before:.2f}",
        after=f"{done.after:.2f}",
    )


def memory_maintenance(call: Call) -> str:
    """Run upkeep and say what each job did."""
    apply = {"yes": True, "no": False, None: None}[call.arguments.text("apply")]
    names = call.arguments.labels("jobs") or ()
    stopped = call.line.given_up.is_set
    done = call.engine.upkeep.tick(_caller(call), names=names, apply=apply, stopped=stopped)
    view = call.view
    if call.wants_json:
        entries = [_entry(report, view) for report in done.reports]
        return json.dumps({"elsewhere": done.elsewhere, "jobs": entries}, ensure_ascii=False)
    if done.elsewhere:
        return view.say("mcp.keeping.elsewhere")
    lines = [_line(report, view) for report in done.reports]
    return "\n".join(lines) or view.say("mcp.keeping.none_due")


RUN: Mapping[str, Callable[[Call], str]] = {
    "pin_memory": pin_memory,
    "archive_memory": archive_memory,
    "reinforce_memory": reinforce_memory,
    "memory_maintenance": memory_maintenance,
}


def _changed(call: Call, action: str) -> str:
    ref = call.arguments.text("id") or ""
    done = call.engine.bulk.change(BulkRequest([ref], action), _caller(call))
    for _, error in done.failed:
        raise error
    memory = call.engine.get(ref)
    key = f"mcp.keeping.{action}" if done.changed else "mcp.keeping.unchanged"
    return call.view.say(key, ref=f"#{memory.id}")


def _caller(call: Call) -> Caller:
    return call.surroundings.caller(call.asker, call.workspace())


def _line(report: JobReport, view: View) -> str:
    if report.problem is not None:
        reason = render(report.problem.error(), view.language)
        return "- " + view.say("mcp.keeping.failed", job=report.name, reason=reason)
    counts = ", ".join(f"{name} {count}" for name, count in report.counts.items())
    key = "mcp.keeping.looked" if report.dry_run else "mcp.keeping.ran"
    return "- " + view.say(key, job=report.name, counts=counts or "-")


def _entry(report: JobReport, view: View) -> dict[str, object]:
    problem = report.problem
    return {
        "job": report.name,
        "dry_run": report.dry_run,
        "counts": dict(report.counts),
        "error": None if problem is None else render(problem.error(), view.language),
    }
