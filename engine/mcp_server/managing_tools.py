"""What the tools do that change, merge and bring back memories. Runs on worker threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput
from engine.domain.memory import GLOBAL_WORKSPACE, Memory
from engine.domain.scope import Filters, Scope
from engine.mcp_server.core_tools import Call
from engine.mcp_server.fitting import data_frame, fitted, fitted_json, preview
from engine.mcp_server.requests import memorize_request, scope_of
from engine.mcp_server.tool_spec import ToolSpec
from engine.mcp_server.toolset import CORE
from engine.use_cases.bulk import BulkRequest
from engine.use_cases.consolidate import Consolidated, Merge
from engine.use_cases.memorize import Memorized, MemorizeRequest

_MOST_IDS = 500
_MOST_ITEMS = 200
_SHOWN = 20
_ASKED_ABOUT = 5


def delete_memories(call: Call) -> str:
    """Show or move several memories to the trash."""
    ids = _doomed(call)
    if not ids and not call.wants_json:
        return call.view.say("mcp.manage.none_doomed")
    if not ids:
        return fitted_json({"applied": False, "count": 0}, "ids", [], call.view)
    first = call.engine.browsing.memories(ids[:_SHOWN])
    shown = [first[memory_id] for memory_id in ids[:_SHOWN] if memory_id in first]
    agreed = _consent(call, call.view.say("mcp.manage.ask_delete", count=len(ids)), shown)
    if agreed is not True:
        return _not_yet(call, "mcp.manage.would_delete", len(ids), shown, declined=agreed is False)

    def tell(done: int, of: int) -> bool:
        call.line.progress(done, of)
        return True

    done = call.engine.bulk.change(BulkRequest(ids, "delete"), _caller(call), tell)
    if call.wants_json:
        counts = {"deleted": len(done.changed), "unchanged": done.unchanged}
        whole = {"applied": True, "group": done.group_uid, **counts}
        return fitted_json(whole, "ids", list(done.changed), call.view)
    return call.view.say(
        "mcp.manage.deleted",
        count=len(done.changed),
        unchanged=done.unchanged + len(done.failed),
        group=done.group_uid,
    )


def memorize_many(call: Call) -> str:
    """Store several memories and name them."""
    given = _items(call.arguments.text("items") or "")
    requests = [_request_at(call, given, place) for place in range(len(given))]
    caller = call.surroundings.caller(call.asker, call.workspace(adopt=True))
    stored = call.engine.memorize_many(requests, caller)
    view = call.view
    if call.wants_json:
        entries = [{"id": item.memory.id, "kind": item.memory.kind} for item in stored]
        return fitted_json({"stored": len(stored)}, "memories", entries, view)
    top = view.say("mcp.manage.stored", count=len(stored))
    return fitted([top], [_stored_line(item, call) for item in stored], view)


def supersede_memory(call: Call) -> str:
    """Hide one memory in favour of another."""
    old, new = call.arguments.text("old") or "", call.arguments.text("new") or ""
    done = call.engine.links.supersede(old, new, _caller(call))
    key = "mcp.manage.superseded" if done.changed else "mcp.manage.superseded_before"
    return call.view.say(key, old=f"#{done.old.id}", new=f"#{done.new.id}")


def restore_memory(call: Call) -> str:
    """Bring one memory back."""
    done = call.engine.restore(call.arguments.text("id") or "", _caller(call))
    key = f"mcp.restored.{done.was}" if done.changed else "mcp.manage.restored_before"
    return call.view.say(key, ref=f"#{done.memory.id}")


def consolidate_memories(call: Call) -> str:
    """Show or merge what says the same."""
    filters = Filters(scope_of(call.arguments, call.workspace()))
    run = call.engine.links.consolidate
    found = run(filters, _caller(call), apply=False, on_progress=call.line.progress)
    if not found.groups and call.wants_json:
        return _consolidated(call, found, None)
    if not found.groups:
        return call.view.say("mcp.manage.none_alike", count=found.scanned)
    survivors = [group.survivor for group in found.groups]
    question = call.view.say("mcp.manage.ask_merge", groups=len(found.groups), count=found.trashed)
    agreed = _consent(call, question, survivors)
    if agreed is True:
        # Once more, since memories may have changed while somebody was asked.
        found = run(filters, _caller(call), apply=True, on_progress=call.line.progress)
    return _consolidated(call, found, agreed)


RUN: Mapping[str, Callable[[Call], str]] = {
    "delete_memories": delete_memories,
    "memorize_many": memorize_many,
    "supersede_memory": supersede_memory,
    "restore_memory": restore_memory,
    "consolidate_memories": consolidate_memories,
}


def _doomed(call: Call) -> list[int]:
    """Ids of the memories that are meant, each once. Refuses a call that names none."""
    refs, tag = call.arguments.labels("ids") or (), call.arguments.text("tag")
    if bool(refs) == bool(tag):
        raise InvalidInput("mcp.manage.ids_or_tag")
    if len(refs) > _MOST_IDS:
        raise InvalidInput("mcp.manage.too_many", count=len(refs), limit=_MOST_IDS)
    if refs:
        found = (call.engine.get(ref) for ref in refs)
        return list(dict.fromkeys(memory.id for memory in found if memory.deleted_at is None))
    workspace = call.arguments.text("workspace") or call.workspace() or GLOBAL_WORKSPACE
    filters = Filters(
        Scope("workspace", workspace, exact=True),
        tags_all=(tag or "",),
        include_expired=True,
        include_superseded=True,
    )
    return list(call.engine.browsing.order(filters))


def _consent(call: Call, question: str, about: Sequence[Memory]) -> bool | None:
    """What the user said; where the client cannot ask, ``True`` for confirm=yes and ``None``
    for a call without it."""
    lines = [f"#{memory.id} {preview(memory.text)}" for memory in about[:_ASKED_ABOUT]]
    said = call.line.ask("\n".join([question, *lines]))
    if said is None:
        return True if call.arguments.text("confirm") == "yes" else None
    return said


def _not_yet(call: Call, key: str, count: int, shown: Sequence[Memory], *, declined: bool) -> str:
    view = call.view
    if call.wants_json:
        whole = {"applied": False, "declined": declined, "count": count}
        return fitted_json(whole, "ids", [memory.id for memory in shown], view)
    if declined:
        return view.say("mcp.manage.declined")
    lines = [f"- #{memory.id} {preview(memory.text)}" for memory in shown]
    return fitted([view.say(key, count=count), *data_frame(lines[:1], view)], lines[1:], view)


def _items(text: str) -> list[object]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = [_line_value(line) for line in text.splitlines() if line.strip()]
    found = parsed if isinstance(parsed, list) else [parsed]
    if not 1 <= len(found) <= _MOST_ITEMS:
        raise InvalidInput("mcp.manage.item_count", count=len(found), limit=_MOST_ITEMS)
    return found


def _line_value(line: str) -> object:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return parsed if isinstance(parsed, dict) else line


def _request_at(call: Call, items: Sequence[object], place: int) -> MemorizeRequest:
    try:
        request = memorize_request(_SPEC.read(_arguments(items[place])), call.moment)
    except InvalidInput as error:
        raise InvalidInput("error.bad_item", item=place + 1, reason=error) from error
    workspace = request.workspace or call.arguments.text("workspace")
    policy = call.arguments.text("on_conflict")
    return replace(request, workspace=workspace, on_conflict=request.on_conflict or policy)


def _arguments(item: object) -> dict[str, object]:
    """An item as arguments of ``memorize``: what that has no parameter for is a field."""
    if not isinstance(item, Mapping):
        return {"text": item}
    names = {parameter.name for parameter in _SPEC.parameters}
    known = {str(name): value for name, value in item.items() if name in names}
    rest = {str(name): value for name, value in item.items() if name not in names}
    fields = known.get("fields")
    if rest:
        known["fields"] = {**(fields if isinstance(fields, Mapping) else {}), **rest}
    return known


def _stored_line(item: Memorized, call: Call) -> str:
    parts = [f"- #{item.memory.id}", item.memory.kind]
    for verdict in ("contradiction", "duplicate"):
        ids = [f"#{clash.memory_id}" for clash in item.conflicts if clash.verdict == verdict]
        if ids:
            parts.append(call.view.say(f"mcp.conflict_{verdict}", ids=", ".join(ids)))
    parts += [call.view.say(notice.key, **notice.params) for notice in item.notices]
    return " · ".join(parts)


def _consolidated(call: Call, found: Consolidated, agreed: bool | None) -> str:
    view, applied = call.view, agreed is True
    if call.wants_json:
        entries = [_group_entry(group) for group in found.groups]
        whole = {"applied": applied, "group": found.group_uid, "trashed": found.trashed}
        return fitted_json(whole, "groups", entries, view)
    if agreed is False:
        return view.say("mcp.manage.declined")
    key = "mcp.manage.merged" if applied else "mcp.manage.would_merge"
    counts = {"groups": len(found.groups), "count": found.trashed, "group": found.group_uid}
    lines = [_group_line(group) for group in found.groups]
    return fitted([view.say(key, **counts), *data_frame(lines[:1], view)], lines[1:], view)


def _group_line(group: Merge) -> str:
    merged = ", ".join(f"#{memory.id}" for memory in group.merged)
    return f"- #{group.survivor.id} ← {merged} {preview(group.survivor.text)}"


def _group_entry(group: Merge) -> dict[str, object]:
    return {"survivor": group.survivor.id, "merged": [memory.id for memory in group.merged]}


def _caller(call: Call) -> Caller:
    return call.surroundings.caller(call.asker, call.workspace())


def _memorize_spec() -> ToolSpec:
    return next(tool for tool in CORE if tool.name == "memorize")


_SPEC = _memorize_spec()
