"""Lists of memories for people who browse."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

from engine.context import EngineContext
from engine.domain.atom import AtomFilters
from engine.domain.listing import Facets
from engine.domain.memory import Memory, Strength
from engine.domain.scope import Filters
from engine.use_cases import atoms, listing
from engine.use_cases.atoms import AtomView
from engine.use_cases.listing import Changed


class Browsing:
    """Lists of memories for people who browse."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    @property
    def is_writable(self) -> bool:
        """Whether the store can be changed from here."""
        return self._context.database.writable

    def order(self, filters: Filters | None = None, order: str = "newest") -> array[int]:
        """Ids of all matching memories; see :func:`engine.use_cases.listing.order_memories`."""
        return listing.order_memories(self._context, filters, order)

    def memories(self, ids: Iterable[int]) -> Mapping[int, Memory]:
        """Memories by id."""
        return listing.memories_by_id(self._context, ids)

    def strength(self, memory_id: int) -> Strength | None:
        """What fades and grows with use of a memory."""
        return listing.strength_of(self._context, memory_id)

    def atoms(self, memory_id: int) -> list[AtomView]:
        """The atoms that a memory states."""
        return atoms.atoms_of_memory(self._context, memory_id)

    def order_atoms(self, filters: AtomFilters | None = None, order: str = "ending") -> array[int]:
        """Ids of all matching atoms; see :func:`engine.use_cases.atoms.order_atoms`."""
        return atoms.order_atoms(self._context, filters, order)

    def atoms_by_id(self, ids: Sequence[int]) -> Mapping[int, AtomView]:
        """Atoms by id."""
        return atoms.atoms_by_id(self._context, ids)

    def facets(self, filters: Filters | None = None) -> Facets:
        """How the matching memories spread over facets."""
        return listing.count_facets(self._context, filters)

    def changes(self, number: int | None = None) -> Changed:
        """What was written after the change ``number``; without one only how far it is."""
        return listing.changes_since(self._context, number)
