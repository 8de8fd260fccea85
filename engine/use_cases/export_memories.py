"""Export: memories with all that belongs to them into an archive or a folder of notes.

One snapshot of the store is written, oldest memories first, a batch at a time.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from engine import VERSION
from engine.context import EngineContext
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.memory import Memory
from engine.domain.scope import Filters
from engine.domain.times import iso
from engine.domain.vocabulary import check
from engine.exchange import archive, files_out, note_names, notes
from engine.exchange.archive import Header
from engine.exchange.records import (
    ARCHIVE,
    MARKDOWN,
    Saved,
    SavedAlias,
    SavedAtom,
    SavedEntry,
    SavedFact,
    SavedLink,
    SavedMemory,
    SavedStrength,
    SavedVector,
    SavedWorkspace,
)
from engine.language.labels import folded_filters
from engine.storage import embeddings, memories, transfer, workspaces
from engine.storage.database import SCHEMA_VERSION, Connection
from engine.writing.memories import authored

FORMS = (ARCHIVE, MARKDOWN)
EXPORTS_FOLDER = "exports"
_BATCH = 200

Progress = Callable[[int, int], None]
"""Called with how many memories are done, and of how many."""

EVERYTHING = Filters(include_expired=True, include_superseded=True)
"""Every memory outside the trash."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to write where.

    ``form`` is ``archive`` (a file) or ``markdown`` (a folder). ``trash`` takes along what lies
    there, ``history`` the journal of the memories, ``vectors`` those of the model that answers
    now. ``overwrite`` replaces an archive, or writes into a folder that has something in it.
    """

    path: Path
    form: str = ARCHIVE
    filters: Filters = EVERYTHING
    trash: bool = False
    vectors: bool = True
    history: bool = False
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: how many records of each kind, and how large the archive is (0 for a
    folder)."""

    path: Path
    form: str
    counts: Mapping[str, int]
    bytes: int = 0


@dataclass(slots=True)
class _Run:
    """One export: the snapshot it reads, the memories it takes, and what it counted so far."""

    connection: Connection
    request: ExportRequest
    ids: array[int]
    chosen: bytearray
    space: tuple[int, str] | None
    counts: dict[str, int] = field(default_factory=dict)

    def takes(self, memory_id: int | None) -> bool:
        """Whether a memory is among those exported."""
        return (
            memory_id is not None and memory_id < len(self.chosen) and bool(self.chosen[memory_id])
        )


def export_memories(
    context: EngineContext, request: ExportRequest, on_progress: Progress | None = None
) -> Exported:
    """Write an archive or a folder of notes.

    Raises Conflict for a target that exists, InvalidInput for an unknown form, and
    StoreUnavailable when the target cannot be written.
    """
    form = check("form", request.form, FORMS)
    path = request.path.absolute()
    _require_target(request, form, path)
    chosen = replace(request, path=path, form=form)
    tell = on_progress or (lambda done, total: None)
    with context.database.read() as connection:
        run = _begin(context, connection, chosen)
        if form == MARKDOWN:
            _write_notes(context, run, tell)
            return Exported(path, form, run.counts)
        size = files_out.write_archive(
            path,
            _lines(run, tell),
            lambda: archive.header_line(_header(context, run)),
            replace=request.overwrite,
        )
    return Exported(path, form, run.counts, size)


def _require_target(request: ExportRequest, form: str, path: Path) -> None:
    if form == ARCHIVE:
        files_out.require_free(path, replace=request.overwrite)
    elif path.is_file():
        raise InvalidInput("error.export_is_file", path=str(path))
    elif path.is_dir() and not request.overwrite and any(path.iterdir()):
        raise Conflict("error.export_exists", path=str(path))


def _begin(context: EngineContext, connection: Connection, request: ExportRequest) -> _Run:
    filters = folded_filters(request.filters)
    ids = transfer.ids_in_order(connection, filters, context.clock.now(), with_trash=request.trash)
    chosen = bytearray(max(ids, default=0) + 1)
    for memory_id in ids:
        chosen[memory_id] = 1
    return _Run(connection, request, ids, chosen, _space(context, connection, request))


