"""Copies of the store, and repairs."""

from __future__ import annotations

from engine.context import EngineContext


class Backups:
    """Copies of the store, and repairs."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
