"""Change the settings, take a change back, and tell what they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.config import history
from engine.config.editing import fingerprint, put_content, set_values
from engine.config.file import default_config, read_bytes
from engine.config.history import Version
from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import ConfigInvalid, NotFound

_NOTHING = {
    history.UNDO: "error.nothing_to_undo_settings",
    history.REDO: "error.nothing_to_redo_settings",
}


@dataclass(frozen=True, slots=True)
class Saved:
    """The settings after a change: ``fingerprint`` of the file, ``version`` of what is in force
    (:meth:`engine.config.live.LiveSettings.version`), and whether the file changed."""

    fingerprint: str
    version: str
    changed: bool


@dataclass(frozen=True, slots=True)
class VersionView:
    """A kept version with what it changed against the one before, as lines of a diff."""

    version: Version
    difference: tuple[str, ...]


def file_fingerprint(context: EngineContext) -> str:
    """What a wish to change the settings rests on; "" when the file cannot be read."""
    try:
        return fingerprint(read_bytes(context.live.path))
    except ConfigInvalid:
        return ""


def change_settings(
    context: EngineContext, values: Mapping[str, object], caller: Caller, *, seen: str | None = None
) -> Saved:
    """Set settings by key in the user's file, all or none; both contents are kept as versions.

    Raises :class:`ConfigInvalid` for a value that is not allowed, and when the file is no
    longer that of the fingerprint ``seen``.
    """
    before = _content(context)
    if seen is not None and seen != fingerprint(before):
        raise ConfigInvalid("error.config_changed_meanwhile", path=context.live.path)
    set_values(context.live.path, values, seen=None if before is None else fingerprint(before))
    return _kept(context, before, caller, (history.SAVE, None))


def undo_settings(context: EngineContext, caller: Caller, *, seen: str | None = None) -> Saved:
    """Bring back the version before the last change; again goes one further back. Raises
    :class:`NotFound` when there is none."""
    return _step(context, caller, history.UNDO, seen)


def redo_settings(context: EngineContext, caller: Caller, *, seen: str | None = None) -> Saved:
    """Bring back what was undone last. Raises :class:`NotFound` when there is nothing."""
    return _step(context, caller, history.REDO, seen)


def restore_settings(
    context: EngineContext, version_id: str, caller: Caller, *, seen: str | None = None
) -> Saved:
    """Bring back any version; that is a change like others and can be undone."""
    _notice_hand(context)
    version = history.find_version(context.home, version_id)
    return _put(context, version, caller, (history.SAVE, None), seen)


def settings_history(context: EngineContext) -> Sequence[VersionView]:
    """The versions with what each changed, newest first."""
    _notice_hand(context)
    views: list[VersionView] = []
    earlier: bytes | None = None
    for version in history.versions(context.home):
        content = version.content()
        base = content if earlier is None else earlier
        views.append(VersionView(version, tuple(history.difference(base, content))))
        earlier = content
    return views[::-1]


def settings_steps(context: EngineContext) -> history.Position:
    """What an undo and a redo would bring back now."""
    return history.position(history.versions(context.home))


def _step(context: EngineContext, caller: Caller, operation: str, seen: str | None) -> Saved:
    _notice_hand(context)
    place = settings_steps(context)
    target = place.earlier if operation == history.UNDO else place.later
    if target is None:
        raise NotFound(_NOTHING[operation])
    return _put(context, target, caller, (operation, target.id), seen)


def _put(
    context: EngineContext,
    version: Version,
    caller: Caller,
    step: tuple[str, str | None],
    seen: str | None,
) -> Saved:
    before = _content(context)
    based = fingerprint(before) if seen is None else seen
    put_content(context.live.path, version.content(), seen=based)
    return _kept(context, before, caller, step)


def _kept(
    context: EngineContext, before: bytes | None, caller: Caller, step: tuple[str, str | None]
) -> Saved:
    """Keep what the file was and is. It is changed already: that a version cannot be kept on a
    full disk is no reason to report the change as failed."""
    after = _content(context) or b""
    now = context.clock.now()
    try:
        # The first change of all has a version to go back to.
        kept = history.versions(context.home)
        if not kept or step[0] == history.SAVE:
            base = default_config() if before is None else before
            actor = history.BY_HAND if kept else "start"
            history.keep(context.home, base, actor, now, (history.BY_HAND, None))
        history.keep(context.home, after, caller.actor, now, step)
    except OSError:
        pass
    return Saved(fingerprint(after), context.live.version(), after != before)


def _notice_hand(context: EngineContext) -> None:
    """What somebody wrote into the file is a step of its own."""
    content = _content(context)
    if content is None or not history.versions(context.home):
        return
    try:
        history.keep(
            context.home, content, history.BY_HAND, context.clock.now(), (history.BY_HAND, None)
        )
    except OSError:
        return


def _content(context: EngineContext) -> bytes | None:
    return read_bytes(context.live.path)
