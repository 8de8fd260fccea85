"""What happened to memories: history, undo, and the store as it was."""

from __future__ import annotations

from engine.context import EngineContext


class Journal:
    """What happened to memories: history, undo, and the store as it was."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
