"""The memories that a request may find."""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.scope import Filters
from engine.storage import fulltext, memories
from engine.storage.database import Connection
from engine.storage.filters import workspaces_within

# A set of at most this many memories is searched exactly, without pruning common terms: a
# term that is common in the store may be the only one that a small workspace has.
NARROW_LIMIT = 5_000


@dataclass(frozen=True, slots=True)
class Reach:
    """The memories a request may find: ``ids`` when they are few, else ``None``. ``size`` is
    their number, exact or an upper bound; ``workspaces`` those they are in (``None``: all)."""

    filters: Filters
    now: float
    ids: frozenset[int] | None
    size: int
    workspaces: tuple[int, ...] | None = None


def reach(connection: Connection, filters: Filters, now: float) -> Reach:
    """Look how many memories pass the filters, and note them when they are few."""
    inside = workspaces_within(connection, filters.scope)
    upper = fulltext.totals(connection, workspaces=inside).row_count
    if filters.is_broad:
        return Reach(filters, now, None, upper)
    found = memories.ids_within(connection, filters, now, NARROW_LIMIT + 1)
    if len(found) <= NARROW_LIMIT:
        return Reach(filters, now, frozenset(found), len(found), inside)
    return Reach(filters, now, None, upper, inside)
