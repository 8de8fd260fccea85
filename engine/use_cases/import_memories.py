"""Import: what a file holds into the store, as one undoable group of the journal.

A memory is known by its uid. One that is not there is written; one that says the same is left
alone, so a second import changes nothing; one that says something else is a collision, and the
policy decides. What was deleted here stays deleted unless it is asked for. Whatever cannot be
read is told with its place, and the rest comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict
from engine.domain.vocabulary import COLLISION_POLICIES, TRUSTS, check
from engine.exchange.records import ARCHIVE, MARKDOWN, Item, Placed, SavedMemory, Unreadable
from engine.exchange.source import Reading, Source
from engine.storage import memories
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import merging
from engine.writing.embed import Embedded
from engine.writing.incoming import Filling
from engine.writing.merging import CHANGED, DELETED, NEW, SAME, Merge, Policy
from engine.writing.opening import open_file
from engine.writing.workspace_names import workspace_name

ACTOR = "import"
_BATCH = 200

Progress = Callable[[int, int], None]
"""Called with how many records are done, and of how many (as far as is known)."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to read and how.

    ``collision`` is what becomes of a memory that is there and says something else: ``skip``,
    ``overwrite``, ``rename`` (a copy under a uid of its own) or ``error`` (nothing comes in).
    ``reembed`` takes an archive whose vectors are of another model, without them. ``revive``
    brings back what was deleted here. ``workspace`` puts everything there; ``trust`` says how
    far the texts are to be trusted (``external`` for foreign files, else as the file says).
    """

    path: Path
    collision: str = "skip"
    reembed: bool = False
    revive: bool = False
    dry_run: bool = False
    workspace: str | None = None
    trust: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do.

    Memories are ``new``, the ``same``, ``changed`` (they collide) or ``deleted`` here before;
    ``written`` of them were written, and ``pending`` wait for vectors. ``links`` and ``facts``
    are new ones; ``loose`` links lead to nothing that is there. ``own_blocks`` were lists of
    recalled memories. ``bad`` places could not be read; ``problems`` are the first of them.
    ``secrets`` are notices (catalogue messages) of keys and passwords in what was written, and
    how many there were.
    """

    path: Path
    format: str
    encoding: str
    dry_run: bool
    new: int
    same: int
    changed: int
    deleted: int
    written: int
    pending: int
    links: int
    loose: int
    facts: int
    own_blocks: int
    bad: int
    problems: tuple[Unreadable, ...]
    secrets: tuple[tuple[str, int], ...] = ()
    group_uid: str | None = None


def _silent(_done: int, _of: int) -> None:
    """Nobody wants to know how far it is."""


@dataclass(frozen=True, slots=True)
class _Course:
    """What goes along with an import."""

    on_progress: Progress = _silent
    back_up: Callable[[], object] | None = None

    def begin(self, context: EngineContext) -> None:
        """Something is about to be written."""
        if self.back_up is None:
            return
        with context.database.read() as connection:
            holds_some = memories.count_live(connection) > 0
        if holds_some:
            self.back_up()


def import_memories(
    context: EngineContext,
    request: ImportRequest,
    caller: Caller,
    on_progress: Progress | None = None,
    back_up: Callable[[], object] | None = None,
) -> Imported:
    """Read a file or a folder of any known format into the store.

    ``back_up`` is called once before anything is written to a store that holds memories.
    Raises :class:`InvalidInput` for a file that is no file of memories, :class:`NotFound` where
    there is none, and Conflict for vectors of another model (without ``reembed``) or, by the
    policy ``error``, for a first collision; then nothing has been written.
    """
    collision = check("collision", request.collision, COLLISION_POLICIES)
    if request.trust is not None:
        check("trust", request.trust, TRUSTS)
    chosen = replace(request, path=request.path.absolute(), collision=collision)
    if collision == "error":
        found = _merged(context, replace(chosen, dry_run=True), caller, _Course())
        if found.changed:
            raise Conflict("error.import_collisions", count=found.changed)
    return _merged(context, chosen, caller, _Course(on_progress or _silent, back_up))


