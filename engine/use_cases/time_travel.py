"""The store as it was: every memory at a moment of recorded time, and what changed in one.

The journal is walked backwards over what is there now: each entry younger than the moment is
taken back in memory, nothing is written. Only the journal knows the past, so nothing earlier
than its oldest entry can be asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from engine.context import EngineContext
from engine.domain.differences import FieldDifference, memory_differences
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.ids import MemoryRef, parse_ref
from engine.domain.memory import FieldValue, JournalEntry, Memory
from engine.domain.scope import Scope
from engine.domain.text import content_hash
from engine.domain.times import iso
from engine.storage import journal_search as search
from engine.storage import memories
from engine.storage.database import Connection
from engine.storage.filters import workspaces_within
from engine.storage.journal import CREATIONS
from engine.storage.moments import Listed, ids_by_age, workspace_names
from engine.writing.undo_memories import is_whole

MAX_LIMIT = 1000
EVERYWHERE = Scope()
_MEMORY_FIELDS = frozenset(item.name for item in fields(Memory))


@dataclass(frozen=True, slots=True)
class PastPage:
    """Memories as of ``at`` outside the trash (or in it as well, where asked for), newest first.

    ``total`` counts all of them, ``erased`` those that were there but were erased for good
    since. ``reaches_back_to`` is the earliest moment that can be asked for; ``None``: the
    beginning of the store.
    """

    at: float
    memories: tuple[Memory, ...]
    total: int
    erased: int
    reaches_back_to: float | None
    next_offset: int | None


@dataclass(slots=True)
class _Past:
    """What the journal says of one memory: fields as of the moment, whether it was there, and
    how many changes came after."""

    values: dict[str, FieldValue]
    uid: str
    there: bool = True
    erased: bool = False
    snapshot: bool = False
    changes: int = 0


def state_at(
    context: EngineContext,
    at: float,
    *,
    scope: Scope = EVERYWHERE,
    with_trash: bool = False,
    limit: int = 100,
    offset: int = 0,
) -> PastPage:
    """The store's memories (of one ``scope``) as of a moment (epoch seconds).

    Raises :class:`InvalidInput` for a moment earlier than the journal reaches, naming that.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput("error.out_of_range", name="limit", value=limit, low=1, high=MAX_LIMIT)
    with context.database.read() as connection:
        reach = _reach(context, connection, at)
        past = _fold(search.memory_changes_after(connection, at))
        inside = workspaces_within(connection, scope)
        listed = [
            item
            for item in _listed(connection, at, past)
            if (with_trash or not _in_trash(item, past))
            and (inside is None or item.workspace_id in inside)
        ]
        chosen = listed[offset : offset + limit]
        found = _versions(connection, at, [item.id for item in chosen], past)
    more = offset + limit < len(listed)
    return PastPage(
        at=at,
        memories=tuple(found[item.id] for item in chosen),
        total=len(listed),
        erased=sum(item.erased and item.there for item in past.values()),
        reaches_back_to=reach,
        next_offset=offset + limit if more else None,
    )


def get_at(context: EngineContext, ref: str | int, at: float) -> Memory:
    """One memory as of a moment (epoch seconds), in whatever state it was, also one that is
    gone by now. Raises :class:`NotFound` when it was not there then."""
    with context.database.read() as connection:
        _reach(context, connection, at)
        memory_id = known_memory(connection, ref)
        past = _fold(search.memory_changes_after(connection, at, memory_id))
        there = {item.id for item in _listed(connection, at, past, memory_id)}
        if memory_id not in there:
            raise NotFound("error.not_there_then", ref=str(ref)[:60], at=iso(at, context.zone))
        return _versions(connection, at, [memory_id], past)[memory_id]


def differences(
    context: EngineContext, ref: str | int, since: float, until: float | None = None
) -> tuple[FieldDifference, ...]:
    """What differs in a memory between two moments, the second by default now."""
    before = get_at(context, ref, since)
    after = get_at(context, before.id, context.clock.now() if until is None else until)
    return memory_differences(before, after)


def reaches_back_to(context: EngineContext) -> float | None:
    """The earliest moment that can be asked for; ``None``: the beginning of the store."""
    with context.database.read() as connection:
        return search.reaches_back_to(connection)


