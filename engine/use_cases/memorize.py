"""Memorize: one memory or many, with all layers, acknowledged only when they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.context import EngineContext
from engine.domain import fields as authored_fields
from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput, JiyiError, ModelUnavailable
from engine.domain.memory import GLOBAL_WORKSPACE, Draft, FieldValue, Memory
from engine.domain.text import scrub
from engine.domain.times import parse_duration
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import memories as writing
from engine.writing.embed import Embedded, embed_now, text_of
from engine.writing.layers import derive, require_length
from engine.writing.workspace_names import workspace_name

_BATCH = 200


@dataclass(frozen=True, slots=True)
class MemorizeRequest:
    """What to remember.

    ``fields`` are authored fields as in :mod:`engine.domain.fields`; ``text`` is required.
    ``ttl`` (a duration such as ``7d``) and the field ``expires_at`` exclude each other.
    ``workspace`` names where it belongs; the caller's current one by default.
    """

    fields: Mapping[str, object]
    ttl: str | float | None = None
    workspace: str | None = None
    session_id: str | None = None
    persona_id: str | None = None


@dataclass(frozen=True, slots=True)
class Memorized:
    """A stored memory. ``twins`` are live memories of its workspace with the very same text;
    ``pending`` means it has no vectors yet, for ``keywords_only`` if there is no model."""

    memory: Memory
    twins: tuple[int, ...] = ()
    pending: bool = False
    keywords_only: JiyiError | None = None


@dataclass(slots=True)
class _Batch:
    drafts: list[Draft]
    embedded: list[Embedded | None] = field(default_factory=list)
    reason: ModelUnavailable | None = None


def memorize(context: EngineContext, request: MemorizeRequest, caller: Caller) -> Memorized:
    """Store one memory. Raises :class:`InvalidInput` before anything is written."""
    return memorize_many(context, [request], caller)[0]


def memorize_many(
    context: EngineContext, requests: Sequence[MemorizeRequest], caller: Caller
) -> list[Memorized]:
    """Store memories in order, in transactions of up to 200, as one journal group.

    Every request is checked before the first is written; the error of a bad one names its
    place in ``item`` when there are several.
    """
    now = context.clock.now()
    drafts = [_draft_at(context, requests, place, caller, now) for place in range(len(requests))]
    group = new_uid()
    stored: list[Memorized] = []
    for start in range(0, len(drafts), _BATCH):
        batch = _Batch(drafts[start : start + _BATCH])
        _embed(context, batch)
        stored += _store(context, batch, Stamp(caller.actor, context.clock.now(), group))
    if any(item.pending for item in stored):
        context.background.wake()
    return stored


def _draft_at(
    context: EngineContext,
    requests: Sequence[MemorizeRequest],
    place: int,
    caller: Caller,
    now: float,
) -> Draft:
    try:
        return _draft(context, requests[place], caller, now)
    except InvalidInput as error:
        if len(requests) > 1:
            raise InvalidInput("error.bad_item", item=place + 1, reason=error) from error
        raise


def _draft(context: EngineContext, request: MemorizeRequest, caller: Caller, now: float) -> Draft:
    given = authored_fields.validated({"text": ""} | dict(request.fields))
    require_length(context, given["text"])
    settings = context.settings.memory
    chosen: dict[str, FieldValue] = authored_fields.defaults()
    chosen |= {"kind": settings.default_kind, "importance": settings.default_importance}
    chosen |= {name: value for name, value in given.items() if value is not None}
    if request.ttl is not None:
        chosen["expires_at"] = _deadline(request, now)
    elif given.get("expires_at") is not None and float(str(given["expires_at"])) <= now:
        raise InvalidInput("error.expires_in_past")
    return Draft(
        fields=chosen,
        workspace=workspace_name(request.workspace or caller.workspace or GLOBAL_WORKSPACE),
        session_id=_name(request.session_id or caller.session_id),
        persona_id=_name(request.persona_id),
        agent=_name(caller.agent),
    )


def _name(value: str | None) -> str | None:
    return None if value is None else scrub(value)


def _deadline(request: MemorizeRequest, now: float) -> float:
    if request.fields.get("expires_at") is not None:
        raise InvalidInput("error.ttl_and_expiry")
    deadline = now + parse_duration(request.ttl or 0)
    return float(str(authored_fields.validated({"expires_at": deadline})["expires_at"]))


def _embed(context: EngineContext, batch: _Batch) -> None:
    texts = [text_of(draft.fields) for draft in batch.drafts]
    wait_s = context.settings.embedding.wait_s
    batch.embedded, batch.reason = embed_now(context, texts, wait_s)


def _store(context: EngineContext, batch: _Batch, stamp: Stamp) -> list[Memorized]:
    prepared = [
        (draft, derive(context, draft.fields, embedded))
        for draft, embedded in zip(batch.drafts, batch.embedded, strict=True)
    ]
    with context.database.write() as connection:
        created = [writing.create(connection, draft, layers, stamp) for draft, layers in prepared]
    return [
        Memorized(item.memory, item.twins, item.pending, batch.reason if item.pending else None)
        for item in created
    ]
