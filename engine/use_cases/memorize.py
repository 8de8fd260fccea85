"""Memorize: one memory or many, with all layers, acknowledged only when they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.context import EngineContext
from engine.domain import details
from engine.domain import fields as authored_fields
from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput, JiyiError, ModelUnavailable
from engine.domain.links import Clash
from engine.domain.memory import GLOBAL_WORKSPACE, Draft, FieldValue, Memory
from engine.domain.notices import Notice
from engine.domain.text import scrub
from engine.domain.times import parse_duration
from engine.domain.vocabulary import CONFLICT_POLICIES, check
from engine.extraction.importance import importance_of
from engine.extraction.kinds import KindChoice, kind_of
from engine.storage import memories
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import memories as writing
from engine.writing import settling
from engine.writing.embed import Embedded, embed_now, text_of
from engine.writing.entrance import entered, refuse_own_block
from engine.writing.layers import derive
from engine.writing.workspace_names import workspace_name

_BATCH = 200
AUTO = "auto"
"""The importance that asks for the rules."""


@dataclass(frozen=True, slots=True)
class MemorizeRequest:
    """What to remember.

    ``fields`` are authored fields as in :mod:`engine.domain.fields`; ``text`` is required.
    Without a ``kind`` rules choose one; for the importance ``auto`` they score the text.
    ``ttl`` (a duration such as ``7d``) and the field ``expires_at`` exclude each other.
    ``workspace`` names where it belongs; the caller's current one by default.
    ``on_conflict`` says what becomes of it where it repeats or contradicts a stored one:
    ``ignore`` (nobody looks), ``warn``, ``supersede`` or, for one memory alone, ``reject``; the
    setting ``conflicts.on_write`` by default.
    """

    fields: Mapping[str, object]
    ttl: str | float | None = None
    workspace: str | None = None
    session_id: str | None = None
    persona_id: str | None = None
    on_conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Memorized:
    """A stored memory. ``twins`` are live memories of its workspace with the very same text;
    ``pending`` means it has no vectors yet, for ``keywords_only`` if there is no model.

    ``kind_rule`` is the rule that chose its kind and ``importance_rule`` says how its importance
    was scored (rule, tier, modifiers); ``None`` where the writer gave them or a setting did.
    ``suggested_kind`` is ``directive`` where the text reads like a standing instruction.
    ``conflicts`` are memories that it repeats or contradicts. ``notices`` say which keys and
    passwords were in it and what became of them.
    """

    memory: Memory
    twins: tuple[int, ...] = ()
    pending: bool = False
    keywords_only: JiyiError | None = None
    kind_rule: str | None = None
    importance_rule: str | None = None
    suggested_kind: str | None = None
    conflicts: tuple[Clash, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A draft with the rules that completed it, and the policy on conflicts."""

    draft: Draft
    kind: KindChoice | None
    importance_rule: str | None
    on_conflict: str
    notices: tuple[Notice, ...]


@dataclass(slots=True)
class _Batch:
    items: list[_Chosen]
    embedded: list[Embedded | None] = field(default_factory=list)
    reason: ModelUnavailable | None = None


def memorize(context: EngineContext, request: MemorizeRequest, caller: Caller) -> Memorized:
    """Store one memory. Raises :class:`InvalidInput`, or
    :class:`~engine.domain.links.ConflictRefused` by policy, before anything is written."""
    return memorize_many(context, [request], caller)[0]


def memorize_many(
    context: EngineContext, requests: Sequence[MemorizeRequest], caller: Caller
) -> list[Memorized]:
    """Store memories in order, in transactions of up to 200, as one journal group.

    Every request is checked before the first is written; the error of a bad one names its
    place in ``item`` when there are several.
    """
    now = context.clock.now()
    if len(requests) > 1:
        _refuse_reject(context, requests)
    drafts = [_draft_at(context, requests, place, caller, now) for place in range(len(requests))]
    group = new_uid()
    stored: list[Memorized] = []
    for start in range(0, len(drafts), _BATCH):
        batch = _Batch(drafts[start : start + _BATCH])
        _embed(context, batch)
        stamp = Stamp(caller.actor, context.clock.now(), group)
        stored += _store(context, batch, stamp, frozenset(item.memory.id for item in stored))
    if any(item.pending for item in stored):
        context.background.wake()
    return stored


def _refuse_reject(context: EngineContext, requests: Sequence[MemorizeRequest]) -> None:
    if any(_policy(context, request) == settling.REJECT for request in requests):
        raise InvalidInput("error.reject_in_batch")


def _policy(context: EngineContext, request: MemorizeRequest) -> str:
    if request.on_conflict is None:
        return context.settings.conflicts.on_write
    return check("on_conflict", request.on_conflict, CONFLICT_POLICIES)


def _draft_at(
    context: EngineContext,
    requests: Sequence[MemorizeRequest],
    place: int,
    caller: Caller,
    now: float,
) -> _Chosen:
    try:
        return _draft(context, requests[place], caller, now)
    except InvalidInput as error:
        if len(requests) > 1:
            raise InvalidInput("error.bad_item", item=place + 1, reason=error) from error
        raise


