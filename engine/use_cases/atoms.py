"""Atoms for people and assistants: search, list, look at, reinforce, expire, wake, correct."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

from engine.context import EngineContext
from engine.domain.atom import (
    ATOM_ORDERS,
    ATOM_STATES,
    ATOM_TYPES,
    Atom,
    AtomFilters,
    Classification,
)
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput, JiyiError, NotFound
from engine.domain.ids import parse_ref
from engine.domain.memory import FieldValue
from engine.domain.scope import Filters
from engine.domain.vocabulary import check
from engine.extraction.atoms import Reading
from engine.extraction.atoms import classify as classified
from engine.extraction.rules import load_rules
from engine.language.labels import folded_filters
from engine.lifecycle.atoms import PURGED, SweepPolicy, due_transition, living_state, value_now
from engine.retrieval import analysis
from engine.retrieval.atom_channel import atom_candidates
from engine.retrieval.reach import reach
from engine.storage import accesses, atom_search, atoms, journal
from engine.storage.atoms import Value
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject
from engine.writing import atoms as writing

MAX_LIMIT = 100
_SWEEP_BATCH = 500
_MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class AtomQuery:
    """Which facts to search: ``k`` 1-100 of them, of some types if named. With ``touch`` the
    memories that state them count as used."""

    query: str
    k: int = 10
    types: tuple[str, ...] = ()
    filters: Filters = Filters()
    touch: bool = True


@dataclass(frozen=True, slots=True)
class AtomView:
    """An atom with what it is worth now (0-1) and the memories outside the trash that state
    it, oldest first. ``score`` ranks within one search; ``last_access`` (epoch seconds) is
    when one of those memories was last used."""

    atom: Atom
    value: float
    memory_ids: tuple[int, ...]
    score: float | None = None
    last_access: float | None = None


@dataclass(frozen=True, slots=True)
class AtomList:
    """A page of atoms, newest first, and the cursor of the next one."""

    atoms: tuple[AtomView, ...]
    next_cursor: str | None
    total: int


@dataclass(frozen=True, slots=True)
class Swept:
    """How many atoms a sweep moved to each state; ``more`` when the limit stopped it."""

    expired: int = 0
    forgotten: int = 0
    purged: int = 0
    more: bool = False


@dataclass(frozen=True, slots=True)
class Classified:
    """Facts with their types, and rule tables of the user that could not be read."""

    facts: tuple[Classification, ...]
    problems: tuple[JiyiError, ...]


def classify(facts: Sequence[str], home: Path, now: float, zone: tzinfo | None) -> Classified:
    """What the rules say of facts as read at ``now``; needs no store."""
    table = load_rules(home / "rules" / "atoms")
    reading = Reading(now, zone)
    return Classified(tuple(classified(fact, reading, table) for fact in facts), table.problems)


def search_atoms(context: EngineContext, query: AtomQuery) -> Sequence[AtomView]:
    """Active atoms that answer a query, best first. Raises InvalidInput."""
    if not 1 <= query.k <= MAX_LIMIT:
        raise InvalidInput("error.out_of_range", name="k", value=query.k, low=1, high=MAX_LIMIT)
    types = _types(query.types)
    terms = context.analyser.query_terms(analysis.checked_query(query.query))
    now = context.clock.now()
    with context.database.read() as connection:
        within = reach(connection, folded_filters(query.filters), now)
        hits = atom_candidates(connection, terms, within, 10 * query.k)
        scores = {hit.atom_id: hit.score for hit in reversed(hits.values())}
        found = atoms.fetch(connection, scores)
        wanted = [atom for atom in found.values() if not types or atom.type in types]
        wanted.sort(key=lambda atom: (-scores[atom.id], -atom.id))
        views = _views(connection, wanted[: query.k], now, scores)
    if query.touch:
        context.touch(memory_id for view in views for memory_id in view.memory_ids)
    return views


def list_atoms(
    context: EngineContext,
    filters: AtomFilters | None = None,
    *,
    limit: int = 20,
    cursor: str | None = None,
) -> AtomList:
    """A page of atoms, newest first."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput("error.out_of_range", name="limit", value=limit, low=1, high=MAX_LIMIT)
    wanted = _checked(filters or AtomFilters())
    now = context.clock.now()
    with context.database.read() as connection:
        page = atom_search.page(connection, wanted, now, limit, _cursor(cursor))
        views = _views(connection, page.atoms, now, {})
    following = None if page.next_before is None else str(page.next_before)
    return AtomList(tuple(views), following, page.total)


