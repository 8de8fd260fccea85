"""Lists to browse: every matching memory in order, facets, and what changed since a look."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.listing import ORDERS, Facets
from engine.domain.memory import Memory, Strength
from engine.domain.scope import Filters
from engine.domain.vocabulary import check
from engine.language.labels import folded_filters
from engine.storage import changes, listing, memories

_TAGS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Changed:
    """The store's change number, and the memories touched since an earlier one."""

    number: int
    memory_ids: tuple[int, ...] = ()


def order_memories(
    context: EngineContext, filters: Filters | None = None, order: str = "newest"
) -> array[int]:
    """Ids of all memories that pass the filters, in order; 8 bytes each, so that a list of any
    length can be scrolled and its rows read when they come into view."""
    chosen = check("order", order, ORDERS)
    with context.database.read() as connection:
        given = folded_filters(filters or Filters())
        return listing.ordered_ids(connection, given, context.clock.now(), chosen)


def memories_by_id(context: EngineContext, ids: Iterable[int]) -> Mapping[int, Memory]:
    """Memories by id, in whatever state; ids that nobody has are left out."""
    with context.database.read() as connection:
        return memories.fetch(connection, ids)


def strength_of(context: EngineContext, memory_id: int) -> Strength | None:
    """What fades and grows with use of a memory; ``None`` for an id that nobody has."""
    with context.database.read() as connection:
        return listing.strength(connection, memory_id)


def count_facets(context: EngineContext, filters: Filters | None = None) -> Facets:
    """How the memories that pass the filters spread over kinds, workspaces, tags and more."""
    with context.database.read() as connection:
        given = folded_filters(filters or Filters())
        return listing.facets(connection, given, context.clock.now(), _TAGS_SHOWN)


def changes_since(context: EngineContext, number: int | None = None) -> Changed:
    """What was written after the change ``number``; without one only how far it is now. Cheap
    enough to ask every second."""
    with context.database.read() as connection:
        last = changes.last(connection)
        if number is None or last == number:
            return Changed(last)
        touched = changes.subjects_after(connection, number, changes.MEMORY)
        return Changed(last, tuple(touched))
