"""``jiyi install``: register the server with an assistant, check it, take it out again."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from engine.config.home import VARIABLE
from engine.domain.errors import InvalidInput
from engine.domain.vocabulary import check
from launchers.cli import streams
from launchers.cli.failures import FAILED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import Session, open_session
from launchers.clients import registering, tomls
from launchers.clients.command import jiyi_command
from launchers.clients.places import CLIENTS, Client, Machine, Server
from launchers.clients.registering import FileChange, Wish

_YES = ("y", "yes", "是", "好")


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """What is registered, where, and how carefully."""

    project: Annotated[bool, option("--project", key="install_project")] = False
    dry_run: Annotated[bool, option("--dry-run", key="install_dry_run")] = False
    yes: Annotated[bool, option("--yes", "-y", key="yes")] = False
    uninstall: Annotated[bool, option("--uninstall")] = False
    verify: Annotated[bool, option("--verify")] = False
    name: Annotated[str, option("--name", key="install_name", metavar="NAME")] = "jiyi"
    toolsets: Annotated[str | None, option("--toolsets", metavar="core,…")] = None
    env: Annotated[list[str] | None, option("--env", key="install_env", metavar="K=V")] = None
    show: Annotated[bool, option("--print", key="install_print")] = False
    no_guidance: Annotated[bool, option("--no-guidance")] = False
    force: Annotated[bool, option("--force", key="install_force")] = False


def install_command(
    context: typer.Context,
    general: GeneralOptions,
    given: InstallOptions,
    client: Annotated[
        str, typer.Argument(metavar="[CLIENT]", help="cli.argument.install_client")
    ] = "",
) -> int:
    """Register the server with an assistant."""
    session = open_session(context, general)
    machine = Machine(sys.platform, Path.home(), session.environ)
    if not client:
        _list(session.output, machine, given.name)
        return 0
    wish = _wish(session, given, machine, CLIENTS[check("client", client, tuple(CLIENTS))])
    if given.show:
        session.output.line(_as_text(wish))
        return 0
    keep = session.home / "clients"
    if given.uninstall:
        return _uninstall(session, given, wish, keep)
    return _register(session, given, wish, keep)


def _wish(session: Session, given: InstallOptions, machine: Machine, client: Client) -> Wish:
    command, *arguments = [*jiyi_command(), "mcp"]
    options = session.options
    if options.home or session.environ.get(VARIABLE, "").strip():
        arguments += ["--home", str(session.home)]
    if options.workspace:
        arguments += ["--workspace", options.workspace]
    if given.toolsets:
        arguments += ["--toolsets", given.toolsets]
    return Wish(
        client=client,
        machine=machine,
        name=_server_name(given.name),
        project=Path.cwd() if given.project else None,
        server=Server(command, tuple(arguments), _variables(given.env or [])),
        instructions="" if given.no_guidance else session.output.say("install.guidance"),
        force=given.force,
    )


def _server_name(name: str) -> str:
    """Clients make names of tools from it, which allow no more than this."""
    if not name or len(name) > 40 or not name.replace("-", "").replace("_", "").isalnum():
        raise InvalidInput("install.bad_name", name=name[:60])
    if not name.isascii():
        raise InvalidInput("install.bad_name", name=name[:60])
    return name


def _variables(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in given:
        name, mark, value = word.partition("=")
        if not mark or not name.strip():
            raise InvalidInput("install.bad_env", value=word[:60])
        found[name.strip()] = value
    return found


def _register(session: Session, given: InstallOptions, wish: Wish, keep: Path) -> int:
    output = session.output
    changes = registering.plan_registration(wish)
    is_new = any(change.does_something for change in changes)
    if given.dry_run:
        _show(output, changes)
        return 0
    if is_new and not given.yes and not _confirmed(output, changes):
        output.note("install.cancelled")
        return FAILED
    written = registering.carry_out(changes, keep)
    memories = _verified(wish) if given.verify else None
    _told(output, "install.registered" if is_new else "install.nothing", wish, written, memories)
    if not is_new:
        return 0
    if not given.no_guidance and wish.client.guidance_file(wish.machine, wish.project) is None:
        output.note("install.guidance_by_hand", client=wish.client.title)
        output.note("install.guidance")
    output.note("install.restart", client=wish.client.title)
    return 0


def _uninstall(session: Session, given: InstallOptions, wish: Wish, keep: Path) -> int:
    output = session.output
    changes = registering.plan_removal(wish, keep)
    if not any(change.does_something for change in changes):
        output.note("install.not_there", client=wish.client.title, name=wish.name)
        return 0
    if given.dry_run:
        _show(output, changes)
        return 0
    if not given.yes and not _confirmed(output, changes):
        output.note("install.cancelled")
        return FAILED
    written = registering.carry_out(changes, keep, removal=True)
    _told(output, "install.removed", wish, written)
    return 0


def _verified(wish: Wish) -> int:
    """How many memories the registered server answers for."""
    from engine.mcp_server.probing import ask_server

    server = wish.server
    assert server is not None
    command = (server.command, *server.arguments)
    return ask_server(command, server.variables, wish.project or Path.home())


def _told(
    output: Output,
    key: str,
    wish: Wish,
    written: Sequence[FileChange],
    memories: int | None = None,
) -> None:
    paths = [str(change.path) for change in written]
    if output.format == "json":
        record: dict[str, object] = {"client": wish.client.title, "name": wish.name}
        record |= {"files": paths} | ({} if memories is None else {"memories": memories})
        output.json(record)
        return
    output.note(key, client=wish.client.title, name=wish.name)
    for path in paths:
        output.line(path)
    if memories is not None:
        output.note("install.verified", memories=memories)


def _show(output: Output, changes: Sequence[FileChange]) -> None:
    """What would change, as a diff."""
    if output.format == "json":
        output.json({"files": [str(c.path) for c in changes if c.does_something]})
        return
    for change in changes:
        if change.does_something:
            for line in _diff(change):
                output.line(line)


def _diff(change: FileChange) -> list[str]:
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    name = str(change.path)
    # Without lines around: those of other servers may hold keys.
    return [*difflib.unified_diff(before, after, name, name, lineterm="", n=0)]


def _confirmed(output: Output, changes: Sequence[FileChange]) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise Misuse("install.needs_yes")
    for change in changes:
        if change.does_something:
            for line in _diff(change):
                sys.stderr.write(streams.visible(line) + "\n")
    sys.stderr.write(streams.visible(output.say("install.ask")) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES


def _list(output: Output, machine: Machine, name: str) -> None:
    """Every client: whether its settings are there, and whether it is registered."""
    rows = []
    for key, client in CLIENTS.items():
        path = client.settings_file(machine, None)
        state = "registered" if registering.is_registered(Wish(client, machine, name)) else ""
        state = state or ("found" if path.exists() or path.parent.exists() else "missing")
        rows.append((key, client.title, state, str(path)))
    if output.format == "json":
        names = ("client", "title", "state", "path")
        output.json([dict(zip(names, row, strict=True)) for row in rows])
    elif output.format == "tsv":
        output.tsv(rows)
    else:
        columns = [Column(output.say(f"install.column.{n}")) for n in ("client", "title", "state")]
        columns.append(Column(output.say("install.column.path"), wraps=True))
        shown = [(k, t, output.say(f"install.state.{s}"), p) for k, t, s, p in rows]
        output.table(columns, shown)


def _as_text(wish: Wish) -> str:
    """What to put into the client's settings by hand."""
    assert wish.server is not None
    entry = wish.client.entry(wish.server)
    if wish.client.is_toml:
        return tomls.with_table("", (wish.client.key, wish.name), entry).rstrip()
    document = {wish.client.key: {wish.name: entry}}
    return json.dumps(document, ensure_ascii=False, indent=2)


__all__ = ["install_command"]
