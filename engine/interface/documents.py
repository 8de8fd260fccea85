"""Documents as memories, and keys and passwords in texts."""

from __future__ import annotations

from engine.context import EngineContext


class Documents:
    """Documents as memories, and keys and passwords in texts."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
