"""Documents as memories, and keys and passwords in texts."""

from __future__ import annotations

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.use_cases import ingest, scan_secrets
from engine.use_cases.ingest import Ingested, IngestRequest
from engine.use_cases.scan_secrets import Progress, Scanned


class Documents:
    """Documents as memories, and keys and passwords in texts."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def ingest(
        self, request: IngestRequest, caller: Caller, on_progress: Progress | None = None
    ) -> Ingested:
        """Documents as memories; see :func:`engine.use_cases.ingest.ingest`."""
        return ingest.ingest(self._context, request, caller, on_progress)

    def scan_secrets(
        self, caller: Caller, *, apply: bool = False, on_progress: Progress | None = None
    ) -> Scanned:
        """Keys and passwords in what is stored; see
        :func:`engine.use_cases.scan_secrets.scan_secrets`."""
        return scan_secrets.scan_secrets(
            self._context, caller, apply=apply, on_progress=on_progress
        )
