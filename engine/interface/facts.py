"""Facts with a time of validity."""

from __future__ import annotations

from engine.context import EngineContext


class Facts:
    """Facts with a time of validity."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
