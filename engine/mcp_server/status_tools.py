"""What the tools do that show how store and server stand. Runs on worker threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial

from engine import VERSION
from engine.config.messages import render
from engine.domain.jobs import JobStatus
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.metrics import Latency
from engine.domain.prompts import PLAIN
from engine.evaluation.session import EvaluationRequest
from engine.evaluation.trial import Setup
from engine.mcp_server.core_tools import Call
from engine.mcp_server.fitting import fitted
from engine.mcp_server.quoting import one_line, size
from engine.mcp_server.recorded import View, optional_instant
from engine.use_cases.evaluate import SetReport

_SHOWN = 20
_FACETS = ("kind", "state", "source", "workspace", "tag")
_NAME_CHARS = 60


def memory_stats(call: Call) -> str:
    """Counts of memories and of what is derived from them."""
    found, layers, view = call.engine.statistics(), call.engine.overview.layers(), call.view
    facets = {name: getattr(found, f"by_{name}") for name in _FACETS}
    facets["atoms"] = layers.atoms_by_state
    counts = {
        "total": found.total,
        "pinned": found.pinned,
        "archived": found.by_state.get("archived", 0),
        "vectors": found.vectors,
        "nodes": layers.nodes,
        "edges": layers.edges,
        "entries": layers.entries,
        "facts": layers.facts,
        "journal_entries": found.journal_entries,
        "disk_bytes": layers.disk_bytes,
    }
    shown = {name: _largest(facet) for name, facet in facets.items()}
    if call.wants_json:
        return _dumped({**counts, **{f"by_{name}": facet for name, facet in shown.items()}}, view)
    lines = [f"{name}: {_counted(facet)}" for name, facet in shown.items() if facet]
    return fitted([_counted(counts)], lines, view)


def memory_status(call: Call) -> str:
    """How the store stands."""
    found, view = call.engine.overview.standing(), call.view
    waits = {"pending": found.pending, "failed": found.failed}
    jobs = [_job(job, view) for job in call.engine.upkeep.jobs()]
    others = [f"{one_line(row.client, _NAME_CHARS)} ({row.pid})" for row in found.others]
    whole = {
        "version": VERSION,
        "home": found.home,
        "writable": found.writable,
        "model": found.model.model or found.model.provider,
        "model_state": found.model.state,
        "vectors": waits,
        "channels": dict(found.channels),
        "briefing_age_s": _briefing_age_s(call),
        "settings_problem": _settings_problem(call),
        "maintenance": jobs,
        "others": others[:_SHOWN],
    }
    if call.wants_json:
        return _dumped(whole, view)
    return fitted([], [f"{name}: {_plain(value)}" for name, value in whole.items()], view)


def metrics(call: Call) -> str:
    """What this server did since it started."""
    found, view = call.engine.overview.activity(), call.view
    counted = found.metrics
    whole: dict[str, object] = {
        "uptime_s": round(counted.uptime_s, 1),
        "memories": found.memories,
        "recalls": counted.recalls,
        "empty_recalls": counted.empty_recalls,
        "recall_ms": _rounded(counted.recall),
        "stages_ms": {name: _rounded(stage) for name, stage in counted.stages.items()},
        "operations": {name: asdict(count) for name, count in counted.operations.items()},
    }
    if call.wants_json:
        return _dumped(whole, view)
    return fitted([], [f"{name}: {_plain(value)}" for name, value in whole.items()], view)


def session_check(call: Call) -> str:
    """How long the session's notes are, and what to do about it."""
    name = call.arguments.text("name")
    check = partial(call.engine.overview.session, call.surroundings.folder)
    found = check() if name is None else check(name)
    sizes = {"lines": found.lines, "characters": found.characters, "tokens": found.tokens}
    if call.wants_json:
        whole = {"path": str(found.path), **sizes, "too_long": found.too_long}
        return json.dumps(whole, ensure_ascii=False)
    key = "mcp.session.long" if found.too_long else "mcp.session.fine"
    return call.view.say(key, path=found.path, **sizes)


def evaluate_recall(call: Call) -> str:
    """How well recall answers known questions."""
    name, view = call.arguments.text("name"), call.view
    paths = () if name is None else (call.engine.transfer.place_for(name),)
    request = EvaluationRequest(
        paths=paths,
        judgments=name is None,
        setups=(Setup(call.arguments.text("preset")),),
    )

    def tell(set_name: str, stage: str, done: int, total: int) -> None:
        call.line.progress(done, total)

    reports = call.engine.evaluate(request, tell)
    if call.wants_json:
        return _dumped({"sets": {report.name: _scores(report) for report in reports}}, view)
    return fitted([], [f"{report.name}: {_plain(_scores(report))}" for report in reports], view)


RUN: Mapping[str, Callable[[Call], str]] = {
    "memory_stats": memory_stats,
    "memory_status": memory_status,
    "metrics": metrics,
    "session_check": session_check,
    "evaluate_recall": evaluate_recall,
}


def _briefing_age_s(call: Call) -> int:
    workspace = call.workspace() or GLOBAL_WORKSPACE
    return round(call.engine.briefing(workspace, PLAIN).age_s)


def _settings_problem(call: Call) -> str | None:
    problem = call.engine.context.live.problem
    return None if problem is None else render(problem, call.language)


def _job(job: JobStatus, view: View) -> dict[str, object]:
    problem = job.state.problem
    return {
        "job": job.name,
        "last": optional_instant(job.state.last_success_at, view),
        "next": optional_instant(job.next_at, view),
        "problem": None if problem is None else render(problem.error(), view.language),
    }


def _scores(report: SetReport) -> dict[str, object]:
    (outcome,) = report.outcomes
    values = {name: round(value, 4) for name, value in outcome.overall.values.items()}
    times = {"p50": round(outcome.query_ms_p50, 1), "p95": round(outcome.query_ms_p95, 1)}
    return {"n": outcome.overall.n, **values, "query_ms": times}


def _rounded(latency: Latency) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(latency).items()}


def _largest(facet: Mapping[str, int]) -> dict[str, int]:
    ordered = sorted(facet.items(), key=lambda item: -item[1])
    return {one_line(name, _NAME_CHARS): count for name, count in ordered[:_SHOWN]}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _plain(value: object) -> str:
    """A value of a report on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(item)}" for name, item in value.items())
    if isinstance(value, list):
        return " | ".join(_plain(item) for item in value) or "-"
    return "-" if value is None else str(value)


def _dumped(whole: Mapping[str, object], view: View) -> str:
    """One object; of its parts the largest goes first where all do not fit."""
    kept, left_out = dict(whole), list[str]()
    while size(text := json.dumps({**kept, "left_out": left_out}, ensure_ascii=False)) > view.limit:
        largest = max(kept, key=lambda name: size(json.dumps(kept[name], ensure_ascii=False)))
        left_out.append(largest)
        del kept[largest]
    return text
