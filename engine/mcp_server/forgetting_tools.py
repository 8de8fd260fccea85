"""What the tool does that reclaims what expired. Runs on worker threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from engine.domain.retention import Doomed
from engine.domain.times import day, iso
from engine.mcp_server.core_tools import Call
from engine.mcp_server.recorded import View
from engine.use_cases.purge import Purged

_SHOWN = 50


def purge_expired(call: Call) -> str:
    """Show or reclaim what is past its time."""
    apply = call.arguments.text("apply") == "yes"
    caller = call.surroundings.caller(call.asker, call.workspace())
    found = call.engine.forgetting.purge(caller, apply=apply)
    return _as_json(found, call.view) if call.wants_json else _as_text(found, call.view)


RUN: Mapping[str, Callable[[Call], str]] = {"purge_expired": purge_expired}


def _as_text(found: Purged, view: View) -> str:
    if not found.doomed:
        return view.say("mcp.purge.none")
    lines = [view.say(f"mcp.purge.{'done' if found.applied else 'shows'}", **found.counts)]
    lines += [_line(item, view) for item in found.doomed[:_SHOWN]]
    if len(found.doomed) > _SHOWN:
        lines.append(view.say("mcp.purge.more", count=len(found.doomed) - _SHOWN))
    return "\n".join(lines)


def _line(item: Doomed, view: View) -> str:
    since = day(item.since, view.zone)
    return "- " + view.say(f"mcp.purge.{item.why}", ref=f"#{item.memory_id}", day=since)


def _as_json(found: Purged, view: View) -> str:
    entries = [
        {"id": item.memory_id, "why": item.why, "since": iso(item.since, view.zone)}
        for item in found.doomed[:_SHOWN]
    ]
    whole = {
        "applied": found.applied,
        "group": found.group_uid,
        "counts": dict(found.counts),
        "memories": entries,
        "left_out": len(found.doomed) - len(entries),
    }
    return json.dumps(whole, ensure_ascii=False)
