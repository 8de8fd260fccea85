"""Changing many memories as one."""

from __future__ import annotations

from collections.abc import Callable

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.use_cases import bulk, join
from engine.use_cases.bulk import BulkDone, BulkRequest
from engine.use_cases.join import Joined, JoinRequest


class Bulk:
    """What is done to many memories at once: one group in the journal, one undo."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def change(
        self,
        request: BulkRequest,
        caller: Caller,
        on_progress: Callable[[int, int], bool] | None = None,
    ) -> BulkDone:
        """Change many memories; see :func:`engine.use_cases.bulk.change_many`."""
        return bulk.change_many(self._context, request, caller, on_progress)

    def join(self, request: JoinRequest, caller: Caller) -> Joined:
        """Merge memories into one, let it supersede them, or link them from it; see
        :func:`engine.use_cases.join.join_memories`."""
        return join.join_memories(self._context, request, caller)
