"""Scan for secrets: keys and passwords in what is already stored, and those masked everywhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.ids import MemoryRef
from engine.domain.memory import FieldValue, Memory
from engine.extraction.graph import canonical
from engine.secrets.believable import MASK
from engine.secrets.entries import masked_entry
from engine.secrets.fields import masked_fields
from engine.secrets.masking import masked
from engine.storage import (
    backup_files,
    erasure,
    facts,
    journal_archive,
    memories,
    plain_texts,
)
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.storage.journal_archive import Line
from engine.storage.plain_texts import JournalText
from engine.writing import atoms, graph
from engine.writing import memories as writing
from engine.writing.embed import Embedded, embed_now, text_of
from engine.writing.layers import derive

MEMORY, TRASH, JOURNAL, ARCHIVE, FACT = "memory", "trash", "journal", "archive", "fact"
PLACES = (MEMORY, TRASH, JOURNAL, ARCHIVE, FACT)
_BATCH = 100
_KEPT = 1_000
_AROUND_CHARS = 40
_CACHED = ("cache/evaluation", "cache/vectors")
_BRIEFINGS = "cache/briefing*.json"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """Secrets in one field of one row: where (one of :data:`PLACES`), its number, the field,
    the kinds, and the text around the first with all of them masked."""

    place: str
    id: int
    field: str
    kinds: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """What was looked at and found; ``findings`` are the first 1,000 of ``places``.

    ``masked`` tells whether they were masked. Then ``archived`` files of the journal were
    written anew, ``backups`` are those made before, which may hold the secrets still, and
    ``compacted`` says that nothing is left in unused pages of the file.
    """

    findings: tuple[Finding, ...]
    count: int
    places: int
    memories: int
    entries: int
    masked: bool = False
    archived: int = 0
    backups: int = 0
    compacted: bool = True


@dataclass(slots=True)
class _Scan:
    findings: list[Finding] = field(default_factory=list)
    memory_ids: list[int] = field(default_factory=list)
    count: int = 0
    places: int = 0
    memories: int = 0
    entries: int = 0

    def note(self, finding: Finding) -> None:
        self.count += len(finding.kinds)
        self.places += 1
        if len(self.findings) < _KEPT:
            self.findings.append(finding)


def scan_secrets(
    context: EngineContext,
    caller: Caller,
    *,
    apply: bool = False,
    on_progress: Progress | None = None,
) -> Scanned:
    """Look at every memory, fact and journal entry; with ``apply`` mask what is found.

    Masked memories are edited, so they are found by what is left of them; what the journal kept
    of the secrets is replaced, so no undo brings them back. Running it again finds nothing.
    ``on_progress`` gets how many memories were looked at, and of how many.
    """
    scan = _Scan()
    _look_at_memories(context, scan, on_progress)
    _look_at_the_rest(context, scan)
    if not (apply and scan.places):
        return _result(scan, context)
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    for start in range(0, len(scan.memory_ids), _BATCH):
        _mask_memories(context, scan.memory_ids[start : start + _BATCH], stamp)
    _mask_facts(context)
    _mask_journal(context)
    archived = _mask_archive(context)
    _clear_caches(context)
    context.background.wake()
    compacted = erasure.compact(context.database, context.settings.storage.busy_timeout_s)
    return _result(scan, context, masking=True, archived=archived, compacted=compacted)


def _result(
    scan: _Scan,
    context: EngineContext,
    *,
    masking: bool = False,
    archived: int = 0,
    compacted: bool = True,
) -> Scanned:
    backups = len(backup_files.listed(context.home / backup_files.FOLDER)) if masking else 0
    return Scanned(
        findings=tuple(scan.findings),
        count=scan.count,
        places=scan.places,
        memories=scan.memories,
        entries=scan.entries,
        masked=masking,
        archived=archived,
        backups=backups,
        compacted=compacted,
    )


def _look_at_memories(context: EngineContext, scan: _Scan, on_progress: Progress | None) -> None:
    with context.database.read() as connection:
        total = len(plain_texts.memory_ids(connection, 0, -1))
    for batch in _memory_batches(context):
        for memory in batch:
            _look_at(scan, memory)
        if on_progress is not None:
            on_progress(scan.memories, max(total, scan.memories))


def _memory_batches(context: EngineContext) -> Iterator[Sequence[Memory]]:
    after = 0
    while True:
        with context.database.read() as connection:
            ids = plain_texts.memory_ids(connection, after, _BATCH)
            found = memories.fetch(connection, ids)
        if not ids:
            return
        yield list(found.values())
        after = ids[-1]


def _look_at(scan: _Scan, memory: Memory) -> None:
    scan.memories += 1
    plain = masked_fields(writing.authored(memory))
    if plain.kinds:
        scan.memory_ids.append(memory.id)
    place = TRASH if memory.deleted_at is not None else MEMORY
    for name, kinds in plain.kinds_by_field.items():
        scan.note(Finding(place, memory.id, name, kinds, _around(plain.fields[name])))


def _look_at_the_rest(context: EngineContext, scan: _Scan) -> None:
    with context.database.read() as connection:
        for fact_id, terms in plain_texts.fact_terms(connection):
            plain, kinds = _masked_terms(terms["predicate"], terms["object"])
            if kinds:
                scan.note(Finding(FACT, fact_id, "object", kinds, _around(plain)))
    for batch in _journal_batches(context):
        for entry in batch:
            _look_at_entry(scan, JOURNAL, entry)
    for path in journal_archive.files(context.home):
        for entry in _archived(path):
            _look_at_entry(scan, ARCHIVE, entry)


def _look_at_entry(scan: _Scan, place: str, entry: JournalText) -> None:
    scan.entries += 1
    found = masked_entry(entry.changes)
    if found.kinds:
        scan.note(Finding(place, entry.id, "changes", found.kinds, _around(found.text)))


def _archived(path: Path) -> Iterator[JournalText]:
    for raw in journal_archive.lines_in(path):
        # A line that was cut off by a crash is no entry.
        with suppress(ValueError, KeyError, TypeError):
            line = json.loads(raw)
            yield JournalText(int(line["id"]), str(line["changes"]))


def _masked_terms(predicate: str, value: str) -> tuple[str, tuple[str, ...]]:
    """What a fact says of something without secrets: what its predicate names counts too."""
    lead = f"{predicate}: "
    plain = masked(lead + value)
    return plain.text.removeprefix(lead), plain.kinds


def _journal_batches(context: EngineContext) -> Iterator[list[JournalText]]:
    after = 0
    while True:
        with context.database.read() as connection:
            batch = plain_texts.journal_texts(connection, after, _BATCH * 10)
        if not batch:
            return
        yield batch
        after = batch[-1].id


def _mask_memories(context: EngineContext, ids: Sequence[int], stamp: Stamp) -> None:
    with context.database.read() as connection:
        found = memories.fetch(connection, ids)
    wanted = {key: dict(masked_fields(writing.authored(found[key])).fields) for key in found}
    # Vectors of a text with a secret in it are made anew, like everything that follows from it.
    done, _ = embed_now(context, [text_of(fields) for fields in wanted.values()], 0.0)
    vectors = dict(zip(wanted, done, strict=True))
    with context.database.write() as connection:
        plain_texts.begin_wiping(connection)
        for key in wanted:
            _mask_memory(context, connection, key, vectors[key], stamp)


def _mask_memory(
    context: EngineContext,
    connection: Connection,
    memory_id: int,
    embedded: Embedded | None,
    stamp: Stamp,
) -> None:
    memory = memories.find(connection, MemoryRef(id=memory_id))
    before = writing.authored(memory)
    after = masked_fields(before).fields
    changed: dict[str, FieldValue] = {
        name: value for name, value in after.items() if before[name] != value
    }
    if not changed:
        return
    layers = derive(context, after, embedded, memory.created_at)
    edited = writing.edit(connection, memory, changed, layers, stamp)
    if edited.deleted_at is not None:
        graph.withdraw(connection, memory_id)
    if edited.deleted_at is not None or edited.archived_at is not None:
        atoms.follow_memory(connection, memory_id, stamp)


def _mask_facts(context: EngineContext) -> None:
    with context.database.write() as connection:
        plain_texts.begin_wiping(connection)
        for fact_id, terms in plain_texts.fact_terms(connection):
            plain, kinds = _masked_terms(terms["predicate"], terms["object"])
            if kinds:
                key = canonical(plain)
                facts.update(connection, fact_id, {"object": plain, "object_key": key})


def _mask_journal(context: EngineContext) -> None:
    for batch in _journal_batches(context):
        plain = [(entry, masked_entry(entry.changes)) for entry in batch]
        found = [JournalText(entry.id, one.text) for entry, one in plain if one.kinds]
        if found:
            with context.database.write() as connection:
                plain_texts.begin_wiping(connection)
                for entry in found:
                    plain_texts.set_journal_text(connection, entry)


def _mask_archive(context: EngineContext) -> int:
    count = 0
    for path in journal_archive.files(context.home):
        if any(masked_entry(entry.changes).kinds for entry in _archived(path)):
            with context.database.write():
                journal_archive.rewrite(path, _masked_line)
            count += 1
    return count


def _masked_line(line: Line) -> Line:
    return line | {"changes": masked_entry(str(line["changes"])).text}


def _clear_caches(context: EngineContext) -> None:
    context.answers.clear()
    for name in _CACHED:
        shutil.rmtree(context.home / name, ignore_errors=True)
    for path in context.home.glob(_BRIEFINGS):
        with suppress(OSError):
            path.unlink()


def _around(value: FieldValue) -> str:
    whole = value if isinstance(value, str) else "、".join(_items(value))
    text = " ".join(whole.split())
    place = max(0, text.find(MASK) - _AROUND_CHARS)
    end = text.find(MASK) + len(MASK) + _AROUND_CHARS
    return ("…" if place else "") + text[place:end] + ("…" if end < len(text) else "")


def _items(value: FieldValue) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
