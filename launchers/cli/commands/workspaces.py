"""``jiyi workspaces``: the projects that memories belong to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.times import day, iso
from engine.domain.vocabulary import check
from launchers.cli import streams
from launchers.cli.failures import FAILED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session
from launchers.cli.work import progress_bars

if TYPE_CHECKING:
    from engine.use_cases.workspaces import BulkChange, Workspace

_NAMES = {"list": 0, "create": 1, "rename": 2, "move": 2, "copy": 2, "delete": 1}
_YES = ("y", "yes", "是", "好")


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """What goes with an action."""

    domain: Annotated[str | None, option("--domain")] = None
    yes: Annotated[bool, option("--yes", "-y", key="yes")] = False


def workspaces_command(
    context: typer.Context,
    general: GeneralOptions,
    given: WorkspaceOptions,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[list|create|rename|move|copy|delete]", help="cli.argument.workspace_action"
        ),
    ] = "list",
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="cli.argument.workspace_names")
    ] = None,
) -> int:
    """List workspaces with their counts, or change one."""
    session = open_session(context, general)
    chosen, named = check("action", action, _NAMES), names or []
    if len(named) != _NAMES[chosen]:
        raise Misuse("cli.workspaces.names", action=chosen, count=_NAMES[chosen])
    with session.engine() as engine:
        if chosen == "list":
            return _list(session.output, engine)
        if chosen == "copy":
            return _copy(session, engine, named)
        if chosen == "delete":
            return _delete(session, engine, named[0], asked=given.yes)
        return _change(session, engine, chosen, [*named, given.domain])


def _list(output: Output, engine: Engine) -> int:
    found, zone = engine.workspaces(), engine.context.zone
    if output.format == "json":
        output.json([_record(workspace, zone) for workspace in found])
    elif not found:
        output.note("cli.workspaces.none")
    elif output.format == "tsv":
        output.tsv(_row(workspace, zone) for workspace in found)
    else:
        say = output.say
        columns = (
            Column(say("cli.column.workspace")),
            Column(say("cli.column.domain")),
            Column(say("cli.column.memories"), right=True),
            Column(say("cli.column.in_trash"), right=True),
            Column(say("cli.column.newest")),
            Column(say("cli.column.roots"), wraps=True),
        )
        output.table(columns, [_row(workspace, zone) for workspace in found])
    return 0


def _row(workspace: Workspace, zone: tzinfo | None) -> tuple[str, ...]:
    newest = "" if workspace.newest_at is None else day(workspace.newest_at, zone)
    counts = str(workspace.memories), str(workspace.in_trash)
    return workspace.name, workspace.domain, *counts, newest, ", ".join(workspace.roots)


def _record(workspace: Workspace, zone: tzinfo | None) -> dict[str, object]:
    newest = workspace.newest_at
    return {
        "name": workspace.name,
        "uid": workspace.uid,
        "domain": workspace.domain,
        "memories": workspace.memories,
        "in_trash": workspace.in_trash,
        "created_at": iso(workspace.created_at, zone),
        "newest_at": None if newest is None else iso(newest, zone),
        "roots": list(workspace.roots),
    }


def _change(session: Session, engine: Engine, action: str, named: Sequence[str | None]) -> int:
    output, caller = session.output, session.reader()
    name, second = str(named[0]), named[1]
    if action == "create":
        done = engine.create_workspace(name, caller, domain=second)
        told = output.say("cli.workspaces.created", name=done.name, domain=done.domain)
    elif action == "rename":
        done = engine.rename_workspace(name, str(second), caller)
        told = output.say("cli.workspaces.renamed", name=name, new=done.name)
    else:
        done = engine.move_workspace(name, str(second), caller)
        told = output.say("cli.workspaces.moved", name=done.name, domain=done.domain)
    _show(output, engine, done, told)
    return 0


def _copy(session: Session, engine: Engine, named: Sequence[str]) -> int:
    output, (name, new_name) = session.output, named
    with progress_bars(output) as show:
        on_progress = partial(show, name, "copy")
        done = engine.copy_workspace(name, new_name, session.reader(), on_progress)
    told = output.say("cli.workspaces.copied", count=done.count, name=done.workspace.name)
    _show(output, engine, done.workspace, told, done)
    return 0


def _delete(session: Session, engine: Engine, name: str, *, asked: bool) -> int:
    output = session.output
    if not asked and not _confirmed(output, engine, name):
        output.note("cli.workspaces.cancelled")
        return FAILED
    with progress_bars(output) as show:
        on_progress = partial(show, name, "delete")
        done = engine.delete_workspace(name, session.reader(), on_progress)
    told = output.say("cli.workspaces.deleted", count=done.count, name=done.workspace.name)
    _show(output, engine, done.workspace, told, done)
    return 0


def _show(
    output: Output,
    engine: Engine,
    workspace: Workspace,
    told: str,
    bulk: BulkChange | None = None,
) -> None:
    if output.format == "json":
        counted = {"count": bulk.count, "group": bulk.group_uid} if bulk else {}
        output.json(_record(workspace, engine.context.zone) | counted)
    elif output.format == "tsv":
        output.tsv([_row(workspace, engine.context.zone)])
    else:
        output.line(told)


def _confirmed(output: Output, engine: Engine, name: str) -> bool:
    count = engine.workspace(name).memories
    output.note("cli.workspaces.delete_shows", name=name, count=count)
    if sys.stdin is None or not sys.stdin.isatty():
        raise Misuse("cli.workspaces.needs_yes")
    sys.stderr.write(streams.visible(output.say("cli.workspaces.delete_ask")) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES
