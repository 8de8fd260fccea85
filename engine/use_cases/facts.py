"""Temporal facts: add, look up now or at a moment, end, and see how things came to be."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.fact import (
    DIRECTIONS,
    MAX_TERM_CHARS,
    AddedFact,
    EndedFact,
    Fact,
    FactQuery,
    FactRequest,
    FactStatistics,
    Period,
    workspace_of,
)
from engine.domain.ids import parse_ref
from engine.domain.memory import FieldValue, Memory
from engine.domain.notices import Notice
from engine.domain.scope import Scope
from engine.domain.text import scrub
from engine.domain.vocabulary import check
from engine.extraction.graph import canonical
from engine.extraction.predicates import is_functional, predicate_key, same_predicates
from engine.storage import facts, memories, workspaces
from engine.storage.database import Connection
from engine.storage.facts import Triple
from engine.storage.filters import workspaces_within
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import facts as writing
from engine.writing.entrance import entered_object
from engine.writing.workspace_names import workspace_name

LISTED_PREDICATES = 20


@dataclass(frozen=True, slots=True)
class _Draft:
    """A checked fact: its terms as shown and as compared, when it was true, where it belongs."""

    terms: tuple[str, str, str]
    keys: tuple[str, str, str]
    period: Period
    confidence: float
    functional: bool
    workspace: str
    notices: tuple[Notice, ...]

    def values(self, workspace_id: int, memory_id: int | None) -> dict[str, FieldValue]:
        """The columns of a new row."""
        names = ("subject", "predicate", "object")
        return {
            **dict(zip(names, self.terms, strict=True)),
            **{f"{name}_key": key for name, key in zip(names, self.keys, strict=True)},
            "workspace_id": workspace_id,
            "valid_from": self.period.start,
            "valid_to": self.period.end,
            "confidence": self.confidence,
            "memory_id": memory_id,
        }


@dataclass(frozen=True, slots=True)
class _Known:
    """Facts with the same subject and predicate: those of the same object, and the others."""

    same: tuple[Fact, ...]
    others: tuple[Fact, ...]


def add_fact(context: EngineContext, request: FactRequest, caller: Caller) -> AddedFact:
    """Store a fact; of a functional predicate it ends the earlier one of its workspace.

    A fact that holds already is completed, not repeated. An earlier one that is known to go on
    after the new one's end is resumed there. Raises :class:`InvalidInput` for empty or overlong
    terms, a confidence outside 0-1 or an end before the start, and :class:`Conflict` when a
    functional fact with a given end runs into a later one.
    """
    now, stamp = context.clock.now(), _stamp(context, caller)
    with context.database.write() as connection:
        memory = _source(connection, request)
        draft = _draft(context, request, memory, caller)
        known = _known(context, connection, draft)
        draft = replace(draft, period=_placed(draft, known, now))
        memory_id = memory.id if memory else None
        found = _match(draft, known.same, now)
        closed, resumed = _make_room(connection, draft, known.others, stamp)
        if found is None:
            workspace_id = workspaces.ensure(connection, draft.workspace, now)
            fact = writing.create(connection, draft.values(workspace_id, memory_id), stamp)
        else:
            fact = writing.change(connection, found, _completed(found, draft, memory_id), stamp)
    return AddedFact(
        fact=fact,
        added=found is None,
        closed=tuple(closed),
        resumed=tuple(resumed),
        group_uid=stamp.group_uid,
        notices=draft.notices,
    )


def query_facts(context: EngineContext, query: FactQuery) -> list[Fact]:
    """Facts of an entity, under any name it has in the graph, that are true at a moment; oldest
    first. A name that nobody has has no facts."""
    at = context.clock.now() if query.as_of is None else query.as_of
    with context.database.read() as connection:
        return facts.of_entity(connection, _triple(context, connection, query), at)


def fact_timeline(context: EngineContext, query: FactQuery) -> list[Fact]:
    """Every version of the facts of an entity, oldest first; ``as_of`` plays no part."""
    with context.database.read() as connection:
        return facts.of_entity(connection, _triple(context, connection, query), None)


def invalidate_fact(
    context: EngineContext, ref: str | int, caller: Caller, at: float | None = None
) -> EndedFact:
    """Say that a fact is true no more from ``at`` on (``None``: now); its history stays.

    One that ended before is left alone unless ``at`` is given: then its end is corrected.
    Raises :class:`InvalidInput` for an end before its start.
    """
    now = context.clock.now()
    with context.database.write() as connection:
        fact = facts.find(connection, ref)
        if at is None and fact.period.high <= now:
            return EndedFact(fact, changed=False)
        end = now if at is None else at
        Period(fact.valid_from, end).required()
        ended = writing.change(connection, fact, {"valid_to": end}, _stamp(context, caller))
        return EndedFact(ended, changed=ended != fact)


def get_fact(context: EngineContext, ref: str | int) -> Fact:
    """One fact by its number or uid; raises NotFound."""
    with context.database.read() as connection:
        return facts.find(connection, ref)


def fact_stats(context: EngineContext, scope: Scope | None = None) -> FactStatistics:
    """How many facts, entities and predicates there are, and how many hold now."""
    with context.database.read() as connection:
        now = context.clock.now()
        return facts.statistics(connection, scope or Scope(), now, LISTED_PREDICATES)


def _stamp(context: EngineContext, caller: Caller) -> Stamp:
    return Stamp(caller.actor, context.clock.now(), new_uid())


def _source(connection: Connection, request: FactRequest) -> Memory | None:
    return None if request.memory is None else memories.find(connection, parse_ref(request.memory))


def _draft(
    context: EngineContext, request: FactRequest, memory: Memory | None, caller: Caller
) -> _Draft:
    terms = tuple(
        _term(name, value)
        for name, value in (
            ("subject", request.subject),
            ("predicate", request.predicate),
            ("object", request.object),
        )
    )
    subject, predicate, value = terms
    value, notices = entered_object(context, predicate, value)
    keys = canonical(subject), predicate_key(predicate), canonical(value)
    for name, key in zip(("subject", "predicate", "object"), keys, strict=True):
        if not key:
            raise InvalidInput("error.empty_text", name=name)
    start = request.valid_from
    if start is None and memory is not None and request.valid_to is None:
        start = memory.event_time
    functional = request.functional
    if functional is None:
        functional = is_functional(keys[1], context.settings.facts.functional)
    workspace = memory.workspace if memory and not request.workspace else None
    return _Draft(
        terms=(subject, predicate, value),
        keys=keys,
        period=Period(start, request.valid_to).required(),
        confidence=_share(request.confidence),
        functional=functional,
        workspace=workspace or workspace_name(workspace_of(request, caller.workspace)),
        notices=notices,
    )


def _term(name: str, value: str) -> str:
    text = " ".join(scrub(value).split())
    if not text:
        raise InvalidInput("error.empty_text", name=name)
    if len(text) > MAX_TERM_CHARS:
        raise InvalidInput("error.too_long", name=name, length=len(text), limit=MAX_TERM_CHARS)
    return text


def _share(confidence: float) -> float:
    if not 0.0 <= confidence <= 1.0:
        raise InvalidInput("error.out_of_range", name="confidence", value=confidence, low=0, high=1)
    return float(confidence)


def _triple(context: EngineContext, connection: Connection, query: FactQuery) -> Triple:
    added = context.settings.facts.functional
    entity = canonical(_term("entity", query.entity))
    predicates: tuple[str, ...] = ()
    if query.predicate is not None:
        predicates = same_predicates(predicate_key(_term("predicate", query.predicate)), added)
    return Triple(
        entities=facts.entity_keys(connection, entity),
        predicates=predicates,
        direction=check("direction", query.direction, DIRECTIONS),
        workspaces=workspaces_within(connection, query.scope),
    )


def _known(context: EngineContext, connection: Connection, draft: _Draft) -> _Known:
    """What is known of the subject and predicate in the draft's workspace."""
    subject, predicate, value = draft.keys
    here = Scope("workspace", draft.workspace, exact=True)
    wanted = Triple(
        entities=facts.entity_keys(connection, subject),
        predicates=same_predicates(predicate, context.settings.facts.functional),
        direction="subject",
        workspaces=workspaces_within(connection, here),
    )
    found = facts.of_entity(connection, wanted, None)
    objects = facts.entity_keys(connection, value)
    same = tuple(fact for fact in found if canonical(fact.object) in objects)
    others = tuple(fact for fact in found if fact not in same) if draft.functional else ()
    return _Known(same, others)


