"""What around the store can cost memories: the disk, the place, backups, upkeep, the journal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.context import EngineContext
from engine.domain.health import FAILURE, OK, WARNING, Check
from engine.domain.jobs import JobState
from engine.storage import backup, backup_files, integrity, places
from engine.storage.places import NETWORK, SYNCED

_MEGABYTE = 1_000_000
_LEAST_FREE = 64 * _MEGABYTE
_DAY_S = 86_400.0
_BACKUP_LATE_S = 3 * _DAY_S
# Retention works in steps; only what it plainly does not get done is worth a word.
_JOURNAL_SLACK = 2.0


def look_around(context: EngineContext, failing: Sequence[JobState]) -> tuple[Check, ...]:
    """Findings about everything but the store's own tables; changes nothing.

    ``failing`` are the jobs whose last run failed.
    """
    return (
        _disk(context),
        *_place(context),
        _backups(context),
        _journal(context),
        _index_files(context.home),
        *_jobs(failing),
    )


def _disk(context: EngineContext) -> Check:
    free = shutil.disk_usage(context.home).free
    needed = 2 * backup.store_bytes(context.database.path) + _LEAST_FREE
    params: dict[str, object] = {"free": free // _MEGABYTE, "needed": needed // _MEGABYTE}
    if free < _LEAST_FREE:
        return Check("disk", FAILURE, "doctor.disk_full", params)
    if free < needed:
        return Check("disk", WARNING, "doctor.disk_tight", params)
    return Check("disk", OK, "doctor.disk_ok", params)


def _place(context: EngineContext) -> Iterator[Check]:
    place = places.place_of(context.home)
    params: dict[str, object] = {"name": place.name, "home": str(context.home)}
    if place.kind == NETWORK:
        yield Check("place", WARNING, "doctor.place_network", params)
    elif place.kind == SYNCED:
        yield Check("place", WARNING, "doctor.place_synced", params)
    else:
        yield Check("place", OK, "doctor.place_ok", params)
    copies = places.conflicting_copies(context.home, context.database.path.name)
    if copies:
        named: dict[str, object] = {"names": ", ".join(copies[:3]), "count": len(copies)}
        yield Check("place", WARNING, "doctor.place_copies", named)


def _backups(context: EngineContext) -> Check:
    files = backup_files.listed(context.home / backup_files.FOLDER)
    made = [file for file in files if file.reason != backup_files.DAMAGED]
    size = sum(file.size_bytes for file in files) // _MEGABYTE
    params: dict[str, object] = {"count": len(made), "size": size}
    now = context.clock.now()
    with context.database.read() as connection:
        is_new = integrity.in_use_for_s(connection, now) < _BACKUP_LATE_S
    age_s = now - made[0].at if made else None
    if age_s is not None:
        params |= {"days": int(max(0.0, age_s) // _DAY_S), "name": made[0].name}
        if age_s < _BACKUP_LATE_S:
            return Check("backups", OK, "doctor.backups_ok", params)
    if not context.settings.backup.enabled:
        return Check("backups", WARNING, "doctor.backups_off", params)
    if age_s is not None:
        return Check("backups", WARNING, "doctor.backups_late", params)
    status = OK if is_new else WARNING
    return Check("backups", status, "doctor.backups_none", params)


def _journal(context: EngineContext) -> Check:
    limit = context.settings.journal.max_mb
    with context.database.read() as connection:
        entries, size = integrity.journal_size(connection)
    params: dict[str, object] = {
        "entries": entries,
        "size": f"{size / _MEGABYTE:.1f}",
        "limit": f"{limit:g}",
    }
    if size > _JOURNAL_SLACK * limit * _MEGABYTE:
        return Check("journal", WARNING, "doctor.journal_large", params)
    return Check("journal", OK, "doctor.journal_ok", params)


def _index_files(home: Path) -> Check:
    """The files of large vector indexes; a damaged one was put aside when it was opened."""
    folder = home / "cache" / "vectors"
    damaged = len(list(folder.glob("*.bad"))) if folder.is_dir() else 0
    params: dict[str, object] = {"count": damaged, "folder": str(folder)}
    if damaged:
        return Check("index_files", WARNING, "doctor.index_files_damaged", params)
    return Check("index_files", OK, "doctor.index_files_ok", params)


def _jobs(failing: Sequence[JobState]) -> Iterator[Check]:
    for state in failing:
        if state.problem is not None:
            params: dict[str, object] = {"job": state.name, "reason": state.problem.error()}
            yield Check("upkeep", FAILURE, "doctor.job_failing", params)
    if not failing:
        yield Check("upkeep", OK, "doctor.jobs_ok", {})
