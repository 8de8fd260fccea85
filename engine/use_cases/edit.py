"""Edit: change what is named, keep the rest, refuse a stale revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain import fields as authored_fields
from engine.domain.caller import Caller
from engine.domain.details import require_fitting
from engine.domain.errors import Conflict, InvalidInput, JiyiError
from engine.domain.ids import parse_ref
from engine.domain.memory import FieldValue, Memory
from engine.domain.notices import Notice
from engine.domain.times import parse_duration
from engine.storage import memories
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import memories as writing
from engine.writing.embed import Embedded, embed_now, text_of
from engine.writing.entrance import Entered, entered, refuse_own_block
from engine.writing.layers import derive
from engine.writing.strength import catch_up, decay_plan

# Days that have passed count by what a memory was until now.
_FADING_FIELDS = frozenset({"importance", "pinned", "kind"})


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Which memory, and the fields to set: ``None`` clears one, what is left out stays.

    With ``revision`` the edit is refused as a :class:`Conflict` when the memory has been
    changed since that revision was read.
    """

    ref: str | int
    fields: Mapping[str, object]
    revision: int | None = None
    ttl: str | float | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """The memory after the edit. ``changed`` names the fields that differ; empty when nothing
    had to be written. ``notices`` say which keys and passwords were in what was to be set."""

    memory: Memory
    changed: tuple[str, ...]
    pending: bool = False
    keywords_only: JiyiError | None = None
    notices: tuple[Notice, ...] = ()


def edit_memory(context: EngineContext, request: EditRequest, caller: Caller) -> Edited:
    """Edit one memory. Raises NotFound, InvalidInput or Conflict; then nothing is written."""
    came = _wanted(context, request)
    wanted = came.fields
    with context.database.read() as connection:
        current = writing.authored(_current(connection, request))
    embedded, reason = _embedded(context, wanted, current)
    with context.database.write() as connection:
        memory = _current(connection, request)
        changed = _differing(memory, wanted)
        if not changed:
            return Edited(memory, (), notices=came.notices)
        _require_time_left(changed, context.clock.now())
        if changed.keys() & _FADING_FIELDS:
            catch_up(connection, decay_plan(context, context.clock.now()), [memory.id])
        fields = writing.authored(memory) | changed
        require_fitting(str(fields["kind"]), fields["details"])
        layers = derive(context, fields, embedded)
        stamp = Stamp(caller.actor, context.clock.now(), new_uid())
        edited = writing.edit(connection, memory, changed, layers, stamp)
    pending = "text" in changed and embedded is None
    if pending:
        context.background.wake()
    reason = reason if pending else None
    return Edited(edited, tuple(changed), pending, reason, came.notices)


def _wanted(context: EngineContext, request: EditRequest) -> Entered:
    refuse_own_block(request.fields.get("text"))
    came = entered(context, request.fields)
    wanted = came.fields
    if request.ttl is not None:
        if "expires_at" in wanted:
            raise InvalidInput("error.ttl_and_expiry")
        deadline = context.clock.now() + parse_duration(request.ttl)
        wanted |= authored_fields.validated({"expires_at": deadline})
    if not wanted:
        raise InvalidInput("error.nothing_to_edit", allowed=", ".join(authored_fields.FIELDS))
    return came


def _embedded(
    context: EngineContext,
    wanted: Mapping[str, FieldValue],
    current: Mapping[str, FieldValue],
) -> tuple[Embedded | None, JiyiError | None]:
    if "text" not in wanted:
        return None, None
    text = text_of({**current, **wanted})
    done, reason = embed_now(context, [text], context.settings.embedding.wait_s)
    return done[0], reason


def _current(connection: Connection, request: EditRequest) -> Memory:
    memory = memories.find(connection, parse_ref(request.ref))
    if request.revision is not None and request.revision != memory.revision:
        raise Conflict(
            "error.stale_revision",
            ref=f"#{memory.id}",
            given=request.revision,
            found=memory.revision,
        )
    if memory.deleted_at is not None:
        raise Conflict("error.edit_in_trash", ref=f"#{memory.id}")
    return memory


def _require_time_left(changed: Mapping[str, FieldValue], now: float) -> None:
    end = changed.get("expires_at")
    if isinstance(end, float) and end <= now:
        raise InvalidInput("error.expires_in_past")


def _differing(memory: Memory, wanted: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    return {name: value for name, value in wanted.items() if getattr(memory, name) != value}
