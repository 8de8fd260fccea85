"""Links between memories, what supersedes what, conflicts and near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.links import LinkGraph, Neighbour
from engine.domain.scope import Filters
from engine.use_cases import conflicts, consolidate, links, supersede
from engine.use_cases.conflicts import ConflictQuery, Conflicts
from engine.use_cases.consolidate import Consolidated, Progress
from engine.use_cases.links import Linked, NeighbourQuery
from engine.use_cases.supersede import Superseded


class Links:
    """Links between memories, what supersedes what, conflicts and near-duplicates."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def link(
        self, source: str | int, target: str | int, caller: Caller, *, relation: str = "related"
    ) -> Linked:
        """Link two memories; see :func:`engine.use_cases.links.link`."""
        return links.link(self._context, source, target, relation, caller)

    def unlink(
        self,
        source: str | int,
        target: str | int,
        caller: Caller,
        *,
        relation: str | None = None,
    ) -> Linked:
        """Take links back: those of one relation, or all."""
        return links.unlink(self._context, source, target, relation, caller)

    def neighbours(self, query: NeighbourQuery) -> Sequence[Neighbour]:
        """What is linked with a memory, one row for each link."""
        return links.neighbours(self._context, query)

    def graph(self, refs: Sequence[str | int], *, depth: int = 1) -> LinkGraph:
        """The memories near some others, and every link between them."""
        return links.graph(self._context, refs, depth)

    def supersede(self, old: str | int, new: str | int, caller: Caller) -> Superseded:
        """Hide a memory in favour of another one."""
        return supersede.supersede(self._context, old, new, caller)

    def conflicts(self, query: ConflictQuery, on_progress: Progress | None = None) -> Conflicts:
        """Pairs of which one repeats or contradicts the other."""
        return conflicts.find_conflicts(self._context, query, on_progress)

    def consolidate(
        self,
        filters: Filters,
        caller: Caller,
        *,
        apply: bool,
        on_progress: Progress | None = None,
    ) -> Consolidated:
        """Merge what says the same, or say what would be merged."""
        return consolidate.consolidate(
            self._context, filters, caller, apply=apply, on_progress=on_progress
        )

    def merge(self, survivor: str | int, merged: str | int, caller: Caller) -> Consolidated:
        """Merge one memory into another one."""
        return consolidate.merge_pair(self._context, survivor, merged, caller)
