"""Ingest: documents as memories, one for each chunk.

A document is known by its workspace and path. One that holds what it held writes nothing; of one
that changed, the chunks that are as they were stay, those that are gone go to the trash and new
ones are stored, all as one group of the journal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.context import EngineContext
from engine.domain import fields as authored_fields
from engine.domain.caller import Caller
from engine.domain.errors import JiyiError
from engine.domain.ids import MemoryRef
from engine.domain.memory import GLOBAL_WORKSPACE, Draft, FieldValue
from engine.domain.notices import Notice
from engine.domain.text import content_hash, scrub
from engine.domain.vocabulary import TRUSTS, check
from engine.exchange.documents import document_text, documents_in, is_markdown
from engine.extraction.importance import importance_of
from engine.extraction.kinds import kind_of
from engine.markdown.chunks import Sizes, cut_document
from engine.storage import ingested, memories, workspaces
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.ingested import ReadFile, StoredChunk
from engine.storage.journal import Stamp
from engine.writing import memories as writing
from engine.writing.embed import embed_now, text_of
from engine.writing.entrance import entered
from engine.writing.layers import Layers, derive
from engine.writing.own_blocks import is_own_block
from engine.writing.workspace_names import workspace_name

_EMBEDDED_AT_ONCE = 64

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Which files and folders. ``trust`` is how far their texts are to be trusted; with
    ``dry_run`` nothing is written."""

    paths: Sequence[Path]
    workspace: str | None = None
    trust: str = "external"
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """What became, or would become, of one document: ``chunks`` it has, ``added`` of them are
    new, ``kept`` as they were, and ``removed`` ones go to the trash. ``error`` says why it was
    not read. ``notices`` say which keys and passwords were in new chunks."""

    path: Path
    chunks: int = 0
    added: int = 0
    kept: int = 0
    removed: int = 0
    unchanged: bool = False
    pending: int = 0
    notices: tuple[Notice, ...] = ()
    error: JiyiError | None = None


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of all documents; ``group_uid`` undoes it in one step, if anything was
    written."""

    files: tuple[IngestedFile, ...]
    dry_run: bool
    group_uid: str | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chunk ready to be stored."""

    fields: dict[str, FieldValue]
    digest: str
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class _Difference:
    """What of a document is new, is there under another heading, and is there no more."""

    added: tuple[_Piece, ...]
    moved: tuple[tuple[int, str], ...]
    removed: tuple[int, ...]
    kept: int


@dataclass(frozen=True, slots=True)
class _Run:
    """What all documents of a request share."""

    context: EngineContext
    workspace: str
    trust: str
    stamp: Stamp
    caller: Caller
    dry_run: bool


def ingest(
    context: EngineContext,
    request: IngestRequest,
    caller: Caller,
    on_progress: Progress | None = None,
) -> Ingested:
    """Store documents chunk by chunk. One that cannot be read is told, and the others go on.

    Raises :class:`~engine.domain.errors.NotFound` for a path that is not there, before anything
    is written. ``on_progress`` gets how many documents are done, and of how many.
    """
    paths = [path for given in request.paths for path in documents_in(given.absolute())]
    run = _Run(
        context=context,
        workspace=workspace_name(request.workspace or caller.workspace or GLOBAL_WORKSPACE),
        trust=check("trust", request.trust, TRUSTS),
        stamp=Stamp(caller.actor, context.clock.now(), new_uid()),
        caller=caller,
        dry_run=request.dry_run,
    )
    files = []
    for done, path in enumerate(dict.fromkeys(paths), 1):
        files.append(_ingest_one(run, path))
        if on_progress is not None:
            on_progress(done, len(paths))
    if any(file.pending for file in files):
        context.background.wake()
    wrote = not request.dry_run and any(file.added or file.removed for file in files)
    return Ingested(tuple(files), request.dry_run, run.stamp.group_uid if wrote else None)


def _ingest_one(run: _Run, path: Path) -> IngestedFile:
    try:
        return _read_one(run, path)
    except JiyiError as error:
        return IngestedFile(path, error=error)


def _read_one(run: _Run, path: Path) -> IngestedFile:
    text = scrub(document_text(path))
    read = ReadFile(content_hash(text), run.stamp.at)
    name = path.as_posix()
    with run.context.database.read() as connection:
        if _is_known(connection, run.workspace, name, read):
            count = len(ingested.chunks(connection, run.workspace, name))
            return IngestedFile(path, chunks=count, kept=count, unchanged=True)
    pieces = list(_pieces(run, path, text))
    with run.context.database.read() as connection:
        foreseen = _difference(pieces, ingested.chunks(connection, run.workspace, name))
    if run.dry_run:
        return _told(path, foreseen)
    prepared = _prepared(run, foreseen.added)
    with run.context.database.write() as connection:
        workspace_id = workspaces.ensure(connection, run.workspace, run.stamp.at)
        # Another process may have read the same document meanwhile.
        found = _difference(pieces, ingested.chunks(connection, run.workspace, name))
        pending = _write(run, connection, found, prepared)
        ingested.put(connection, workspace_id, name, read)
    return _told(path, found, pending)


