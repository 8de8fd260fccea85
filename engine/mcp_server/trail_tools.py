"""What the tools over the journal do: each turns a call into its answer. Runs on worker threads.

Entries are shown by the names of the fields that changed; what stood in them is text of memories
and comes only from ``get_at``, marked as data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from engine.domain.errors import InvalidInput, NotFound
from engine.domain.memory import JournalEntry
from engine.domain.times import iso, parse_duration
from engine.domain.trail import TailFilters
from engine.mcp_server import list_answer, memory_answer
from engine.mcp_server.core_tools import Call
from engine.mcp_server.fitting import fitted
from engine.mcp_server.quoting import one_line, size
from engine.mcp_server.recorded import View
from engine.mcp_server.requests import scope_of
from engine.storage.memories import Page
from engine.use_cases.undo import Undone, UndoRequest

_DOT = " · "
_NAME_CHARS = 40
_DEFAULT_SHOWN = 20


def undo(call: Call) -> str:
    """Take a change back, or bring it back."""
    action, target = call.arguments.text("action"), call.arguments.text("target")
    caller = call.surroundings.caller(call.asker, call.workspace())
    if action == "redo":
        done = call.engine.journal.redo(caller)
    else:
        request = _request(target)
        done = call.engine.journal.undo(caller, request, apply=action != "preview")
    if call.wants_json:
        return json.dumps(_undone_record(done, call.view), ensure_ascii=False)
    key = f"mcp.undo.{done.operation}{'' if done.applied else '_preview'}"
    lines = [call.view.say(key, count=len(done.entries), group=done.group_uid)]
    return fitted(lines, [_line(entry, call.view, set()) for entry in done.entries], call.view)


def journal_tail(call: Call) -> str:
    """The last changes."""
    since = call.arguments.text("since")
    filters = TailFilters(
        operation=call.arguments.text("operation"),
        actor=call.arguments.text("actor"),
        since=None if since is None else _moment(call, since),
    )
    count = call.arguments.whole("n") or _DEFAULT_SHOWN
    return _entries(call, call.engine.journal.tail(count, filters))


def history(call: Call) -> str:
    """What happened to one memory."""
    return _entries(call, call.engine.journal.history(call.arguments.text("id") or ""))


def state_at(call: Call) -> str:
    """The memories as they were."""
    at = _moment(call, call.arguments.text("moment") or "")
    scope = scope_of(call.arguments, call.workspace())
    offset = _offset(call.arguments.text("cursor"))
    limit = call.arguments.whole("limit") or _DEFAULT_SHOWN
    found = call.engine.journal.state_at(at, scope=scope, limit=limit, offset=offset)
    view = replace(call.view, now=at)
    notes = [view.say("mcp.undo.as_of", at=iso(at, view.zone))]
    if found.erased:
        notes.append(view.say("cli.journal.erased_since", count=found.erased))
    following = None if found.next_offset is None else str(found.next_offset)
    page = Page(found.memories, following, found.total)
    count = list_answer.json_fitting_count if call.wants_json else list_answer.fitting_count
    fits = count(page, view, notes)
    if fits < len(page.memories):
        page = Page(page.memories[:fits], str(offset + fits), page.total)
    answer = list_answer.as_json if call.wants_json else list_answer.as_text
    return answer(page, view, notes)


def get_at(call: Call) -> str:
    """One memory as it was."""
    at = _moment(call, call.arguments.text("moment") or "")
    memory = call.engine.journal.get_at(call.arguments.text("id") or "", at)
    offset = call.arguments.whole("offset") or 0
    if offset and offset >= len(memory.text):
        raise InvalidInput("mcp.offset_beyond", offset=offset, length=len(memory.text))
    answer = memory_answer.as_json if call.wants_json else memory_answer.as_text
    return answer(memory, replace(call.view, now=at), offset)


RUN: Mapping[str, Callable[[Call], str]] = {
    "undo": undo,
    "journal_tail": journal_tail,
    "history": history,
    "state_at": state_at,
    "get_at": get_at,
}


def _request(target: str | None) -> UndoRequest:
    if target is None:
        return UndoRequest()
    named = target.strip().removeprefix("#")
    is_number = named.isascii() and named.isdecimal() and len(named) < 8
    return UndoRequest(entry=int(named)) if is_number else UndoRequest(group=named)


def _moment(call: Call, given: str) -> float:
    """A moment as given; an age counts back from now."""
    try:
        return call.moment.now - parse_duration(given)
    except InvalidInput:
        return call.moment.instant(given)


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 12):
        raise NotFound("error.bad_cursor", value=cursor[:60])
    return int(cursor)


def _entries(call: Call, entries: Sequence[JournalEntry]) -> str:
    view, undone = call.view, call.engine.journal.undone_among(entries)
    if call.wants_json:
        records = [_record(entry, view) | {"undone": entry.id in undone} for entry in entries]
        while records and size(json.dumps(records, ensure_ascii=False)) > view.limit - 100:
            records = records[: len(records) * 3 // 4]
        left_out = len(entries) - len(records)
        return json.dumps({"entries": records, "left_out": left_out}, ensure_ascii=False)
    if not entries:
        return view.say("cli.journal.empty")
    top = view.say("mcp.undo.entries", count=len(entries))
    return fitted([top], [_line(entry, view, undone) for entry in entries], view)


def _line(entry: JournalEntry, view: View, undone: set[int]) -> str:
    parts = [
        f"- {entry.id}",
        iso(entry.at, view.zone),
        entry.operation + (view.say("cli.journal.undone_mark") if entry.id in undone else ""),
        one_line(entry.actor, _NAME_CHARS),
        _subject(entry),
        ", ".join(entry.changes),
    ]
    return _DOT.join(part for part in parts if part)


def _subject(entry: JournalEntry) -> str:
    if entry.subject_kind == "memory":
        return f"#{entry.subject_id}"
    if entry.subject_kind == "link":
        return f"#{entry.subject_id} → #{entry.other_id}"
    return f"{entry.subject_kind} {entry.subject_id}"


def _record(entry: JournalEntry, view: View) -> dict[str, object]:
    return {
        "id": entry.id,
        "at": iso(entry.at, view.zone),
        "operation": entry.operation,
        "actor": entry.actor,
        "kind": entry.subject_kind,
        "subject": entry.subject_id,
        "other": entry.other_id,
        "fields": list(entry.changes),
        "group": entry.group_uid,
        "undoes": entry.undoes,
    }


def _undone_record(done: Undone, view: View) -> dict[str, object]:
    return {
        "operation": done.operation,
        "applied": done.applied,
        "group": done.group_uid,
        "memories": list(done.memory_ids[:_DEFAULT_SHOWN]),
        "memory_count": len(done.memory_ids),
        "entry_count": len(done.entries),
        "entries": [_record(entry, view) for entry in done.entries[:_DEFAULT_SHOWN]],
    }
