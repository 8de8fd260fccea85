"""Facts with a time of validity."""

from __future__ import annotations

from collections.abc import Sequence

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.fact import (
    AddedFact,
    EndedFact,
    Fact,
    FactQuery,
    FactRequest,
    FactStatistics,
)
from engine.domain.scope import Scope
from engine.use_cases import facts


class Facts:
    """Facts with a time of validity."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def add(self, request: FactRequest, caller: Caller) -> AddedFact:
        """Store a fact; see :func:`engine.use_cases.facts.add_fact`."""
        return facts.add_fact(self._context, request, caller)

    def query(self, query: FactQuery) -> Sequence[Fact]:
        """What is true of an entity now or at a moment."""
        return facts.query_facts(self._context, query)

    def timeline(self, query: FactQuery) -> Sequence[Fact]:
        """Every version of an entity's facts, oldest first."""
        return facts.fact_timeline(self._context, query)

    def get(self, ref: str | int) -> Fact:
        """One fact by its number or uid."""
        return facts.get_fact(self._context, ref)

    def invalidate(self, ref: str | int, caller: Caller, at: float | None = None) -> EndedFact:
        """Say that a fact is true no more, from a moment or from now on."""
        return facts.invalidate_fact(self._context, ref, caller, at)

    def stats(self, scope: Scope | None = None) -> FactStatistics:
        """How many facts there are, and of what."""
        return facts.fact_stats(self._context, scope)