def _is_known(connection: Connection, workspace: str, name: str, read: ReadFile) -> bool:
    known = ingested.find(connection, workspace, name)
    if known is None or known.content_hash != read.content_hash:
        return False
    return not ingested.was_undone(connection, known.at)


def _told(path: Path, found: _Difference, pending: int = 0) -> IngestedFile:
    counts: dict[str, int] = defaultdict(int)
    for piece in found.added:
        for notice in piece.notices:
            counts[notice.key] += int(str(notice.params["count"]))
    return IngestedFile(
        path,
        chunks=len(found.added) + found.kept,
        added=len(found.added),
        kept=found.kept,
        removed=len(found.removed),
        unchanged=not (found.added or found.removed or found.moved),
        pending=pending,
        notices=tuple(Notice(key, count=count) for key, count in counts.items()),
    )


def _pieces(run: _Run, path: Path, text: str) -> Iterator[_Piece]:
    settings = run.context.settings
    sizes = Sizes(settings.ingest.max_chars, settings.ingest.min_chars, settings.memory.max_chars)
    for chunk in cut_document(text, sizes, is_markdown=is_markdown(path)):
        if is_own_block(chunk.text):
            continue
        raw = {
            "text": chunk.text,
            "source": ingested.SOURCE,
            "source_ref": ingested.reference(path.as_posix(), chunk.heading),
            "trust": run.trust,
        }
        came = entered(run.context, raw)
        fields = authored_fields.defaults() | came.fields
        _complete(run, fields)
        yield _Piece(fields, content_hash(str(fields["text"])), came.notices)


def _complete(run: _Run, fields: dict[str, FieldValue]) -> None:
    """Choose kind and importance by the rules that hold for everybody's memories."""
    memory, text = run.context.settings.memory, str(fields["text"])
    fields["kind"] = kind_of(text, run.stamp.at, run.context.zone, memory.default_kind).kind
    fields["importance"] = memory.default_importance
    if memory.auto_importance:
        fields["importance"] = importance_of(text, str(fields["kind"])).value


def _difference(pieces: Sequence[_Piece], stored: Sequence[StoredChunk]) -> _Difference:
    by_hash: dict[str, list[StoredChunk]] = defaultdict(list)
    for chunk in stored:
        by_hash[chunk.content_hash].append(chunk)
    added, moved, kept = [], [], 0
    for piece in pieces:
        same = by_hash[piece.digest]
        if not same:
            added.append(piece)
            continue
        kept += 1
        chunk = same.pop(0)
        reference = str(piece.fields["source_ref"])
        if chunk.source_ref != reference:
            moved.append((chunk.memory_id, reference))
    removed = [chunk.memory_id for same in by_hash.values() for chunk in same]
    return _Difference(tuple(added), tuple(moved), tuple(sorted(removed)), kept)


def _prepared(run: _Run, pieces: Sequence[_Piece]) -> dict[str, Layers]:
    """The layers of new chunks by their hash, made while nobody waits for the store."""
    context, layers = run.context, {}
    for start in range(0, len(pieces), _EMBEDDED_AT_ONCE):
        batch = pieces[start : start + _EMBEDDED_AT_ONCE]
        texts = [text_of(piece.fields) for piece in batch]
        done, _ = embed_now(context, texts, context.settings.embedding.wait_s)
        for piece, embedded in zip(batch, done, strict=True):
            layers[piece.digest] = derive(context, piece.fields, embedded, run.stamp.at)
    return layers


def _write(
    run: _Run, connection: Connection, found: _Difference, prepared: dict[str, Layers]
) -> int:
    """Write a document's difference; return how many memories wait for vectors."""
    for memory_id in found.removed:
        memory = memories.find(connection, MemoryRef(id=memory_id))
        writing.trash(connection, memory, run.stamp)
    for memory_id, reference in found.moved:
        _move(run, connection, memory_id, reference)
    pending = 0
    for piece in found.added:
        layers = prepared.get(piece.digest)
        if layers is None:
            layers = derive(run.context, piece.fields, None, run.stamp.at)
        pending += _create(run, connection, piece, layers)
    return pending


def _create(run: _Run, connection: Connection, piece: _Piece, layers: Layers) -> bool:
    caller = run.caller
    draft = Draft(
        fields=piece.fields,
        workspace=run.workspace,
        session_id=caller.session_id,
        agent=caller.agent,
    )
    return writing.create(connection, draft, layers, run.stamp).pending


def _move(run: _Run, connection: Connection, memory_id: int, reference: str) -> None:
    memory = memories.find(connection, MemoryRef(id=memory_id))
    writing.set_state(connection, memory, {"source_ref": reference}, "edit", run.stamp)
