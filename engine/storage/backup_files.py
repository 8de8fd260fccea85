"""The folder of backups: names, what each is, and which are old enough to go."""

from __future__ import annotations

import re
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from engine.domain.backup import BackupFile
from engine.domain.errors import InvalidInput, NotFound, StoreUnavailable
from engine.storage.backup import PARTIAL

FOLDER = "backups"
NEWEST = "newest"
NAMED = "named"
DAMAGED = "damaged"
RESTORING = ".restore-"
_STAMP = "%Y%m%d-%H%M%S"
_DAY_S = 86_400.0
_LEFT_OVER_S = 3_600.0
_MADE = re.compile(
    r"(?P<stamp>\d{8}-\d{6})-(?P<reason>[a-z]+)-(?P<version>[0-9][0-9A-Za-z.+]*)(~\d+)?\.db"
)
_BEFORE_MIGRATION = re.compile(r"before-v(?P<layout>\d+)-(?P<stamp>\d{8}-\d{6})\.db")
_LONGEST_NAME = 100
# One word character first, then what every file system takes.
_NAME = re.compile(r"\w[\w .()+-]*")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def new_path(folder: Path, reason: str, version: str, now: float) -> Path:
    """A path in ``folder`` that no file has, made of moment, reason and program version."""
    stem = f"{datetime.fromtimestamp(now, UTC).strftime(_STAMP)}-{reason}-{version}"
    path, count = folder / f"{stem}.db", 1
    while path.exists():
        count += 1
        path = folder / f"{stem}~{count}.db"
    return path


def named_path(folder: Path, name: str) -> Path:
    """The path in ``folder`` of a name that a person gave, with or without ``.db``.

    Raises :class:`InvalidInput` for what is no plain file name on every system: separators,
    drives, device names, more than 100 characters.
    """
    stem = name.strip().removesuffix(".db")
    usable = (
        len(stem) <= _LONGEST_NAME
        and _NAME.fullmatch(stem)
        and not _RESERVED.fullmatch(stem)
        and not stem.endswith((".", " "))
    )
    if not usable:
        raise InvalidInput("error.backup_name", name=name[:60], limit=_LONGEST_NAME)
    return folder / f"{stem}.db"


def describe(path: Path) -> BackupFile:
    """What the name and the size of a file say about it."""
    status = path.stat()
    if made := _MADE.fullmatch(path.name):
        return BackupFile(
            path, _moment(made["stamp"]), made["reason"], made["version"], status.st_size
        )
    if made := _BEFORE_MIGRATION.fullmatch(path.name):
        layout = f"layout {made['layout']}"
        return BackupFile(path, _moment(made["stamp"]), "migration", layout, status.st_size)
    reason = DAMAGED if path.name.startswith(f"{DAMAGED}-") else NAMED
    return BackupFile(path, status.st_mtime, reason, "", status.st_size)


def listed(folder: Path) -> list[BackupFile]:
    """The backups in ``folder``, newest first; links and unfinished ones are none."""
    with suppress(OSError):
        return sorted(
            (describe(path) for path in folder.glob("*.db") if _is_own(path)),
            key=lambda backup: (backup.at, backup.path.name),
            reverse=True,
        )
    return []


def find(folder: Path, name: str) -> BackupFile:
    """The backup of that name, or the ``newest``. Raises :class:`NotFound` and what
    :func:`named_path` raises."""
    found = [backup for backup in listed(folder) if backup.reason != DAMAGED]
    if name.strip().casefold() == NEWEST:
        if not found:
            raise NotFound("error.no_backups", folder=str(folder))
        return found[0]
    path = named_path(folder, name)
    for backup in found:
        if backup.path == path:
            return backup
    raise NotFound("error.no_such_backup", name=name[:60], folder=str(folder))


def outdated(backups: Sequence[BackupFile], now: float, keep_days: float) -> list[BackupFile]:
    """Those that may go, of a list with the newest first: older than ``keep_days``, and
    neither the newest of all nor of its program version, nor named by a person."""
    oldest = now - keep_days * _DAY_S
    made = [backup for backup in backups if backup.reason not in (NAMED, DAMAGED)]
    kept = {backup.path for backup in [*made[:1], *_newest_of_each_version(made)]}
    return [
        backup
        for backup in backups
        if backup.at < oldest and backup.reason != NAMED and backup.path not in kept
    ]


def remove(backup: BackupFile) -> None:
    """Delete a backup and the log that a damaged one may have beside it."""
    backup.path.unlink(missing_ok=True)
    backup.path.with_name(f"{backup.path.name}-wal").unlink(missing_ok=True)


def left_over(folder: Path) -> list[Path]:
    """Files of backups and restores that were killed an hour ago or earlier."""
    found, oldest = [], time.time() - _LEFT_OVER_S
    for path in [*folder.glob(f"*{PARTIAL}*"), *folder.glob(f"{RESTORING}*/*")]:
        with suppress(OSError):
            if path.stat().st_mtime < oldest and path.is_file():
                found.append(path)
    return found


def remove_left_over(folder: Path) -> int:
    """Remove what killed backups and restores left; return how many files."""
    removed = left_over(folder)
    for path in removed:
        with suppress(OSError):
            path.unlink()
    for path in folder.glob(f"{RESTORING}*"):
        with suppress(OSError):
            path.rmdir()
    return len(removed)


@contextmanager
def workshop(folder: Path) -> Iterator[Path]:
    """A folder for the length of the block. Raises :class:`StoreUnavailable` when none can be
    made."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = tempfile.TemporaryDirectory(prefix=RESTORING, dir=folder)
    except OSError as error:
        raise StoreUnavailable(
            "error.backup_unwritable", path=str(folder), reason=error.strerror or str(error)
        ) from error
    with made as path:
        yield Path(path)


def aside(folder: Path, now: float) -> Path:
    """Where a damaged store's file is put aside."""
    stamp = datetime.fromtimestamp(now, UTC).strftime(_STAMP)
    return folder / f"{DAMAGED}-{stamp}-{secrets.token_hex(2)}.db"


def _newest_of_each_version(backups: Iterable[BackupFile]) -> list[BackupFile]:
    newest: dict[str, BackupFile] = {}
    for backup in backups:
        newest.setdefault(backup.version, backup)
    return list(newest.values())


def _is_own(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _moment(stamp: str) -> float:
    try:
        return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0
