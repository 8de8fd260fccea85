"""Forget for good: out of the store, its journal, its caches, and the backups it made.

What the product cannot reach is said: files that somebody exported, and copies elsewhere.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.context import EngineContext
from engine.domain.backup import BackupFile
from engine.domain.caller import Caller
from engine.domain.errors import NotFound
from engine.domain.ids import parse_ref
from engine.domain.memory import JournalEntry, Memory
from engine.domain.notices import Notice
from engine.storage import backup_files, erasure, journal, memories, reflections
from engine.storage import journal_search as search
from engine.storage.database import Connection
from engine.storage.erasure import Traces
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import memories as writing

# Files of the cache that hold words or vectors of memories; all are made again when needed.
_CACHED = ("cache/evaluation", "cache/vectors")
_BRIEFINGS = "briefing*.json"
_DRAFTS = "drafts"
_EXPORTS = "exports"


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased: the memories as they were, the numbers of purged ones of which the
    journal kept a copy, in how many entries of other memories and files of the archived journal
    their words stood, which backups were deleted, and what could not be reached."""

    memories: tuple[Memory, ...]
    purged: tuple[int, ...]
    entries: int
    archive_files: int
    backups: tuple[str, ...]
    unreached: tuple[Notice, ...]


def erase_memories(
    context: EngineContext,
    refs: Sequence[str | int],
    caller: Caller,
    back_up: Callable[[], object] | None = None,
) -> Erased:
    """Remove memories from everywhere the product keeps something, as one group.

    ``back_up`` makes a new backup when those that were there had to go. Raises
    :class:`~engine.domain.errors.NotFound` for a reference that nothing has; then nothing is
    erased.
    """
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    with context.database.write() as connection:
        connection.execute("PRAGMA secure_delete=ON")
        doomed, purged = _found(connection, refs)
        history = [e for key in (*doomed, *purged) for e in journal.history(connection, key)]
        traces = _traces(doomed, purged, history)
        summaries = {one for key in doomed for one in reflections.made_of(connection, key)}
        for memory in doomed.values():
            writing.erase(connection, memory, stamp)
        for memory_id in purged:
            writing.erase_purged(connection, memory_id)
        erasure.forget_judgments(connection, traces)
        entries = erasure.scrub_journal(connection, traces)
    archived = erasure.scrub_archive(context.database, context.home, traces)
    _clear_caches(context, traces)
    gone, unreadable = _remove_backups(context, traces)
    compacted = erasure.compact(context.database, context.settings.storage.busy_timeout_s)
    if gone and back_up is not None:
        back_up()
    unreached = (
        *_summaries(sorted(summaries - doomed.keys())),
        *_unreached(context.home, unreadable, compacted=compacted),
    )
    return Erased(tuple(doomed.values()), tuple(purged), entries, archived, gone, unreached)


def _found(
    connection: Connection, refs: Sequence[str | int]
) -> tuple[dict[int, Memory], dict[int, str]]:
    """The memories by id, and the uids of purged ones that only the journal knows."""
    doomed: dict[int, Memory] = {}
    purged: dict[int, str] = {}
    for ref in refs:
        wanted = parse_ref(ref)
        try:
            memory = memories.find(connection, wanted)
            doomed[memory.id] = memory
        except NotFound:
            name = wanted.uid or wanted.short_uid or ""
            memory_id = wanted.id or search.memory_once_called(connection, name) or 0
            known = search.of_memory_after(connection, memory_id, 0)
            if not any(entry.changes for entry in known):
                raise
            purged[memory_id] = known[0].subject_uid
    return doomed, purged


def _traces(
    doomed: Mapping[int, Memory], purged: Mapping[int, str], history: Sequence[JournalEntry]
) -> Traces:
    """What the memories say now and said before."""
    words: list[str | None] = []
    for memory in doomed.values():
        words += [memory.text, memory.summary, memory.persona_summary, memory.details]
        words += memory.key_facts
    ids = frozenset((*doomed, *purged))
    for entry in history:
        if entry.subject_kind == journal.MEMORY and entry.subject_id in ids:
            words += _words_in(entry)
    uids = frozenset((*(memory.uid for memory in doomed.values()), *purged.values()))
    return Traces(ids, uids, erasure.telling(words))


def _words_in(entry: JournalEntry) -> Iterator[str]:
    for name in ("text", "summary", "persona_summary", "details", "key_facts"):
        for value in entry.changes.get(name, ()):
            if isinstance(value, tuple):
                yield from value
            elif isinstance(value, str):
                yield value


def _clear_caches(context: EngineContext, traces: Traces) -> None:
    context.answers.clear()
    for name in _CACHED:
        shutil.rmtree(context.home / name, ignore_errors=True)
    drafts = [context.home / _DRAFTS / f"{memory_id}.json" for memory_id in traces.ids]
    for path in (*(context.home / "cache").glob(_BRIEFINGS), *drafts):
        with suppress(OSError):
            path.unlink()


def _remove_backups(
    context: EngineContext, traces: Traces
) -> tuple[tuple[str, ...], tuple[BackupFile, ...]]:
    """Delete the backups that know the memories; return their names, and those that nobody can
    look into."""
    gone: list[str] = []
    unreadable: list[BackupFile] = []
    for file in backup_files.listed(context.home / backup_files.FOLDER):
        holds = erasure.backup_holds(file.path, traces)
        if holds:
            backup_files.remove(file)
            gone.append(file.path.name)
        elif holds is None:
            unreadable.append(file)
    return tuple(gone), tuple(unreadable)


def _summaries(memory_ids: Sequence[int]) -> Iterator[Notice]:
    """Memories that sum up what was erased may quote it; they sum up others as well, so whether
    they go too is a person's choice."""
    if memory_ids:
        refs = ", ".join(f"#{memory_id}" for memory_id in memory_ids)
        yield Notice("erase.summaries", refs=refs)


def _unreached(
    home: Path, unreadable: Sequence[BackupFile], *, compacted: bool
) -> Iterator[Notice]:
    if unreadable:
        names = ", ".join(file.path.name for file in unreadable)
        yield Notice("erase.unread_backups", names=names)
    if not compacted:
        yield Notice("erase.not_compacted")
    exports = home / _EXPORTS
    if exports.is_dir() and any(exports.iterdir()):
        yield Notice("erase.exports", folder=str(exports))
    yield Notice("erase.elsewhere")
