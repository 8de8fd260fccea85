"""The settings: changing them, taking changes back, and what they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.config.history import Position
from engine.config.live import LiveSettings
from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.use_cases import settings
from engine.use_cases.settings import Saved, VersionView


class SettingsBook:
    """The settings: changing them, taking changes back, and what they were."""

    def __init__(self, context: EngineContext) -> None:
        self._context = context

    @property
    def live(self) -> LiveSettings:
        """What is in force now, and where each value comes from."""
        return self._context.live

    def fingerprint(self) -> str:
        """The content of the file now, to be handed back with a change as ``seen``."""
        return settings.file_fingerprint(self._context)

    def change(
        self, values: Mapping[str, object], caller: Caller, *, seen: str | None = None
    ) -> Saved:
        """Set settings by key; see :func:`engine.use_cases.settings.change_settings`."""
        return settings.change_settings(self._context, values, caller, seen=seen)

    def undo(self, caller: Caller, *, seen: str | None = None) -> Saved:
        """Bring back the version before the last change."""
        return settings.undo_settings(self._context, caller, seen=seen)

    def redo(self, caller: Caller, *, seen: str | None = None) -> Saved:
        """Bring back what was undone last."""
        return settings.redo_settings(self._context, caller, seen=seen)

    def restore(self, version_id: str, caller: Caller, *, seen: str | None = None) -> Saved:
        """Bring back any kept version."""
        return settings.restore_settings(self._context, version_id, caller, seen=seen)

    def history(self) -> Sequence[VersionView]:
        """The kept versions with what each changed, newest first."""
        return settings.settings_history(self._context)

    def steps(self) -> Position:
        """What an undo and a redo would bring back now."""
        return settings.settings_steps(self._context)
