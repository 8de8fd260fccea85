"""Undo and redo: one entry of the journal, one group, or the last thing that somebody did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.domain.ids import parse_ref
from engine.domain.memory import JournalEntry
from engine.domain.text import scrub
from engine.storage import journal, memories
from engine.storage import journal_search as search
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import undo as writing
from engine.writing.undo import Applying


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """What to take back: one entry, a group (its uid or the last eight digits), or the last
    group that touched a memory. Nothing of it: the caller's own last group not yet undone."""

    entry: int | None = None
    group: str | None = None
    memory: str | int | None = None


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, newest entry first, as which new group (taking that back is a redo).

    ``operation`` is ``undo`` or ``redo``; ``memory_ids`` are the memories that changed;
    ``left_out`` counts entries of the group that hold nothing to set back, since their content
    was erased or since they follow from the others. ``applied`` is false for a preview.
    """

    group_uid: str
    operation: str
    entries: tuple[JournalEntry, ...]
    memory_ids: tuple[int, ...]
    left_out: int
    applied: bool


class _PreviewOver(Exception):
    """Ends the transaction of a preview, so that it writes nothing."""


def undo(
    context: EngineContext, request: UndoRequest, caller: Caller, *, apply: bool = True
) -> Undone:
    """Take entries of the journal back, all of them or, when something was changed since, none.

    With ``apply=False`` the same is tried and nothing is kept. Raises :class:`NotFound` when
    there is nothing to undo and :class:`Conflict` naming what was changed since.
    """
    if sum(given is not None for given in (request.entry, request.group, request.memory)) > 1:
        raise InvalidInput("error.undo_one_target")
    return _take_back(context, request, caller, apply=apply)


def redo(context: EngineContext, caller: Caller, *, apply: bool = True) -> Undone:
    """Bring back what the caller undid last, until the caller has written something new.

    Raises :class:`NotFound` when there is nothing to redo, and as :func:`undo`.
    """
    return _take_back(context, None, caller, apply=apply)


def _take_back(
    context: EngineContext, request: UndoRequest | None, caller: Caller, *, apply: bool
) -> Undone:
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    with context.database.read() as connection:
        made = writing.plan(connection, _chosen(connection, request, caller), stamp.at)
        writing.require_unchanged(made)
        derived = writing.prepare(context, connection, made)
    how = Applying(derived, stamp, context.models.identity())
    done: list[Undone] = []
    try:
        with context.database.write() as connection:
            entries = _chosen(connection, request, caller)
            made = writing.plan(connection, entries, stamp.at)
            writing.require_unchanged(made)
            writing.apply(connection, made, how)
            done.append(_undone(connection, entries, stamp, applied=apply))
            if not apply:
                raise _PreviewOver
    except _PreviewOver:
        return done[0]
    context.background.wake()
    return done[0]


def _chosen(
    connection: Connection, request: UndoRequest | None, caller: Caller
) -> list[JournalEntry]:
    if request is None:
        return _last_undone(connection, caller)
    if request.entry is not None:
        return _one(connection, request.entry)
    if request.group is not None:
        return _group(connection, search.group_named(connection, request.group.strip().lower()))
    if request.memory is not None:
        memory_id = _memory_id(connection, request.memory)
        return _last(connection, search.group_uids(connection, None, memory_id))
    return _last(connection, search.group_uids(connection, scrub(caller.actor)))


def _one(connection: Connection, entry_id: int) -> list[JournalEntry]:
    entry = search.find(connection, entry_id)
    group = search.of_group(connection, entry.group_uid)
    about_memories = any(other.subject_kind == journal.MEMORY for other in group)
    if not writing.can_be_undone(entry, about_memories=about_memories):
        raise Conflict("error.undo_cannot", entry=entry_id, operation=entry.operation)
    if search.undone(connection, [entry_id]):
        raise Conflict("error.undo_already", entry=entry_id)
    return [entry]


def _group(connection: Connection, group_uid: str) -> list[JournalEntry]:
    entries = search.of_group(connection, group_uid)
    chosen = writing.choose(connection, entries)
    if not chosen:
        raise Conflict("error.undo_group_done", group=group_uid)
    return chosen


def _last(connection: Connection, groups: Iterator[str]) -> list[JournalEntry]:
    for group_uid in groups:
        entries = search.of_group(connection, group_uid)
        if not _is_undo(entries) and (chosen := writing.choose(connection, entries)):
            return chosen
    raise NotFound("error.nothing_to_undo")


def _last_undone(connection: Connection, caller: Caller) -> list[JournalEntry]:
    for group_uid in search.group_uids(connection, scrub(caller.actor)):
        entries = search.of_group(connection, group_uid)
        chosen = writing.choose(connection, entries)
        if chosen and not _is_undo(entries):
            break
        if chosen and chosen[0].operation == journal.UNDO:
            return chosen
    raise NotFound("error.nothing_to_redo")


def _is_undo(entries: list[JournalEntry]) -> bool:
    return any(entry.undoes is not None for entry in entries)


def _memory_id(connection: Connection, ref: str | int) -> int:
    """Also one that was purged, by its number or uid."""
    wanted = parse_ref(ref)
    try:
        return memories.find(connection, wanted).id
    except NotFound:
        known = wanted.id or search.memory_once_called(
            connection, wanted.uid or wanted.short_uid or ""
        )
        if known is None:
            raise
        return known


def _undone(
    connection: Connection, entries: list[JournalEntry], stamp: Stamp, *, applied: bool
) -> Undone:
    total = sum(len(search.of_group(connection, uid)) for uid in {e.group_uid for e in entries})
    changed = {entry.subject_id for entry in entries if entry.subject_kind == journal.MEMORY}
    redone = entries[0].operation == journal.UNDO
    return Undone(
        group_uid=stamp.group_uid,
        operation=journal.REDO if redone else journal.UNDO,
        entries=tuple(entries),
        memory_ids=tuple(sorted(changed)),
        left_out=total - len(entries) if len(entries) > 1 else 0,
        applied=applied,
    )
