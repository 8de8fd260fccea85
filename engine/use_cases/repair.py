"""Repair: look at everything first, then put right what can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.context import EngineContext
from engine.domain.errors import StorageDamaged
from engine.storage import atoms, backup_files, embeddings, integrity
from engine.storage.database import Connection

FINDINGS = (
    "dangling",
    "ownerless_vectors",
    "text_missing",
    "text_stray",
    "text_differs",
    "text_counts",
    "text_damaged",
    "atoms",
    "vectors_failed",
    "vectors_missing",
    "index_files",
    "left_over",
    "exposed",
)
"""What is looked for, in the order in which it is reported."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, and how often; ``name`` is one of FINDINGS."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found, and with ``applied`` what of it is left."""

    findings: tuple[Finding, ...]
    applied: bool = False
    left: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Repairs:
    """Parts of other use cases: make full text and atoms agree and let failed vectors be tried
    again; queue memories without vectors; name the files that other accounts can read."""

    mend_text: Callable[[], object]
    queue_vectors: Callable[[], int]
    exposed: Callable[[], Sequence[Path]]


def repair(context: EngineContext, parts: Repairs, *, apply: bool) -> RepairReport:
    """Look at the store and what belongs to it; with ``apply`` put right what is found.

    Nothing that a memory says is touched. Raises :class:`StorageDamaged` when the file itself
    is damaged: then a backup is the way back.
    """
    found = _scan(context, parts)
    if not apply:
        return RepairReport(found)
    if found:
        _apply(context, parts)
    return RepairReport(found, applied=True, left=_scan(context, parts))


def _scan(context: EngineContext, parts: Repairs) -> tuple[Finding, ...]:
    counted = _in_tables(context) | {
        "text_damaged": _text_damage(context),
        "index_files": len(_set_aside(context.home)),
        "left_over": len(backup_files.left_over(_backups(context))),
        "exposed": len(parts.exposed()),
    }
    return tuple(Finding(name, counted[name]) for name in FINDINGS if counted[name])


def _in_tables(context: EngineContext) -> dict[str, int]:
    with context.database.read() as connection:
        verdict = integrity.database_verdict(connection)
        if verdict != "ok":
            raise StorageDamaged(
                "error.store_damaged", path=str(context.database.path), reason=verdict
            )
        return {
            "dangling": integrity.dangling(connection),
            "ownerless_vectors": integrity.ownerless_vectors(connection),
            "text_missing": integrity.count_without_text_row(connection),
            "text_stray": len(integrity.stray_text_rows(connection)),
            "text_differs": integrity.fulltext_differences(connection),
            "text_counts": int(not integrity.counts(connection).indexed_rows_agree),
            "atoms": len({*atoms.without_text_row(connection), *atoms.out_of_step(connection)}),
            "vectors_failed": embeddings.count_pending(connection)[1],
            "vectors_missing": _without_vectors(context, connection),
        }


def _without_vectors(context: EngineContext, connection: Connection) -> int:
    identity = context.models.identity()
    if identity is None:
        return 0
    space_id = embeddings.find_space(connection, identity)
    return integrity.without_vectors(connection, space_id, but_private=context.models.is_remote)


def _text_damage(context: EngineContext) -> int:
    """FTS5's own check needs a transaction that may write; a store that is large or read only
    is judged by what can be read."""
    if not context.database.writable:
        return 0
    with context.database.write() as connection:
        if integrity.counts(connection).text_rows > integrity.CHECKED_ROWS:
            return 0
        return int(integrity.fulltext_verdict(connection) != "ok")


def _apply(context: EngineContext, parts: Repairs) -> None:
    with context.database.write() as connection:
        integrity.drop_dangling(connection)
        integrity.drop_ownerless_vectors(connection)
    parts.mend_text()
    parts.queue_vectors()
    for path in _set_aside(context.home):
        with suppress(OSError):
            path.unlink()
    backup_files.remove_left_over(_backups(context))
    for path in parts.exposed():
        with suppress(OSError):
            if not path.is_symlink():
                path.chmod(0o700 if path.is_dir() else 0o600)
    context.background.wake()


def _set_aside(home: Path) -> list[Path]:
    """Damaged files of vector indexes, which are built again from the store."""
    return sorted((home / "cache" / "vectors").glob("*.bad"))


def _backups(context: EngineContext) -> Path:
    return context.home / backup_files.FOLDER
