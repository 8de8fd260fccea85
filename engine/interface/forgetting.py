"""What fades, expires and is put aside, with previews and forecasts."""

from __future__ import annotations

from engine.context import EngineContext


class Forgetting:
    """What fades, expires and is put aside, with previews and forecasts."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context