def _space(
    context: EngineContext, connection: Connection, request: ExportRequest
) -> tuple[int, str] | None:
    identity = context.serving().identity() if request.vectors else None
    space_id = None if identity is None else embeddings.find_space(connection, identity)
    return None if identity is None or space_id is None else (space_id, identity.key)


def _header(context: EngineContext, run: _Run) -> Header:
    options: dict[str, object] = {
        "vectors": run.request.vectors,
        "history": run.request.history,
        "trash": run.request.trash,
    }
    options |= {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(run.request.filters).items()
        if value != asdict(EVERYTHING)[name]
    }
    return Header(
        exported_at=iso(context.clock.now(), context.zone),
        product=VERSION,
        schema=SCHEMA_VERSION,
        space=run.space[1] if run.space else None,
        options=options,
        counts=run.counts,
    )


def _lines(run: _Run, on_progress: Progress) -> Iterator[str]:
    for record in _records(run, on_progress):
        kind = archive.kind_of(record)
        run.counts[kind] = run.counts.get(kind, 0) + 1
        yield archive.record_line(record)


def _records(run: _Run, on_progress: Progress) -> Iterator[Saved]:
    facts = [row for row in transfer.facts(run.connection) if _takes_fact(run, row)]
    yield from _workspaces(run, {row.workspace for row in facts})
    for alias in transfer.aliases(run.connection):
        yield SavedAlias(**asdict(alias))
    done = 0
    for batch in _batches(run.ids):
        yield from _saved(run, batch)
        done += len(batch)
        on_progress(done, len(run.ids))
    for link in transfer.links(run.connection):
        if run.takes(link.source_id) and run.takes(link.target_id):
            yield SavedLink(link.source, link.target, link.relation, link.created_at)
    for row in facts:
        values = {name: value for name, value in asdict(row).items() if name != "memory_id"}
        yield SavedFact(**values)
    yield from _atoms(run)
    if run.request.history:
        yield from _history(run)


def _workspaces(run: _Run, named_by_facts: set[str]) -> Iterator[SavedWorkspace]:
    """The workspaces that anything exported belongs to, oldest first."""
    found = workspaces.overview(run.connection)
    holding = transfer.workspaces_of(run.connection, run.ids)
    for workspace in sorted(found, key=lambda item: (item.created_at, item.name)):
        if workspace.id in holding or workspace.name in named_by_facts:
            yield SavedWorkspace(workspace.name, workspace.domain, workspace.created_at)


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]


def _saved(run: _Run, batch: Sequence[int]) -> Iterator[SavedMemory]:
    found = memories.fetch(run.connection, batch)
    strengths = transfer.strengths(run.connection, batch)
    vectors = _vectors(run, batch)
    successors = {memory.superseded_by for memory in found.values()} - {None}
    uids = memories.fetch(run.connection, [i for i in successors if i is not None])
    for memory_id in batch:
        memory = found[memory_id]
        strength = SavedStrength(**strengths[memory_id])  # type: ignore[arg-type]
        successor = uids.get(memory.superseded_by or 0)
        yield replace(
            saved_memory(memory),
            superseded_by=None if successor is None else successor.uid,
            strength=strength,
            vectors=tuple(vectors.get(memory_id, ())),
        )


def saved_memory(memory: Memory) -> SavedMemory:
    """A memory as a file holds it, but for what stands in other tables."""
    stated = archive.authored_of(authored(memory))
    if memory.details is not None:
        stated["details"] = json.loads(memory.details)
    scope = {name: getattr(memory, name) for name in archive.SCOPE}
    states = {name: getattr(memory, name) for name in archive.STATES}
    return SavedMemory(
        uid=memory.uid,
        fields=stated,
        workspace=memory.workspace,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        revision=memory.revision,
        position=memory.position,
        scope={name: value for name, value in scope.items() if value is not None},
        states={name: value for name, value in states.items() if value is not None},
    )


