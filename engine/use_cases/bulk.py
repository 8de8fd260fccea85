"""One change of many memories: one group in the journal, so that one undo takes it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.context import EngineContext
from engine.domain import fields as authored_fields
from engine.domain.caller import Caller
from engine.domain.details import require_fitting
from engine.domain.errors import Conflict, InvalidInput, JiyiError
from engine.domain.ids import parse_ref
from engine.domain.memory import FieldValue, Memory
from engine.domain.vocabulary import check
from engine.storage import embeddings, memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import atoms
from engine.writing import memories as writing
from engine.writing.layers import derive

BULK_ACTIONS = ("edit", "delete", "restore", "pin", "unpin", "archive", "unarchive")
_BATCH = 100


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """What to do with which memories.

    ``fields`` are those that ``edit`` sets in every one; ``add_tags`` and ``remove_tags`` change
    the tags that each has.
    """

    refs: Sequence[str | int]
    action: str
    fields: Mapping[str, object] = field(default_factory=dict)
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BulkDone:
    """How many were changed and how many already were so; why others could not be. One undo of
    ``group_uid`` takes all of it back."""

    group_uid: str
    changed: tuple[int, ...] = ()
    unchanged: int = 0
    failed: tuple[tuple[str, JiyiError], ...] = ()


def change_many(
    context: EngineContext,
    request: BulkRequest,
    caller: Caller,
    on_progress: Callable[[int, int], bool] | None = None,
) -> BulkDone:
    """Change memories, a hundred to a transaction.

    ``on_progress(done, of)`` may return False to stop after a batch. What one memory refuses
    (it is gone, or in the trash) is reported and keeps no other from being changed. Raises
    InvalidInput for a request that makes no sense for any of them.
    """
    work = _Work(request)
    stamp = Stamp(caller.actor, context.clock.now(), new_uid())
    changed: list[int] = []
    failed: list[tuple[str, JiyiError]] = []
    unchanged = 0
    for start, batch in _batches(request.refs):
        done = _one_batch(context, work, batch, stamp)
        changed += done.changed
        failed += done.failed
        unchanged += done.unchanged
        if on_progress and not on_progress(start + len(batch), len(request.refs)):
            break
    context.background.wake()
    return BulkDone(stamp.group_uid, tuple(changed), unchanged, tuple(failed))


class _Work:
    """A request, checked once."""

    def __init__(self, request: BulkRequest) -> None:
        self.action = check("action", request.action, BULK_ACTIONS)
        if not request.refs:
            raise InvalidInput("error.nothing_chosen")
        self.operation = "pin" if self.action.endswith("pin") else "archive"
        self.fields = authored_fields.validated(request.fields)
        if "text" in self.fields:
            raise InvalidInput("error.bulk_text")
        self.add = request.add_tags
        self.remove = {tag.casefold() for tag in request.remove_tags}
        if self.action == "edit" and not (self.fields or self.add or self.remove):
            allowed = ", ".join(authored_fields.FIELDS)
            raise InvalidInput("error.nothing_to_edit", allowed=allowed)

    def wanted(self, memory: Memory, now: float) -> dict[str, FieldValue]:
        """The fields that a memory is to have and has not."""
        wanted: dict[str, dict[str, FieldValue]] = {
            "pin": {"pinned": True},
            "unpin": {"pinned": False},
            "archive": {"archived_at": memory.archived_at or now},
            "unarchive": {"archived_at": None},
            "edit": self._edited(memory),
        }
        values = wanted.get(self.action, {})
        return {name: value for name, value in values.items() if getattr(memory, name) != value}

    def _edited(self, memory: Memory) -> dict[str, FieldValue]:
        values = dict(self.fields)
        if self.add or self.remove:
            kept = [tag for tag in memory.tags if tag.casefold() not in self.remove]
            values |= authored_fields.validated({"tags": [*kept, *self.add]})
        return values


def _batches(refs: Sequence[str | int]) -> Iterator[tuple[int, Sequence[str | int]]]:
    for start in range(0, len(refs), _BATCH):
        yield start, refs[start : start + _BATCH]


def _one_batch(
    context: EngineContext, work: _Work, refs: Sequence[str | int], stamp: Stamp
) -> BulkDone:
    changed: list[int] = []
    failed: list[tuple[str, JiyiError]] = []
    with context.database.write() as connection:
        for ref in refs:
            try:
                memory = memories.find(connection, parse_ref(ref))
                if _change(context, connection, work, memory, stamp):
                    changed.append(memory.id)
            except JiyiError as error:
                failed.append((str(ref), error))
    unchanged = len(refs) - len(changed) - len(failed)
    return BulkDone(stamp.group_uid, tuple(changed), unchanged, tuple(failed))


def _change(
    context: EngineContext, connection: Connection, work: _Work, memory: Memory, stamp: Stamp
) -> bool:
    if work.action == "delete":
        if memory.deleted_at is None:
            writing.trash(connection, memory, stamp)
            return True
        return False
    if work.action == "restore":
        return _restore(context, connection, memory, stamp)
    wanted = work.wanted(memory, stamp.at)
    if not wanted:
        return False
    if memory.deleted_at is not None:
        raise Conflict("error.edit_in_trash", ref=f"#{memory.id}")
    if work.action == "edit":
        fields = writing.authored(memory) | wanted
        require_fitting(str(fields["kind"]), fields["details"])
        writing.edit(connection, memory, wanted, derive(context, fields, None), stamp)
    else:
        writing.set_state(connection, memory, wanted, work.operation, stamp)
        if "archived_at" in wanted:
            atoms.follow_memory(connection, memory.id, stamp)
    return True


def _restore(context: EngineContext, connection: Connection, memory: Memory, stamp: Stamp) -> bool:
    if memory.state(stamp.at) in ("live", "expired"):
        return False
    layers = derive(context, writing.authored(memory), None, memory.created_at)
    writing.restore(connection, memory, layers, stamp)
    identity = context.models.identity()
    if identity is not None:
        space_id = embeddings.find_space(connection, identity)
        embeddings.mark_pending_unless_embedded(connection, memory.id, space_id, stamp.at)
    return True