def known_memory(connection: Connection, ref: str | int) -> int:
    """The id of a memory that is there, or that the journal knows. Raises :class:`NotFound`."""
    wanted = parse_ref(ref)
    try:
        return memories.find(connection, wanted).id
    except NotFound:
        found = _once(connection, wanted)
        if found is None:
            raise
        return found


def _once(connection: Connection, wanted: MemoryRef) -> int | None:
    if wanted.id is not None:
        known = search.of_memory_after(connection, wanted.id, 0)
        return wanted.id if known else None
    return search.memory_once_called(connection, wanted.uid or wanted.short_uid or "")


def _reach(context: EngineContext, connection: Connection, at: float) -> float | None:
    reach = search.reaches_back_to(connection)
    if reach is not None and at < reach:
        earliest = iso(min(reach, context.clock.now()), context.zone)
        raise InvalidInput("error.before_journal", at=iso(at, context.zone), earliest=earliest)
    return reach


def _fold(entries: Iterable[JournalEntry]) -> dict[int, _Past]:
    """Entries newest first, each taken back."""
    past: dict[int, _Past] = {}
    for entry in entries:
        item = past.setdefault(entry.subject_id, _Past({}, entry.subject_uid))
        if entry.operation == "reinforce":
            continue
        _take_back(item, entry)
    return past


def _take_back(item: _Past, entry: JournalEntry) -> None:
    before, after = entry.changes.get("text", (None, None))
    if not entry.changes and entry.undoes is None and entry.operation in CREATIONS:
        item.there = False
    elif entry.operation == "purge" and not entry.changes:
        item.erased = True
    elif is_whole(entry) and before is None and after is not None:
        item.there, item.snapshot = False, False
    else:
        if is_whole(entry) and after is None:
            item.there, item.snapshot = True, before is not None
        elif entry.changes:
            item.changes += 1
        item.values |= {name: value for name, (value, _) in entry.changes.items()}


def _listed(
    connection: Connection, at: float, past: dict[int, _Past], memory_id: int | None = None
) -> list[Listed]:
    """Memories that were there at the moment, newest first."""
    now = ids_by_age(connection, memory_id)
    gone = past.keys() - {item.id for item in now}
    kept = [item for item in now if _was_there(item, at, past)]
    kept += [_gone(key, past[key]) for key in gone if past[key].there and past[key].snapshot]
    return sorted(kept, key=lambda item: (-item.created_at, -item.id))


def _gone(memory_id: int, past: _Past) -> Listed:
    """One that was purged since, from its snapshot."""
    made_at, place = past.values["created_at"], past.values.get("workspace_id", 0)
    return Listed(memory_id, float(str(made_at)), None, int(str(place)))


def _was_there(item: Listed, at: float, past: dict[int, _Past]) -> bool:
    """A memory that came in from elsewhere is older than its place in this store; one without
    any entry since was there unless it says itself that it is younger."""
    known = past.get(item.id)
    if known is not None:
        return known.there
    return item.created_at <= at


def _in_trash(item: Listed, past: dict[int, _Past]) -> bool:
    known = past.get(item.id)
    values = known.values if known is not None else {}
    return values.get("deleted_at", item.deleted_at) is not None


def _versions(
    connection: Connection, at: float, ids: list[int], past: dict[int, _Past]
) -> dict[int, Memory]:
    now = memories.fetch(connection, ids)
    changed = [key for key in ids if key in past]
    last = search.last_changes_by(connection, at, changed)
    names = workspace_names(connection)
    return {
        key: _version(key, now.get(key), past[key], last, names) if key in past else now[key]
        for key in ids
    }


def _version(
    memory_id: int,
    now: Memory | None,
    past: _Past,
    last: dict[int, float],
    names: dict[int, str],
) -> Memory:
    given = {name: value for name, value in past.values.items() if name in _MEMORY_FIELDS}
    if now is None:
        place = names.get(int(str(past.values.get("workspace_id", 0))), "")
        whole = {"id": memory_id, "uid": past.uid, "workspace": place} | given
        now = Memory(**whole)  # type: ignore[arg-type]
    version = replace(now, **given)  # type: ignore[arg-type]
    return replace(
        version,
        content_hash=content_hash(version.text),
        revision=max(1, now.revision - past.changes),
        updated_at=last.get(memory_id, version.created_at),
    )
