"""What a list of memories is ordered by, and how memories spread over facets."""

from __future__ import annotations

from dataclasses import dataclass

ORDERS = ("newest", "oldest", "updated", "happened", "important", "used", "fading")
"""Orders of a list: by creation, change, when it happened, importance now, last access."""


@dataclass(frozen=True, slots=True)
class FacetCount:
    """How many memories have a value."""

    value: str
    number: int


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts by value, the most frequent first; months (``2026-05``, UTC) newest first."""

    kinds: tuple[FacetCount, ...] = ()
    workspaces: tuple[FacetCount, ...] = ()
    sources: tuple[FacetCount, ...] = ()
    states: tuple[FacetCount, ...] = ()
    months: tuple[FacetCount, ...] = ()
    tags: tuple[FacetCount, ...] = ()
