"""``jiyi backup`` and ``jiyi restore-backup``: copies of the store, and going back to one."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.bootstrap import Engine
from engine.config.live import LiveSettings
from engine.domain.caller import Caller
from engine.domain.times import iso, zone_named
from engine.domain.vocabulary import check
from engine.use_cases import backup
from engine.use_cases.backup import RestoreWish
from launchers.cli import streams
from launchers.cli.failures import FAILED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import ACTOR, Session, open_session

if TYPE_CHECKING:
    from engine.domain.backup import BackupFile
    from engine.use_cases.backup import BackedUp, Restored

_ACTIONS = ("make", "list", "thin")
_YES = ("y", "yes", "是", "好")


@dataclass(frozen=True, slots=True)
class BackupOptions:
    """What goes with an action."""

    name: Annotated[str, option("--name", key="backup_name")] = ""
    to: Annotated[str, option("--to", key="backup_to", metavar="FILE")] = ""
    apply: Annotated[bool, option("--apply", key="backup_apply")] = False


def backup_command(
    context: typer.Context,
    general: GeneralOptions,
    given: BackupOptions,
    action: Annotated[
        str, typer.Argument(metavar="[make|list|thin]", help="cli.argument.backup_action")
    ] = "make",
) -> int:
    """Make a verified backup, list what there is, or remove outdated ones."""
    session = open_session(context, general)
    chosen = check("action", action, _ACTIONS)
    if given.name and given.to:
        raise Misuse("cli.backup.name_or_file")
    if chosen == "list":
        zone = _zone(session)
        return _list(session.output, backup.list_backups(session.home), zone)
    with session.engine() as engine:
        if chosen == "thin":
            return _thin(session.output, engine, apply=given.apply)
        return _make(session.output, engine, given)


def _make(output: Output, engine: Engine, given: BackupOptions) -> int:
    backups, started = engine.backups, time.perf_counter()
    if given.to:
        made = backups.copy_to(Path(streams.native_path(given.to)).expanduser().absolute())
    else:
        made = backups.make(name=given.name)
    seconds = time.perf_counter() - started
    if output.format == "json":
        output.json(_made_record(made, engine.context.zone) | {"seconds": round(seconds, 3)})
    elif output.format == "tsv":
        output.tsv([(made.file.name, str(made.file.path), made.contents.memories)])
    else:
        key = "made" if made.contents.text_index == "ok" else "made_index_damaged"
        told = output.say(
            f"cli.backup.{key}",
            path=made.file.path,
            size=_size(made.file.size_bytes),
            memories=made.contents.memories,
            trash=made.contents.in_trash,
            at=iso(made.file.at, engine.context.zone),
        )
        output.line(told)
    return 0


def _thin(output: Output, engine: Engine, *, apply: bool) -> int:
    gone = engine.backups.thin() if apply else engine.backups.outdated()
    if output.format == "json":
        zone = engine.context.zone
        output.json({"applied": apply, "removed": [_record(file, zone) for file in gone]})
        return 0
    _table(output, gone, engine.context.zone)
    size = _size(sum(file.size_bytes for file in gone))
    output.note(f"cli.backup.{'thinned' if apply else 'would_thin'}", count=len(gone), size=size)
    return 0


def _list(output: Output, files: Sequence[BackupFile], zone: tzinfo | None) -> int:
    if output.format == "json":
        output.json([_record(file, zone) for file in files])
    elif files:
        _table(output, files, zone)
    else:
        output.note("cli.backup.none")
    return 0


def _table(output: Output, files: Sequence[BackupFile], zone: tzinfo | None) -> None:
    rows = [
        (file.name, iso(file.at, zone), _why(output, file), file.version, _size(file.size_bytes))
        for file in files
    ]
    if output.format == "tsv":
        output.tsv(rows)
        return
    say = output.say
    columns = (
        Column(say("cli.column.backup"), wraps=True),
        Column(say("cli.column.made_at")),
        Column(say("cli.column.reason")),
        Column(say("cli.column.version")),
        Column(say("cli.column.size"), right=True),
    )
    output.table(columns, rows)


def restore_backup_command(
    context: typer.Context,
    general: GeneralOptions,
    name: Annotated[
        str, typer.Argument(metavar="[NAME|newest]", help="cli.argument.backup_name")
    ] = "",
    file: Annotated[str, option("--file", key="backup_file", metavar="FILE")] = "",
    yes: Annotated[bool, option("--yes", "-y", key="yes")] = False,
) -> int:
    """Put a backup in the place of the store; the store as it was is kept."""
    session = open_session(context, general)
    if bool(name) == bool(file):
        raise Misuse("cli.restore_backup.name_or_file")
    path = Path(streams.native_path(file)).expanduser().absolute() if file else None
    wish = RestoreWish(name, path)
    if not yes and not _confirmed(session, wish):
        session.output.note("cli.restore_backup.cancelled")
        return FAILED
    restored = backup.restore_backup(
        session.home,
        wish,
        Caller(ACTOR),
        now=time.time(),
        wait_s=LiveSettings(session.home, session.environ).current().storage.busy_timeout_s,
    )
    _show(session.output, restored)
    return 0


def _show(output: Output, restored: Restored) -> None:
    done = restored.replaced
    kept = done.before or done.aside
    if output.format == "json":
        output.json(
            {
                "restored": str(restored.source),
                "memories": done.contents.memories,
                "in_trash": done.contents.in_trash,
                "kept_as": None if kept is None else str(kept),
                "was_damaged": done.aside is not None,
            }
        )
        return
    memories = done.contents.memories
    output.line(output.say("cli.restore_backup.done", name=restored.source, memories=memories))
    if done.before is not None:
        output.line(output.say("cli.restore_backup.kept", name=done.before.stem))
    elif done.aside is not None:
        output.line(output.say("cli.restore_backup.aside", path=done.aside))


def _confirmed(session: Session, wish: RestoreWish) -> bool:
    output, source = session.output, backup.find_backup(session.home, wish)
    after, before = backup.contents_of(source), backup.contents_of_store(session.home)
    output.note("cli.restore_backup.shows", name=source, memories=after.memories)
    if before is None:
        output.note("cli.restore_backup.shows_none")
    else:
        output.note("cli.restore_backup.shows_store", memories=before.memories)
    if sys.stdin is None or not sys.stdin.isatty():
        raise Misuse("cli.restore_backup.needs_yes")
    sys.stderr.write(streams.visible(output.say("cli.restore_backup.ask")) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES


def _made_record(made: BackedUp, zone: tzinfo | None) -> dict[str, object]:
    return _record(made.file, zone) | {
        "memories": made.contents.memories,
        "in_trash": made.contents.in_trash,
        "text_index": made.contents.text_index,
    }


def _record(file: BackupFile, zone: tzinfo | None) -> dict[str, object]:
    return {
        "name": file.name,
        "path": str(file.path),
        "at": iso(file.at, zone),
        "reason": file.reason,
        "version": file.version,
        "size_bytes": file.size_bytes,
    }


def _why(output: Output, file: BackupFile) -> str:
    return output.say(f"cli.backup.reason.{file.reason}")


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:.1f} MB"


def _zone(session: Session) -> tzinfo | None:
    name = LiveSettings(session.home, session.environ).current().timezone
    return zone_named(name) if name else None
