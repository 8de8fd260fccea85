"""Memories: search, read, edit, delete to the trash, and take that back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.domain.errors import InvalidInput
from engine.domain.memory import Memory
from engine.domain.scope import STATES, Filters, Scope
from engine.domain.times import minute_with_offset
from engine.domain.vocabulary import KINDS, check
from engine.use_cases.edit import EditRequest
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from engine.use_cases.undo import UndoRequest
from web_panel.answers import Body, action, caller, data, engine_of, page, text_of

_PAGE, _HITS, _EXCERPT = 30, 30, 300
_TEXTS = ("text", "kind", "summary")
_LISTS = ("tags", "topics", "participants", "key_facts")
_HISTORY = 30


def memories_page(request: Request) -> Response:
    """The frame of the place; the list comes by script, so that searching needs no reload."""
    engine = engine_of(request)
    return page(
        request,
        "memories.html",
        kinds=KINDS,
        states=STATES,
        workspaces=[one.name for one in engine.workspaces()],
        opened=request.query_params.get("id", ""),
    )


def found(request: Request) -> Response:
    """The memories that answer ``q``, or without one a page of all, newest first."""
    asked = request.query_params
    filters = _filters(asked)
    query = asked.get("q", "").strip()
    if query:
        wanted = RecallRequest(query, k=_HITS, filters=filters, touch=False)
        result = engine_of(request).recall(wanted)
        rows = [_row(request, hit.memory) | {"weak": hit.weak} for hit in result.hits]
        degraded = [request.state.words(f"panel.channel.{d.channel}") for d in result.degraded]
        return data({"memories": rows, "next": None, "total": len(rows), "degraded": degraded})
    listed = engine_of(request).list(filters, limit=_PAGE, cursor=asked.get("cursor"))
    rows = [_row(request, memory) for memory in listed.memories]
    return data({"memories": rows, "next": listed.next_cursor, "total": listed.total})


def one(request: Request) -> Response:
    """A memory with everything that can be read and edited."""
    return data(_whole(request, engine_of(request).get(request.path_params["id"])))


def edit(request: Request, body: Body) -> Response:
    """Change fields; refused when the memory was changed since it was read."""
    revision = body.get("revision")
    if not isinstance(revision, int):
        raise InvalidInput("panel.needs_text", name="revision")
    wanted = EditRequest(request.path_params["id"], _fields(body), revision)
    edited = engine_of(request).edit(wanted, caller())
    return data(_whole(request, edited.memory))


def add(request: Request, body: Body) -> Response:
    """Store a new memory."""
    made = engine_of(request).memorize(MemorizeRequest(_fields(body)), caller())
    return data(_whole(request, made.memory), 201)


def delete(request: Request, body: Body) -> Response:
    """Move a memory to the trash."""
    change = engine_of(request).delete(request.path_params["id"], caller())
    return data(_whole(request, change.memory))


def restore(request: Request, body: Body) -> Response:
    """Bring a memory back."""
    change = engine_of(request).restore(request.path_params["id"], caller())
    return data(_whole(request, change.memory))


def undo(request: Request, body: Body) -> Response:
    """Take back the last change of a memory."""
    ref = text_of(body, "id")
    undone = engine_of(request).journal.undo(caller(), UndoRequest(memory=ref))
    return data({"ids": list(undone.memory_ids)})


def _filters(asked: Mapping[str, str]) -> Filters:
    kind, state, workspace = (asked.get(name, "") for name in ("kind", "state", "workspace"))
    tag = asked.get("tag", "").strip()
    return Filters(
        scope=Scope("workspace", workspace, exact=True) if workspace else Scope(),
        kinds=(check("kind", kind, KINDS),) if kind else (),
        tags_all=(tag,) if tag else (),
        state=check("state", state, STATES) if state else None,
    )


def _fields(body: Body) -> dict[str, object]:
    """The fields that were sent, as the engine takes them; it checks their values."""
    fields: dict[str, object] = {name: text_of(body, name) for name in _TEXTS if name in body}
    for name in _LISTS:
        if name in body:
            fields[name] = _entries(text_of(body, name))
    if "importance" in body:
        fields["importance"] = _importance(body["importance"])
    if "pinned" in body:
        fields["pinned"] = body["pinned"] is True
    if fields.get("summary") == "":
        fields["summary"] = None
    return fields


def _importance(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput("panel.needs_number", name="importance")
    return float(value)


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in text.replace("，", ",").split(",") if entry.strip()]


def _row(request: Request, memory: Memory) -> dict[str, object]:
    words, context = request.state.words, engine_of(request).context
    state = memory.state(context.clock.now())
    return {
        "id": memory.id,
        "excerpt": memory.text[:_EXCERPT],
        "kind": words(f"panel.kind.{memory.kind}"),
        "workspace": memory.workspace,
        "at": minute_with_offset(memory.created_at, context.zone)[:16],
        "state": "" if state == "live" else words(f"panel.state.{state}"),
        "pinned": memory.pinned,
        "tags": list(memory.tags),
    }


def _whole(request: Request, memory: Memory) -> dict[str, object]:
    engine, zone = engine_of(request), engine_of(request).context.zone
    strength = engine.browsing.strength(memory.id)
    more = {
        "text": memory.text,
        "kind": memory.kind,
        "summary": memory.summary or "",
        "importance": memory.importance,
        "revision": memory.revision,
        "deleted": memory.deleted_at is not None,
        "source": memory.source,
        "updated": minute_with_offset(memory.updated_at, zone),
        "created": minute_with_offset(memory.created_at, zone),
        "happened": minute_with_offset(memory.event_time, zone) if memory.event_time else "",
        "importance_now": None if strength is None else round(strength.importance_now, 3),
        "used": 0 if strength is None else strength.access_count,
        "history": _history(request, memory.id),
    }
    lists = {name: ", ".join(getattr(memory, name)) for name in _LISTS}
    return _row(request, memory) | more | lists


def _history(request: Request, memory_id: int) -> Sequence[dict[str, object]]:
    engine = engine_of(request)
    zone = engine.context.zone
    entries = list(engine.journal.history(memory_id))[-_HISTORY:]
    return [
        {
            "at": minute_with_offset(entry.at, zone)[:16],
            "actor": entry.actor,
            "operation": entry.operation,
            "fields": ", ".join(entry.changes),
        }
        for entry in reversed(entries)
    ]


ROUTES = [
    Route("/memories", memories_page),
    Route("/memories/found", found),
    Route("/memories/add", action(add), methods=["POST"]),
    Route("/memories/undo", action(undo), methods=["POST"]),
    Route("/memories/{id:int}", one),
    Route("/memories/{id:int}/edit", action(edit), methods=["POST"]),
    Route("/memories/{id:int}/delete", action(delete), methods=["POST"]),
    Route("/memories/{id:int}/restore", action(restore), methods=["POST"]),
]