def get_atom(context: EngineContext, ref: str | int) -> AtomView:
    """One atom by its number. Raises NotFound."""
    with context.database.read() as connection:
        atom = _found(connection, ref)
        return _views(connection, [atom], context.clock.now(), {})[0]


def order_atoms(
    context: EngineContext, filters: AtomFilters | None = None, order: str = "ending"
) -> array[int]:
    """Ids of all atoms that pass the filters, in order, for lists of any length."""
    chosen = check("order", order, ATOM_ORDERS)
    wanted = _checked(filters or AtomFilters())
    with context.database.read() as connection:
        return atom_search.ordered_ids(connection, wanted, context.clock.now(), chosen)


def atoms_by_id(context: EngineContext, ids: Sequence[int]) -> dict[int, AtomView]:
    """Atoms by id; ids that none has are left out."""
    with context.database.read() as connection:
        found = list(atoms.fetch(connection, ids).values())
        views = _views(connection, found, context.clock.now(), {})
    return {view.atom.id: view for view in views}


def count_atoms(context: EngineContext) -> dict[tuple[str, str], int]:
    """How many atoms there are of each type in each state."""
    with context.database.read() as connection:
        return atom_search.counts_by_type_and_state(connection)


def atoms_of_memory(context: EngineContext, memory_id: int) -> list[AtomView]:
    """The atoms that a memory states, in the order they were first stated."""
    with context.database.read() as connection:
        return _views(connection, atoms.of_memory(connection, memory_id), context.clock.now(), {})


def reinforce_atom(context: EngineContext, ref: str | int, caller: Caller) -> Atom:
    """Count an explicit reinforcement: the shelf life grows and begins again, and an expired
    atom wakes."""
    with context.database.write() as connection:
        atom, stamp = _found(connection, ref), _stamp(context, caller)
        _refuse(atom, ("superseded", "forgotten", "dormant"))
        settings = context.settings.atoms
        values = writing.reinforced(atom, settings, stamp.at, atom.reinforcement_count + 1)
        values["reinforced"] = atom.reinforced + 1
        end = values["expires_at"]
        assert isinstance(end, float)
        return _changed(connection, atom, values | {"state": living_state(end, stamp.at)}, stamp)


def expire_atom(context: EngineContext, ref: str | int, caller: Caller) -> Atom:
    """End an atom's life now."""
    with context.database.write() as connection:
        atom, stamp = _found(connection, ref), _stamp(context, caller)
        _refuse(atom, ("superseded", "forgotten"))
        return _changed(connection, atom, {"expires_at": stamp.at, "state": "expired"}, stamp)


def wake_atom(context: EngineContext, ref: str | int, caller: Caller) -> Atom:
    """Bring back an atom that was superseded or has expired, with a whole shelf life."""
    with context.database.write() as connection:
        atom, stamp = _found(connection, ref), _stamp(context, caller)
        _refuse(atom, ("forgotten", "dormant"))
        settings = context.settings.atoms
        values = writing.reinforced(atom, settings, stamp.at, atom.reinforcement_count)
        end = values["expires_at"]
        assert isinstance(end, float)
        values["superseded_by"] = None
        return _changed(connection, atom, values | {"state": living_state(end, stamp.at)}, stamp)


def correct_type(context: EngineContext, ref: str | int, atom_type: str, caller: Caller) -> Atom:
    """Say what type an atom really has; its shelf life follows."""
    wanted = check("type", atom_type, ATOM_TYPES)
    with context.database.write() as connection:
        atom, stamp = _found(connection, ref), _stamp(context, caller)
        settings = context.settings.atoms
        deadline = atom.deadline if wanted == "planned" else None
        corrected = replace(atom, type=wanted, deadline=deadline)
        values = writing.reinforced(
            corrected, settings, atom.refreshed_at, atom.reinforcement_count
        )
        values |= {"type": wanted, "deadline": deadline, "confidence": 1.0, "rule": "person"}
        values["curve"] = writing.curve_of(settings, wanted)
        values["needs_repair"] = 0
        if atom.state in ("active", "expired"):
            end = values["expires_at"]
            assert isinstance(end, float)
            values["state"] = living_state(end, stamp.at)
        return _changed(connection, atom, values, stamp)