def _draft(context: EngineContext, request: MemorizeRequest, caller: Caller, now: float) -> _Chosen:
    written = {"text": ""} | dict(request.fields)
    is_auto = written.get("importance") == AUTO
    if is_auto:
        del written["importance"]
    refuse_own_block(written["text"])
    came = entered(context, written)
    given = came.fields
    chosen: dict[str, FieldValue] = authored_fields.defaults()
    chosen |= {name: value for name, value in given.items() if value is not None}
    kind = _choose_kind(context, given, chosen, now)
    details.require_fitting(str(chosen["kind"]), chosen["details"])
    importance_rule = _score(context, given, chosen, is_auto=is_auto)
    _set_deadline(request, given, chosen, now)
    draft = Draft(
        fields=chosen,
        workspace=workspace_name(request.workspace or caller.workspace or GLOBAL_WORKSPACE),
        session_id=_name(request.session_id or caller.session_id),
        persona_id=_name(request.persona_id),
        agent=_name(caller.agent),
    )
    policy = _policy(context, request)
    return _Chosen(draft, kind, importance_rule, policy, came.notices)


def _choose_kind(
    context: EngineContext,
    given: Mapping[str, FieldValue],
    chosen: dict[str, FieldValue],
    now: float,
) -> KindChoice | None:
    """Choose the kind by its details or by rules unless the writer gave one."""
    if given.get("kind") is not None:
        return None
    detailed = details.kind_of(chosen["details"])
    if detailed is not None:
        chosen["kind"] = detailed
        return KindChoice(detailed, "details")
    event_time = given.get("event_time")
    # A dated text that is stored later counts its words of time from when it happened.
    at = float(event_time) if isinstance(event_time, (int, float)) else now
    default = context.settings.memory.default_kind
    choice = kind_of(str(chosen["text"]), at, context.zone, default)
    chosen["kind"] = choice.kind
    return choice


def _score(
    context: EngineContext,
    given: Mapping[str, FieldValue],
    chosen: dict[str, FieldValue],
    *,
    is_auto: bool,
) -> str | None:
    """Score the importance by rules where that is asked for or set; say how."""
    settings = context.settings.memory
    if given.get("importance") is not None:
        return None
    if not is_auto and not settings.auto_importance:
        chosen["importance"] = settings.default_importance
        return None
    scored = importance_of(str(chosen["text"]), str(chosen["kind"]))
    chosen["importance"] = scored.value
    return scored.explained


def _set_deadline(
    request: MemorizeRequest,
    given: Mapping[str, FieldValue],
    chosen: dict[str, FieldValue],
    now: float,
) -> None:
    if request.ttl is not None:
        chosen["expires_at"] = _deadline(request, now)
    elif given.get("expires_at") is not None and float(str(given["expires_at"])) <= now:
        raise InvalidInput("error.expires_in_past")


def _name(value: str | None) -> str | None:
    return None if value is None else scrub(value)


def _deadline(request: MemorizeRequest, now: float) -> float:
    if request.fields.get("expires_at") is not None:
        raise InvalidInput("error.ttl_and_expiry")
    deadline = now + parse_duration(request.ttl or 0)
    return float(str(authored_fields.validated({"expires_at": deadline})["expires_at"]))


def _embed(context: EngineContext, batch: _Batch) -> None:
    texts = [text_of(item.draft.fields) for item in batch.items]
    wait_s = context.settings.embedding.wait_s
    batch.embedded, batch.reason = embed_now(context, texts, wait_s)


def _store(
    context: EngineContext, batch: _Batch, stamp: Stamp, before: frozenset[int]
) -> list[Memorized]:
    prepared = [
        (item.draft, derive(context, item.draft.fields, embedded))
        for item, embedded in zip(batch.items, batch.embedded, strict=True)
    ]
    incoming = [
        settling.Incoming(item.draft, embedded, item.on_conflict)
        for item, embedded in zip(batch.items, batch.embedded, strict=True)
    ]
    outlook = settling.foresee(context, incoming, stamp.at)
    with context.database.write() as connection:
        outlook = settling.current(context, connection, incoming, outlook, stamp.at)
        created = [writing.create(connection, draft, layers, stamp) for draft, layers in prepared]
        written = [item.memory for item in created]
        told = settling.settle(connection, incoming, written, outlook, stamp, before)
        found = memories.fetch(connection, [memory.id for memory in written])
    return [
        Memorized(
            memory=found[item.memory.id],
            twins=item.twins,
            pending=item.pending,
            keywords_only=batch.reason if item.pending else None,
            kind_rule=chosen.kind.rule if chosen.kind else None,
            importance_rule=chosen.importance_rule,
            suggested_kind=chosen.kind.suggestion if chosen.kind else None,
            conflicts=clashes,
            notices=chosen.notices,
        )
        for item, chosen, clashes in zip(created, batch.items, told, strict=True)
    ]
