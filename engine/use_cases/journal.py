"""The journal: what happened to a memory, what happened last, and how long it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.context import EngineContext
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.ids import parse_ref
from engine.domain.memory import JournalEntry
from engine.domain.trail import TailFilters
from engine.storage import journal, journal_archive, memories
from engine.storage import journal_search as search
from engine.storage.database import Connection

MAX_LIMIT = 1000
_DAY_S = 86_400.0
_MEGABYTE = 1_000_000
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry with the others of its group (their number), and whether it is taken back."""

    entry: JournalEntry
    group_size: int
    undone: bool


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What was taken out of the journal: how many entries, into which file (``None``: dropped,
    or nothing to take out), and how many entries are left, of about how many bytes before."""

    removed: int
    archived_to: Path | None
    left: int
    size_bytes: int


def history(context: EngineContext, ref: str | int) -> list[JournalEntry]:
    """What happened to a memory, oldest first, with what it was only the other end of: links to
    it, what it took the place of, facts that came from it. Works for purged ones as well."""
    with context.database.read() as connection:
        return journal.history(connection, _memory_id(connection, ref))


def journal_tail(
    context: EngineContext, count: int = 20, filters: TailFilters | None = None
) -> list[JournalEntry]:
    """What happened last, newest first: up to ``count`` (1-1000) entries."""
    if not 1 <= count <= MAX_LIMIT:
        raise InvalidInput("error.out_of_range", name="n", value=count, low=1, high=MAX_LIMIT)
    with context.database.read() as connection:
        return search.tail(connection, count, filters or TailFilters())


def undone_among(context: EngineContext, entries: Sequence[JournalEntry]) -> set[int]:
    """The ids of those entries that are taken back now."""
    with context.database.read() as connection:
        return search.undone(connection, [entry.id for entry in entries])


def find_entry(context: EngineContext, entry_id: int) -> EntryView:
    """One entry by its number. Raises NotFound."""
    with context.database.read() as connection:
        entry = search.find(connection, entry_id)
        group = search.of_group(connection, entry.group_uid)
        return EntryView(entry, len(group), bool(search.undone(connection, [entry_id])))


def trim_journal(context: EngineContext) -> Trimmed:
    """Take out what is older than ``journal.keep_days`` or beyond ``journal.max_mb``, oldest
    first and in whole undo groups, some thousand entries a transaction.

    They go to a compressed file under ``<home>/journal`` or are dropped, as set.
    """
    settings, now = context.settings.journal, context.clock.now()
    with context.database.read() as connection:
        measure = journal_archive.measure(
            connection, now - settings.keep_days * _DAY_S, int(settings.max_mb * _MEGABYTE)
        )
    removed, archive = 0, _Archive(context.home, wanted=settings.older == "archive")
    while batch := _trim_batch(context, measure.keep_from, archive):
        removed += batch
    return Trimmed(removed, archive.path, measure.entries - removed, measure.size_bytes)


class _Archive:
    """The file of one trim, named by the first entry in it."""

    def __init__(self, home: Path, *, wanted: bool) -> None:
        self._home = home
        self._wanted = wanted
        self._name = ""
        self.path: Path | None = None

    def put(self, connection: Connection, group_uids: Sequence[str]) -> None:
        if not self._wanted:
            return
        if not self._name:
            first = next(journal_archive.rows_of(connection, group_uids))
            self._name = f"journal-{int(str(first['id'])):012d}.jsonl.gz"
        lines = journal_archive.rows_of(connection, group_uids)
        self.path = journal_archive.append_lines(self._home, self._name, lines)


def _trim_batch(context: EngineContext, keep_from: int, archive: _Archive) -> int:
    """Written before it is removed, both under the lock, so that whoever erases something for
    good finds it in one of the two places."""
    with context.database.write() as connection:
        groups = journal_archive.next_groups(connection, keep_from, _BATCH)
        if not groups:
            return 0
        archive.put(connection, groups)
        return journal_archive.remove(connection, groups)


def _memory_id(connection: Connection, ref: str | int) -> int:
    wanted = parse_ref(ref)
    try:
        return memories.find(connection, wanted).id
    except NotFound:
        uid = wanted.uid or wanted.short_uid
        known = search.memory_once_called(connection, uid) if uid else wanted.id
        if known is None or not search.of_memory_after(connection, known, 0):
            raise
        return known
