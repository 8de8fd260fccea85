"""Summing up what happened."""

from __future__ import annotations

from engine.context import EngineContext


class Reflection:
    """Summing up what happened."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