def _placed(draft: _Draft, known: _Known, now: float) -> Period:
    """The draft's period among the others of its subject, of which none may hold with it."""
    period = draft.period
    if period.start is None and period.end is None and known.others:
        holding = next((fact for fact in known.same if fact.period.holds(now)), None)
        period = Period(holding.valid_from if holding else now)
    later = [fact for fact in known.others if fact.period.low > period.low]
    for fact in sorted(later, key=lambda fact: fact.period.low):
        if not fact.period.overlaps(period):
            continue
        if period.end is not None:
            raise _collision(fact)
        period = Period(period.start, fact.valid_from)
    if period.start is None:
        for fact in known.others:
            if fact.period.overlaps(period):
                raise _collision(fact)
    return period


def _collision(fact: Fact) -> Conflict:
    return Conflict("error.fact_overlaps", id=fact.id, fact=f"{fact.predicate} {fact.object}")


def _match(draft: _Draft, same: tuple[Fact, ...], now: float) -> Fact | None:
    """The stored fact that the draft states again."""
    period = draft.period
    if period.start is None and period.end is None:
        return next((fact for fact in same if fact.period.holds(now)), None)
    return next(
        (fact for fact in same if fact.period.overlaps(period) or fact.period == period),
        None,
    )


def _completed(fact: Fact, draft: _Draft, memory_id: int | None) -> dict[str, FieldValue]:
    """What stating a fact again adds: an earlier start, an end, more confidence, a source."""
    start, end = fact.valid_from, fact.valid_to
    given = draft.period
    if given.start is not None and (start is None or given.start < start):
        start = given.start
    if given.end is not None:
        end = given.end
    return {
        "valid_from": start,
        "valid_to": end,
        "confidence": max(fact.confidence, draft.confidence),
        "memory_id": memory_id if fact.memory_id is None else fact.memory_id,
    }


def _make_room(
    connection: Connection, draft: _Draft, others: tuple[Fact, ...], stamp: Stamp
) -> tuple[list[Fact], list[Fact]]:
    """End the facts that hold when the new one starts; one that is known to hold after the new
    one's end goes on there."""
    closed, resumed = [], []
    period = draft.period
    for fact in others:
        if not fact.period.overlaps(period):
            continue
        row = facts.values_of(connection, fact.id) or {}
        closed.append(writing.change(connection, fact, {"valid_to": period.start}, stamp))
        if fact.period.high > period.high:
            after = row | {"valid_from": period.end, "valid_to": fact.valid_to}
            resumed.append(writing.create(connection, after, stamp))
    return closed, resumed
