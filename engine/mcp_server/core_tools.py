"""What each tool of the toolset ``core`` does. Runs on worker threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.bootstrap import Engine
from engine.config.messages import render
from engine.domain.errors import InvalidInput
from engine.domain.ids import short_uid
from engine.domain.memory import GLOBAL_WORKSPACE, Memory
from engine.domain.notices import Notice
from engine.domain.vocabulary import nearest
from engine.mcp_server import list_answer, memory_answer, recall_answer
from engine.mcp_server.asker import Asker, Surroundings
from engine.mcp_server.line import SILENT, Line
from engine.mcp_server.parameters import Arguments
from engine.mcp_server.quoting import one_line
from engine.mcp_server.recorded import View
from engine.mcp_server.requests import (
    Moment,
    default_k,
    edit_request,
    importance_steps,
    list_filters,
    memorize_request,
    recall_question,
)
from engine.use_cases.browse import workspace_names

_DEFAULT_LISTED = 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, with everything it needs."""

    engine: Engine
    arguments: Arguments
    asker: Asker
    surroundings: Surroundings
    language: str
    line: Line = SILENT

    @property
    def view(self) -> View:
        """How the answer is shown."""
        moment = self.moment
        limit = self.engine.context.settings.mcp.max_result_bytes
        return View(self.language, moment.zone, moment.now, limit)

    @property
    def moment(self) -> Moment:
        """Now, in the configured zone."""
        return Moment(self.engine.context.clock.now(), self.engine.context.zone)

    @property
    def wants_json(self) -> bool:
        """True when the client asked for JSON."""
        return self.arguments.text("format") == "json"

    def workspace(self, *, adopt: bool = False) -> str | None:
        """The current workspace; ``None`` for a project that has stored nothing yet."""
        if self.surroundings.workspace is not None:
            return self.surroundings.workspace
        if self.surroundings.folder is None:
            return GLOBAL_WORKSPACE
        return self.engine.workspace_of(self.surroundings.folder, adopt=adopt)


def memorize(call: Call) -> str:
    """Store one memory and name it."""
    request = memorize_request(call.arguments, call.moment)
    current = None if request.workspace else call.workspace(adopt=True)
    caller = call.surroundings.caller(call.asker, current)
    stored = call.engine.memorize(request, caller)
    view = call.view
    lines = [view.say("mcp.memorized", **_named(stored.memory))]
    lines += memory_answer.rule_lines(stored, view)
    lines += _told(stored.notices, view)
    lines += memory_answer.conflict_lines(stored, view)
    if stored.twins:
        ids = ", ".join(f"#{twin}" for twin in stored.twins)
        lines.append(view.say("mcp.twins", ids=ids))
    if stored.pending:
        reason = stored.keywords_only
        lines.append(
            view.say("mcp.pending_because", reason=render(reason, call.language))
            if reason
            else view.say("mcp.pending")
        )
    return "\n".join(lines)


def recall(call: Call) -> str:
    """Answer a question from memory."""
    question = recall_question(call.arguments, call.moment, call.workspace())
    request = question.request
    if request.k is None:
        k = default_k(call.engine.context.settings.recall.k)
        request = replace(request, k=k)
    result = call.engine.recall(request)
    answer = recall_answer.as_json if call.wants_json else recall_answer.as_text
    return answer(
        result, call.view, explain=question.explain, notes=notes_for(call, empty=not result.hits)
    )


def get_memory(call: Call) -> str:
    """One memory with its metadata, or a page of a long one."""
    offset = call.arguments.whole("offset") or 0
    # The pages of a long memory are one reading of it.
    memory = call.engine.get(call.arguments.text("id") or "", touch=not offset)
    if offset and offset >= len(memory.text):
        raise InvalidInput("mcp.offset_beyond", offset=offset, length=len(memory.text))
    answer = memory_answer.as_json if call.wants_json else memory_answer.as_text
    return answer(memory, call.view, offset)


def list_memories(call: Call) -> str:
    """A page of memories, newest first."""
    filters = list_filters(call.arguments, call.moment, call.workspace())
    limit = call.arguments.whole("limit") or _DEFAULT_LISTED
    cursor = call.arguments.text("cursor")
    page = call.engine.list(filters, limit=limit, cursor=cursor)
    view, notes = call.view, notes_for(call, empty=page.total == 0)
    count = list_answer.json_fitting_count if call.wants_json else list_answer.fitting_count
    fits = count(page, view, notes)
    if fits < len(page.memories):
        # A shorter page has its own cursor, so nothing between two answers is skipped.
        page = call.engine.list(filters, limit=fits, cursor=cursor)
    answer = list_answer.as_json if call.wants_json else list_answer.as_text
    return answer(page, view, notes)


def edit_memory(call: Call) -> str:
    """Change one memory and say what differs."""
    request = edit_request(call.arguments, call.moment)
    edited = call.engine.edit(request, call.surroundings.caller(call.asker, None))
    memory, view = edited.memory, call.view
    if call.wants_json:
        return json.dumps(
            {"id": memory.id, "uid": memory.uid, "revision": memory.revision}
            | {"changed": list(edited.changed), "pending": edited.pending}
            | {"notices": _told(edited.notices, view)}
        )
    if not edited.changed:
        nothing = view.say("mcp.edited_nothing", id=memory.id, revision=memory.revision)
        return "\n".join([nothing, *_told(edited.notices, view)])
    changed = ", ".join(edited.changed)
    lines = [view.say("mcp.edited", id=memory.id, changed=changed, revision=memory.revision)]
    lines += _told(edited.notices, view)
    if edited.keywords_only:
        reason = render(edited.keywords_only, call.language)
        lines.append(view.say("mcp.pending_because", reason=reason))
    return "\n".join(lines)


def delete_memory(call: Call) -> str:
    """Move one memory to the trash and say how it comes back."""
    caller = call.surroundings.caller(call.asker, None)
    change = call.engine.delete(call.arguments.text("id") or "", caller)
    key = "mcp.deleted" if change.changed else "mcp.deleted_before"
    return call.view.say(key, id=change.memory.id)


RUN: Mapping[str, Callable[[Call], str]] = {
    "memorize": memorize,
    "recall": recall,
    "get_memory": get_memory,
    "list_memories": list_memories,
    "edit_memory": edit_memory,
    "delete_memory": delete_memory,
}


def _told(notices: Sequence[Notice], view: View) -> list[str]:
    return [view.say(notice.key, **notice.params) for notice in notices]


def _named(memory: Memory) -> dict[str, object]:
    return {
        "id": memory.id,
        "uid": short_uid(memory.uid),
        "kind": memory.kind,
        "importance": importance_steps(memory.importance),
        "workspace": one_line(memory.workspace),
    }


def notes_for(call: Call, *, empty: bool) -> list[str]:
    """What the user should know before trusting an answer: that the store is a new one where
    another was expected (said with ``empty`` answers), or that the workspace named does not
    exist; both would look like forgetting."""
    notices = call.engine.notices if empty else ()
    return [*_told(notices, call.view), *_unknown_workspace(call)]


def _unknown_workspace(call: Call) -> list[str]:
    named = call.arguments.text("workspace")
    if named is None:
        return []
    names = workspace_names(call.engine.context)
    if named in names:
        return []
    near = nearest(named, names)
    key = "mcp.no_workspace_near" if near else "mcp.no_workspace"
    return [call.view.say(key, name=one_line(named), nearest=one_line(near))]