def _merged(
    context: EngineContext, request: ImportRequest, caller: Caller, course: _Course
) -> Imported:
    with ExitStack() as stack:
        line_bytes = int(context.settings.transfer.max_line_mb * (1 << 20))
        source = open_file(request.path, Reading(context.zone, line_bytes), stack)
        expected = source.header.counts if source.header else {}
        merge = merging.begin(
            context,
            _policy(context, request, source),
            _filling(context, request, source, caller),
            Stamp(ACTOR, context.clock.now(), new_uid()),
        )
        done = 0
        for records in _batches(_memories_first(source), merge):
            if done == 0 and not request.dry_run:
                course.begin(context)
            merging.take(merge, records)
            done += len(records)
            course.on_progress(done, max(done, sum(expected.values())))
        merging.finish(merge, expected.get("atom", 0))
    return _report(request, source, merge)


def _policy(context: EngineContext, request: ImportRequest, source: Source) -> Policy:
    return Policy(
        collision=request.collision,
        revive=request.revive,
        dry_run=request.dry_run,
        brings_atoms=source.header is not None and source.header.counts.get("atom", 0) > 0,
        space=_space(context, request, source),
    )


def _filling(
    context: EngineContext, request: ImportRequest, source: Source, caller: Caller
) -> Filling:
    foreign = source.format not in (ARCHIVE, MARKDOWN)
    return Filling(
        now=context.clock.now(),
        stated={} if request.trust is None else {"trust": request.trust},
        missing={"source": "import", "trust": "external"} if foreign else {},
        workspace=caller.workspace,
        into=None if request.workspace is None else workspace_name(request.workspace),
    )


def _space(context: EngineContext, request: ImportRequest, source: Source) -> Embedded | None:
    """The space whose vectors are taken over; none where the store has no use for them."""
    header = source.header
    if header is None or header.space is None or not context.settings.vectors.enabled:
        return None
    spaces = (context.serving().identity(), context.models.identity())
    known = [identity for identity in spaces if identity is not None]
    for identity in known:
        if identity.key == header.space:
            return Embedded(identity, ())
    if known and not request.reembed:
        raise Conflict("error.import_space", model=known[0].model)
    return None


def _memories_first(source: Source) -> Iterator[Item]:
    """The records with the memories before what refers to them, as our archives have them."""
    if source.format == ARCHIVE:
        yield from source.items
        return
    later: list[Placed] = []
    for item in source.items:
        if isinstance(item, Placed) and not isinstance(item.record, SavedMemory):
            later.append(item)
        else:
            yield item
    yield from sorted(later, key=lambda item: type(item.record).__name__)


def _batches(items: Iterator[Item], merge: Merge) -> Iterator[list[Placed]]:
    """Records of one kind that follow one another, a few hundred at a time; what could not be
    read is noted."""
    batch: list[Placed] = []
    for item in items:
        if isinstance(item, Unreadable):
            merge.refuse(item.place, item.reason)
            continue
        if batch and (type(item.record) is not type(batch[0].record) or len(batch) == _BATCH):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _report(request: ImportRequest, source: Source, merge: Merge) -> Imported:
    counts = merge.counts
    wrote = any(counts.get(name) for name in ("written", "links", "facts"))
    return Imported(
        path=request.path,
        format=source.format,
        encoding=source.encoding,
        dry_run=request.dry_run,
        new=counts.get(NEW, 0),
        same=counts.get(SAME, 0),
        changed=counts.get(CHANGED, 0),
        deleted=counts.get(DELETED, 0),
        written=counts.get("written", 0),
        pending=counts.get("pending", 0),
        links=counts.get("links", 0),
        loose=counts.get("loose", 0),
        facts=counts.get("facts", 0),
        own_blocks=counts.get("own_blocks", 0),
        bad=counts.get("bad", 0),
        problems=tuple(sorted(merge.problems, key=_in_file)),
        secrets=tuple(merge.secrets.items()),
        group_uid=merge.stamp.group_uid if wrote and not request.dry_run else None,
    )


def _in_file(problem: Unreadable) -> tuple[int, str]:
    """Where a problem stands: lines by their number, files by name."""
    return (int(problem.place) if problem.place.isdecimal() else 0), problem.place
