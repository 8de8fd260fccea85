"""How the store and this process stand."""

from __future__ import annotations

from pathlib import Path

from engine.context import EngineContext
from engine.domain.metrics import Meter
from engine.use_cases import overview, session_check
from engine.use_cases.overview import Activity, Layers, Standing
from engine.use_cases.session_check import SessionReport


class Overview:
    """How the store and this process stand."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    @property
    def meter(self) -> Meter:
        """Where surfaces count their calls."""
        return self._context.meter

    def layers(self) -> Layers:
        """Counts of what is derived from memories."""
        return overview.count_layers(self._context)

    def standing(self) -> Standing:
        """Model, vectors, ways of searching, other programs."""
        return overview.standing(self._context)

    def activity(self) -> Activity:
        """What this process has done since it started."""
        return overview.activity(self._context)

    def session(self, folder: Path | None, name: str = session_check.FILE_NAME) -> SessionReport:
        """Measure a session's notes; see
        :func:`engine.use_cases.session_check.check_session`."""
        return session_check.check_session(self._context, folder, name)
