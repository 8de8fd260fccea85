"""Memories out to files and in from them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.use_cases import backup, export_memories, import_memories
from engine.use_cases.export_memories import Exported, ExportRequest
from engine.use_cases.export_memories import Progress as ExportProgress
from engine.use_cases.import_memories import Imported, ImportRequest
from engine.use_cases.import_memories import Progress as ImportProgress


class Transfer:
    """Memories out to files and in from them."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def export(self, request: ExportRequest, on_progress: ExportProgress | None = None) -> Exported:
        """Write an archive or a folder of notes; see
        :func:`engine.use_cases.export_memories.export_memories`."""
        return export_memories.export_memories(self._context, request, on_progress)

    def import_(
        self, request: ImportRequest, caller: Caller, on_progress: ImportProgress | None = None
    ) -> Imported:
        """Read a file of memories; see
        :func:`engine.use_cases.import_memories.import_memories`."""
        back_up = partial(backup.back_up, self._context, reason="import")
        return import_memories.import_memories(self._context, request, caller, on_progress, back_up)

    def place_for(self, name: str) -> Path:
        """Where a file of this name may be written for somebody who may not choose the folder;
        see :func:`engine.use_cases.export_memories.confined`."""
        return export_memories.confined(self._context, name)
