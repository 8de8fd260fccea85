"""Look memories up: one by its reference, or pages of them, newest first."""

from __future__ import annotations

from engine.context import EngineContext
from engine.domain.errors import InvalidInput
from engine.domain.ids import parse_ref
from engine.domain.memory import JournalEntry, Memory
from engine.domain.scope import Filters
from engine.language.labels import folded_filters
from engine.storage import journal, memories, workspaces
from engine.storage.memories import Page

MAX_LIMIT = 1000


def get_memory(context: EngineContext, ref: str | int, *, touch: bool = False) -> Memory:
    """The memory that ``#id``, id, uid or short uid names, in whatever state it is. With
    ``touch`` it counts as used: somebody reads it for its content."""
    with context.database.read() as connection:
        memory = memories.find(connection, parse_ref(ref))
    if touch:
        context.touch([memory.id])
    return memory


def list_memories(
    context: EngineContext,
    filters: Filters | None = None,
    *,
    limit: int = 20,
    cursor: str | None = None,
) -> Page:
    """A page of memories, newest first; pass its ``next_cursor`` to go on."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput("error.out_of_range", name="limit", value=limit, low=1, high=MAX_LIMIT)
    with context.database.read() as connection:
        return memories.page(
            connection, folded_filters(filters or Filters()), context.clock.now(), limit, cursor
        )


def history(context: EngineContext, ref: str | int) -> list[JournalEntry]:
    """What happened to a memory, oldest first."""
    with context.database.read() as connection:
        memory = memories.find(connection, parse_ref(ref))
        return journal.history(connection, memory.id)


def workspace_names(context: EngineContext) -> list[str]:
    """All workspaces, in alphabetical order."""
    with context.database.read() as connection:
        return workspaces.names(connection)
