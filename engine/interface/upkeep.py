"""The upkeep of the store: due jobs, their runs, and what use strengthens."""

from __future__ import annotations

from engine.context import EngineContext


class Upkeep:
    """The upkeep of the store: due jobs, their runs, and what use strengthens."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
