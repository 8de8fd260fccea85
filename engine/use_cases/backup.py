"""Backups of the store: making, listing, thinning, and going back to one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine import VERSION
from engine.context import EngineContext
from engine.domain.backup import BackupFile
from engine.domain.caller import Caller
from engine.domain.errors import Busy, InvalidInput, NotFound, StorageDamaged
from engine.domain.vocabulary import BACKUP_REASONS, check
from engine.storage import backup, backup_files, leases, restoring
from engine.storage.backup import Contents
from engine.storage.database import FILE_NAME
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.storage.restoring import Replaced, Replacement

LEASE = "backup"
_LEASE_S = 600.0


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A backup just made and what was found in it. ``removed`` older ones went because of
    it."""

    file: BackupFile
    contents: Contents
    removed: tuple[BackupFile, ...] = ()


@dataclass(frozen=True, slots=True)
class RestoreWish:
    """The backup called ``name`` (``newest``: the last one), or the file at ``path``."""

    name: str = ""
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """The backup that was restored, from where, and what became of the store as it was."""

    source: Path
    replaced: Replaced


def backup_folder(home: Path) -> Path:
    """Where a store's backups lie."""
    return home / backup_files.FOLDER


def back_up(context: EngineContext, *, reason: str, name: str = "") -> BackupFile:
    """Make a verified backup; see :func:`back_up_now`."""
    return back_up_now(context, reason=reason, name=name).file


def back_up_now(context: EngineContext, *, reason: str, name: str = "") -> BackedUp:
    """Make a verified backup in the home's folder, called ``name`` or by moment, reason (one
    of the closed vocabulary) and version.

    It is opened and checked before it counts: the file, its full-text index, its counts.
    Readers and writers of other processes go on meanwhile. Raises :class:`InvalidInput` for a
    name that is taken or cannot be one, :class:`~engine.domain.errors.StorageDamaged` and
    :class:`~engine.domain.errors.StoreUnavailable`.
    """
    folder, now = backup_folder(context.home), context.clock.now()
    check("reason", reason, BACKUP_REASONS)
    target = _free(folder, name) if name else backup_files.new_path(folder, reason, VERSION, now)
    return _copied(context, target)


def copy_store(context: EngineContext, target: Path) -> BackedUp:
    """Write a verified copy to a path that a person chose, which no file may have."""
    if target.exists() or target.is_symlink():
        raise InvalidInput("error.backup_exists", name=str(target))
    return _copied(context, target)


def list_backups(home: Path) -> Sequence[BackupFile]:
    """The backups of the store in ``home``, newest first; opens none."""
    return backup_files.listed(backup_folder(home))


def contents_of(source: Path) -> Contents:
    """What a backup says that it holds. Raises
    :class:`~engine.domain.errors.StorageDamaged`."""
    return backup.glance(source)


def contents_of_store(home: Path) -> Contents | None:
    """What the store in ``home`` holds; ``None`` when there is none that can be read."""
    with suppress(StorageDamaged):
        return backup.glance(home / FILE_NAME, in_use=True)
    return None


def find_backup(home: Path, wish: RestoreWish) -> Path:
    """The file that a wish means. Raises :class:`NotFound` and :class:`InvalidInput`."""
    if wish.path is None:
        return backup_files.find(backup_folder(home), wish.name).path
    if not wish.path.is_file():
        raise NotFound("error.no_such_file", path=str(wish.path))
    return wish.path


def thin_backups(context: EngineContext) -> Sequence[BackupFile]:
    """Remove backups older than ``backup.keep_days``, but for the newest, the newest of each
    program version and those that a person named; return the removed ones."""
    folder = backup_folder(context.home)
    backup_files.remove_left_over(folder)
    gone = outdated_backups(context)
    for file in gone:
        backup_files.remove(file)
    return gone


def outdated_backups(context: EngineContext) -> Sequence[BackupFile]:
    """The backups that :func:`thin_backups` would remove now."""
    keep_days = context.settings.backup.keep_days
    files = backup_files.listed(backup_folder(context.home))
    return backup_files.outdated(files, context.clock.now(), keep_days)


def back_up_daily(context: EngineContext) -> BackedUp | None:
    """The daily backup, and thinning; nothing while backups are switched off.

    Raises :class:`Busy` when another process is at it.
    """
    if not context.settings.backup.enabled:
        return None
    if not _take_lease(context):
        raise Busy("error.backup_elsewhere", path=str(context.database.path))
    try:
        made = back_up_now(context, reason="daily")
        return BackedUp(made.file, made.contents, tuple(thin_backups(context)))
    finally:
        _release_lease(context)


def back_up_upgraded(context: EngineContext) -> BackedUp | None:
    """Make a backup when this version of the program opens a store for the first time that
    another version kept; nothing otherwise. Looks at the names of the backups there are."""
    if not (context.settings.backup.enabled and context.database.writable):
        return None
    files = backup_files.listed(backup_folder(context.home))
    versions = {file.version for file in files if file.reason in BACKUP_REASONS}
    if not versions or VERSION in versions or not _take_lease(context):
        return None
    try:
        return back_up_now(context, reason="upgrade")
    finally:
        _release_lease(context)


def restore_backup(
    home: Path, wish: RestoreWish, caller: Caller, *, now: float, wait_s: float = 30.0
) -> Restored:
    """Put a backup in the place of the store in ``home``.

    The store as it was is backed up first (reason ``restore``). Processes that have it open
    switch over by themselves; nothing of before and after is mixed. A store that is too
    damaged to be written into is replaced, which is refused while others have it open. Works
    without an open engine, since a damaged store has none. Raises what
    :func:`engine.storage.restoring.replace_store` raises, :class:`NotFound` and
    :class:`InvalidInput`.
    """
    source, folder = find_backup(home, wish), backup_folder(home)
    wanted = Replacement(
        source=source,
        store=home / FILE_NAME,
        before=backup_files.new_path(folder, "restore", VERSION, now),
        aside=backup_files.aside(folder, now),
        wait_s=wait_s,
        stamp=Stamp(caller.actor, now, new_uid()),
    )
    with backup_files.workshop(folder) as workshop:
        return Restored(source, restoring.replace_store(wanted, workshop))


def _take_lease(context: EngineContext) -> bool:
    with context.database.write() as connection:
        return leases.take(connection, LEASE, context.token, context.clock.now(), _LEASE_S)


def _release_lease(context: EngineContext) -> None:
    with context.database.write() as connection:
        leases.release(connection, LEASE, context.token)


def _free(folder: Path, name: str) -> Path:
    path = backup_files.named_path(folder, name)
    if path.stem.casefold() == backup_files.NEWEST:
        raise InvalidInput("error.backup_name", name=name, limit=100)
    if path.exists() or path.is_symlink():
        raise InvalidInput("error.backup_exists", name=path.stem)
    return path


def _copied(context: EngineContext, target: Path) -> BackedUp:
    found = backup.copy_checked(context.database.path, target)
    return BackedUp(backup_files.describe(target), found)
