"""Backups as people see them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BackupFile:
    """One backup. ``at`` is when it was made (epoch seconds), ``reason`` why: one of
    ``vocabulary.BACKUP_REASONS``, ``migration``, ``named`` by a person, or ``damaged``: not a
    backup but a damaged file that was put aside. ``version`` is that of the program that made
    it, or ``layout N`` before a migration to it."""

    path: Path
    at: float
    reason: str
    version: str
    size_bytes: int

    @property
    def name(self) -> str:
        """How a person names it."""
        return self.path.stem
