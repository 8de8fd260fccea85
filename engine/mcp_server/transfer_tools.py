"""What the tools on files do. Runs on worker threads; no other folder is read or written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from engine.config.messages import render
from engine.domain.scope import Scope
from engine.domain.vocabulary import TRUSTS
from engine.mcp_server.core_tools import Call
from engine.mcp_server.quoting import one_line
from engine.use_cases.export_memories import EVERYTHING, ExportRequest
from engine.use_cases.import_memories import Imported, ImportRequest

_SHOWN_PROBLEMS = 5
_COUNTS = ("new", "same", "changed", "deleted", "written", "links", "facts", "own_blocks", "bad")
_EXTERNAL = TRUSTS[-1]


def export_memories(call: Call) -> str:
    """Write an archive or a folder of notes."""
    given, transfer = call.arguments, call.engine.transfer
    named = given.text("workspace")
    scope = Scope() if named is None else Scope("workspace", named, exact=True)
    done = transfer.export(
        ExportRequest(
            path=transfer.place_for(given.text("name") or ""),
            form=given.text("form") or "archive",
            filters=replace(EVERYTHING, scope=scope),
        )
    )
    if call.wants_json:
        return _dumped({"path": str(done.path), "form": done.form, "counts": dict(done.counts)})
    return call.view.say(
        "cli.transfer.exported", memories=done.counts.get("memory", 0), path=done.path
    )


def import_memories(call: Call) -> str:
    """Say what a file would bring, or bring it in; what it says is trusted like any file."""
    given, transfer = call.arguments, call.engine.transfer
    request = ImportRequest(
        path=transfer.place_for(given.text("name") or ""),
        collision=given.text("on_collision") or "skip",
        dry_run=given.text("apply") != "yes",
        trust=_EXTERNAL,
    )
    caller = call.surroundings.caller(call.asker, call.workspace())
    done = transfer.import_(request, caller)
    return _json(call, done) if call.wants_json else _text(call, done)


RUN: Mapping[str, Callable[[Call], str]] = {
    "export_memories": export_memories,
    "import_memories": import_memories,
}


def _text(call: Call, done: Imported) -> str:
    say = call.view.say
    lines = [say("cli.transfer.would")] if done.dry_run else []
    counts = ((name, getattr(done, name)) for name in _COUNTS)
    lines.append("; ".join(f"{say(f'cli.transfer.{name}')}: {count}" for name, count in counts))
    lines += [say(key, count=count) for key, count in done.secrets]
    for problem in done.problems[:_SHOWN_PROBLEMS]:
        reason = render(problem.reason, call.language)
        lines.append(one_line(say("cli.transfer.problem", place=problem.place, reason=reason), 300))
    if done.bad > _SHOWN_PROBLEMS:
        lines.append(say("cli.transfer.more_problems", count=done.bad - _SHOWN_PROBLEMS))
    return "\n".join(lines)


def _json(call: Call, done: Imported) -> str:
    problems = [
        {"place": problem.place, "reason": render(problem.reason, call.language)}
        for problem in done.problems[:_SHOWN_PROBLEMS]
    ]
    counts = {name: getattr(done, name) for name in _COUNTS}
    about = {"format": done.format, "dry_run": done.dry_run, "group": done.group_uid}
    return _dumped(about | counts | {"problems": problems})


def _dumped(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
