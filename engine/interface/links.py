"""Links between memories, what supersedes what, conflicts and near-duplicates."""

from __future__ import annotations

from engine.context import EngineContext


class Links:
    """Links between memories, what supersedes what, conflicts and near-duplicates."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
