"""Memories out to files and in from them."""

from __future__ import annotations

from engine.context import EngineContext


class Transfer:
    """Memories out to files and in from them."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