def sweep_atoms(context: EngineContext, *, limit: int = 100_000) -> Swept:
    """Move atoms on whose time has come: to expired, forgotten, purged.

    Idempotent; a sweep after a month leaves what daily ones would have left. Every change of
    state is journaled, in transactions of 500.
    """
    now, group = context.clock.now(), new_uid()
    policy = _policy(context)
    counts = {"expired": 0, "forgotten": 0, PURGED: 0}
    after, seen = 0, 0
    while seen < limit:
        with context.database.write() as connection:
            due = atoms.due(connection, now, _SWEEP_BATCH, after)
            for atom in due:
                reached = _move_on(connection, atom, policy, Stamp(_MAINTENANCE, now, group))
                if reached:
                    counts[reached] += 1
        if not due:
            break
        seen, after = seen + len(due), due[-1].id
    return Swept(counts["expired"], counts["forgotten"], counts[PURGED], more=seen >= limit)


def _move_on(connection: Connection, atom: Atom, policy: SweepPolicy, stamp: Stamp) -> str | None:
    step = due_transition(atom.life, stamp.at, policy)
    if step is None:
        return None
    if step.state == PURGED:
        writing.remove(connection, atom, stamp)
    else:
        if step.state == "forgotten":
            atoms.unindex(connection, atom.id)
        atoms.update(connection, atom.id, {"state": step.state, "state_changed_at": step.since})
    changes: dict[str, tuple[FieldValue, FieldValue]] = {"state": (atom.state, step.state)}
    journal.append(connection, stamp, "decay", Subject(atom.id, "", journal.ATOM), changes)
    return step.state


def _policy(context: EngineContext) -> SweepPolicy:
    settings = context.settings.atoms
    return SweepPolicy(settings.forget_after_days, settings.purge_after_days)


def _views(
    connection: Connection, found: Sequence[Atom], now: float, scores: dict[int, float]
) -> list[AtomView]:
    ids = [atom.id for atom in found]
    stated = atoms.stated_by(connection, ids)
    used = accesses.last_access_of_atoms(connection, ids)
    return [
        AtomView(
            atom,
            value_now(atom.life, now),
            tuple(stated.get(atom.id, ())),
            scores.get(atom.id),
            used.get(atom.id),
        )
        for atom in found
    ]


def _checked(given: AtomFilters) -> AtomFilters:
    states = tuple(check("state", state, ATOM_STATES) for state in given.states)
    return AtomFilters(_types(given.types), states, folded_filters(given.memories))


def _types(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(check("type", name, ATOM_TYPES) for name in names)


def _cursor(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.strip().isdecimal() or int(cursor) <= 0:
        raise NotFound("error.bad_cursor", value=cursor[:60])
    return min(int(cursor), (1 << 62))


def _found(connection: Connection, ref: str | int) -> Atom:
    atom_id = parse_ref(ref).id
    atom = atoms.fetch(connection, [atom_id]).get(atom_id) if atom_id is not None else None
    if atom is None:
        raise NotFound("error.no_such_atom", ref=str(ref)[:60])
    return atom


def _refuse(atom: Atom, states: tuple[str, ...]) -> None:
    if atom.state in states:
        raise Conflict("error.atom_state", ref=f"#{atom.id}", state=atom.state)


def _stamp(context: EngineContext, caller: Caller) -> Stamp:
    return Stamp(caller.actor, context.clock.now(), new_uid())


def _changed(
    connection: Connection,
    atom: Atom,
    values: Mapping[str, Value],
    stamp: Stamp,
) -> Atom:
    if values.get("state", atom.state) != atom.state:
        values = dict(values) | {"state_changed_at": stamp.at}
    atoms.update(connection, atom.id, values)
    changes: dict[str, tuple[FieldValue, FieldValue]] = {
        name: (getattr(atom, name), value)
        for name, value in values.items()
        if getattr(atom, name) != value
    }
    journal.append(connection, stamp, "reinforce", Subject(atom.id, "", journal.ATOM), changes)
    return atoms.fetch(connection, [atom.id])[atom.id]