def _vectors(run: _Run, batch: Sequence[int]) -> dict[int, list[SavedVector]]:
    found: dict[int, list[SavedVector]] = {}
    if run.space is not None:
        for row in transfer.pieces(run.connection, run.space[0], batch):
            vector = SavedVector(row.start, row.end, row.content_hash, row.vector)
            found.setdefault(row.memory_id, []).append(vector)
    return found


def _takes_fact(run: _Run, row: transfer.FactRow) -> bool:
    """A fact goes with its memory; one without goes where at most the workspace narrows."""
    if row.memory_id is not None:
        return run.takes(row.memory_id)
    scope = run.request.filters.scope
    if replace(run.request.filters, scope=EVERYTHING.scope).is_broad:
        return scope.kind == "all" or row.workspace == scope.workspace
    return False


def _atoms(run: _Run) -> Iterator[SavedAtom]:
    numbers: dict[int, int] = {}
    for number, (row, mentions) in enumerate(_taken_atoms(run), 1):
        numbers[row.id] = number
        del mentions
    for row, mentions in _taken_atoms(run):
        yield SavedAtom(
            number=numbers[row.id],
            workspace=row.workspace,
            values=row.values,
            mentions=tuple(mentions),
            superseded_by=numbers.get(row.superseded_by or 0),
        )


def _taken_atoms(
    run: _Run,
) -> Iterator[tuple[transfer.AtomRow, list[tuple[str, float]]]]:
    for row in transfer.atoms(run.connection):
        stated = transfer.mentions(run.connection, row.id)
        mentions = [(uid, at) for memory_id, uid, at in stated if run.takes(memory_id)]
        if mentions:
            yield row, mentions


def _history(run: _Run) -> Iterator[SavedEntry]:
    for batch in _batches(run.ids):
        for row in transfer.journal_rows(run.connection, batch):
            yield SavedEntry(*row)


def _write_notes(context: EngineContext, run: _Run, on_progress: Progress) -> None:
    done = 0
    with files_out.told(run.request.path):
        for batch in _batches(run.ids):
            links = transfer.links_from(run.connection, batch)
            targets = memories.fetch(run.connection, {link.target_id for link in links})
            for record in _saved(run, batch):
                _write_note(
                    context, run, record, _named_links(context, run, links, targets, record)
                )
            done += len(batch)
            on_progress(done, len(run.ids))


def _named_links(
    context: EngineContext,
    run: _Run,
    links: Sequence[transfer.LinkRow],
    targets: Mapping[int, Memory],
    record: SavedMemory,
) -> dict[str, list[str]]:
    named: dict[str, list[str]] = {}
    for link in links:
        if link.source == record.uid and run.takes(link.target_id):
            target = targets[link.target_id]
            name = note_names.note_name(target.uid, target.text, target.created_at, context.zone)
            named.setdefault(link.relation, []).append(name)
            run.counts["link"] = run.counts.get("link", 0) + 1
    return named


def _write_note(
    context: EngineContext, run: _Run, record: SavedMemory, links: Mapping[str, Sequence[str]]
) -> None:
    name = note_names.note_name(
        record.uid, str(record.fields["text"]), record.created_at or 0.0, context.zone
    )
    place = note_names.note_path(str(record.workspace), str(record.fields["kind"]), name)
    target = run.request.path / place
    target.parent.mkdir(parents=True, exist_ok=True)
    files_out.write_text(target, notes.note_text(record, links, context.zone))
    run.counts["memory"] = run.counts.get("memory", 0) + 1


def confined(context: EngineContext, name: str) -> Path:
    """The file called ``name`` in the store's folder for exports: all that a caller who may not
    choose folders (an assistant) reads and writes. Raises :class:`InvalidInput` for anything but
    a plain name."""
    folder = context.home / EXPORTS_FOLDER
    path = folder / note_names.require_file_name(name)
    if path.is_symlink() or folder.is_symlink():
        raise InvalidInput("error.bad_file_name", value=name[:60])
    return path
