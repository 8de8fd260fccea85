"""Copies of the store, and repairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.context import EngineContext
from engine.domain.backup import BackupFile
from engine.domain.caller import Caller
from engine.domain.health import Check
from engine.use_cases import backup, embed_pending, maintain, maintenance, rebuild, repair
from engine.use_cases.backup import BackedUp, Restored, RestoreWish
from engine.use_cases.privacy import exposed_files
from engine.use_cases.rebuild import OnProgress, Rebuilt
from engine.use_cases.repair import RepairReport, Repairs
from engine.use_cases.surroundings import look_around


class Backups:
    """Copies of the store, and repairs."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    def make(self, *, reason: str = "manual", name: str = "") -> BackedUp:
        """Make a verified backup; see :func:`engine.use_cases.backup.back_up_now`."""
        return backup.back_up_now(self._context, reason=reason, name=name)

    def copy_to(self, target: Path) -> BackedUp:
        """Write a verified copy of the store to a path of the caller's choice."""
        return backup.copy_store(self._context, target)

    def list(self) -> Sequence[BackupFile]:
        """The backups, newest first."""
        return backup.list_backups(self._context.home)

    def outdated(self) -> Sequence[BackupFile]:
        """The backups that thinning would remove now."""
        return backup.outdated_backups(self._context)

    def thin(self) -> Sequence[BackupFile]:
        """Remove outdated backups and return them."""
        return backup.thin_backups(self._context)

    def restore(self, wish: RestoreWish, caller: Caller) -> Restored:
        """Put a backup in the place of the store; see
        :func:`engine.use_cases.backup.restore_backup`."""
        return backup.restore_backup(
            self._context.home,
            wish,
            caller,
            now=self._context.clock.now(),
            wait_s=self._context.settings.storage.busy_timeout_s,
        )

    def surroundings(self) -> tuple[Check, ...]:
        """Findings about disk, place, backups, upkeep and journal; see
        :func:`engine.use_cases.surroundings.look_around`."""
        return look_around(self._context, maintenance.failing_jobs(self._context))

    def repair(self, *, apply: bool) -> RepairReport:
        """Look at everything, and with ``apply`` put it right; see
        :func:`engine.use_cases.repair.repair`."""
        parts = Repairs(
            mend_text=lambda: maintain.repair_text(self._context),
            queue_vectors=lambda: embed_pending.queue_missing(self._context),
            exposed=lambda: [found.path for found in exposed_files(self._context)],
        )
        return repair.repair(self._context, parts, apply=apply)

    def rebuild_index(self, parts: tuple[str, ...], on_progress: OnProgress) -> Rebuilt:
        """Build full text, vector index or both anew; see
        :func:`engine.use_cases.rebuild.rebuild_index`."""
        return rebuild.rebuild_index(self._context, parts, on_progress)
