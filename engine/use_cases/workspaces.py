"""Workspaces: list, create, rename, move to another domain, copy, delete.

Deleting moves the memories to the trash as one group; the workspace itself stays until they
are purged, so that they can come back to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.memory import GLOBAL_WORKSPACE, Memory
from engine.storage import changes, facts, journal, memories, workspaces
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject
from engine.storage.workspaces import DEFAULT_DOMAIN, Workspace
from engine.writing import copies
from engine.writing import facts as fact_writing
from engine.writing import memories as writing
from engine.writing.layers import derive
from engine.writing.workspace_names import domain_name, workspace_name

_BATCH = 100

Progress = Callable[[int, int], None]
"""Called with how many memories are done, and of how many."""


@dataclass(frozen=True, slots=True)
class BulkChange:
    """A workspace after many of its memories changed: how many did, as which undoable group."""

    workspace: Workspace
    count: int
    group_uid: str


def list_workspaces(context: EngineContext) -> list[Workspace]:
    """Every workspace with its counts, in alphabetical order."""
    with context.database.read() as connection:
        return workspaces.overview(connection)


def find_workspace(context: EngineContext, name: str) -> Workspace:
    """One workspace with its counts. Raises NotFound."""
    with context.database.read() as connection:
        return workspaces.named(connection, name.strip())


def create_workspace(
    context: EngineContext, name: str, caller: Caller, domain: str | None = None
) -> Workspace:
    """Make a workspace (in ``personal`` by default). Raises Conflict when the name is taken."""
    chosen, home = workspace_name(name), domain_name(domain or DEFAULT_DOMAIN)
    with context.database.write() as connection:
        _require_free(connection, chosen)
        workspaces.ensure(connection, chosen, context.clock.now(), home)
        made = workspaces.named(connection, chosen)
        _note(connection, made, _stamp(context, caller), _new(made))
        return made


def rename_workspace(context: EngineContext, name: str, new_name: str, caller: Caller) -> Workspace:
    """Give a workspace another name. Raises NotFound, Conflict for a taken name, and
    InvalidInput for ``global``."""
    chosen = workspace_name(new_name)
    with context.database.write() as connection:
        found = _changeable(connection, name)
        if chosen != found.name:
            _require_free(connection, chosen)
            workspaces.rename(connection, found.id, chosen)
            _note(connection, found, _stamp(context, caller), {"name": (found.name, chosen)})
        return workspaces.named(connection, chosen)


def move_workspace(context: EngineContext, name: str, domain: str, caller: Caller) -> Workspace:
    """Move a workspace to another domain: ``work``, ``personal``, ``system`` or one's own."""
    chosen = domain_name(domain)
    with context.database.write() as connection:
        found = _changeable(connection, name)
        if chosen != found.domain:
            workspaces.set_domain(connection, found.id, chosen)
            _note(connection, found, _stamp(context, caller), {"domain": (found.domain, chosen)})
        return workspaces.named(connection, found.name)


def copy_workspace(
    context: EngineContext, name: str, new_name: str, caller: Caller, on_progress: Progress
) -> BulkChange:
    """Copy a workspace with all that is outside its trash, facts included: new uids, dates and
    states as they are, vectors verbatim. Raises Conflict when the new name is taken."""
    chosen, stamp = workspace_name(new_name), _stamp(context, caller)
    with context.database.write() as connection:
        source = workspaces.named(connection, name.strip())
        _require_free(connection, chosen)
        target_id = workspaces.ensure(connection, chosen, stamp.at, source.domain)
        made = workspaces.named(connection, chosen)
        _note(connection, made, stamp, _new(made))
    copied: dict[int, int] = {}
    last_id = 0
    while batch := _batch(context, source.id, last_id):
        copied |= _copy_batch(context, batch, target_id, stamp)
        last_id = max(batch)
        on_progress(len(copied), source.memories)
    with context.database.write() as connection:
        _point_to_copies(connection, copied)
        fact_writing.copy_of_workspace(connection, source.id, target_id, copied, stamp)
        made = workspaces.named(connection, chosen)
    context.background.wake()
    return BulkChange(made, len(copied), stamp.group_uid)


def delete_workspace(
    context: EngineContext, name: str, caller: Caller, on_progress: Progress
) -> BulkChange:
    """Move every memory of a workspace to the trash as one group, with its facts. Raises
    InvalidInput for ``global``."""
    stamp = _stamp(context, caller)
    with context.database.write() as connection:
        found = _changeable(connection, name)
        _note(connection, found, stamp, {}, operation="delete")
    done = 0
    while batch := _batch(context, found.id, 0):
        with context.database.write() as connection:
            for memory in memories.fetch(connection, batch).values():
                if memory.deleted_at is None:
                    writing.trash(connection, memory, stamp)
                    done += 1
        on_progress(done, max(done, found.memories))
    with context.database.write() as connection:
        # Those of memories in the trash come back with them; the others rest on nothing else.
        fact_writing.remove(connection, facts.of_workspace(connection, found.id), stamp)
        return BulkChange(workspaces.named(connection, found.name), done, stamp.group_uid)


def _batch(context: EngineContext, workspace_id: int, after: int) -> dict[int, Memory]:
    with context.database.read() as connection:
        ids = workspaces.memory_ids(connection, workspace_id, after, _BATCH)
        return memories.fetch(connection, ids)


def _copy_batch(
    context: EngineContext, batch: Mapping[int, Memory], target_id: int, stamp: Stamp
) -> dict[int, int]:
    """Copy memories, and return the id of each copy by that of its original."""
    derived = [
        (memory, derive(context, writing.authored(memory), None, memory.created_at))
        for _, memory in sorted(batch.items())
    ]
    with context.database.write() as connection:
        return {
            memory.id: copies.copy(connection, memory, target_id, layers, stamp)
            for memory, layers in derived
        }


def _point_to_copies(connection: Connection, copied: Mapping[int, int]) -> None:
    """What was superseded by a memory that was copied too is superseded by its copy."""
    originals = memories.fetch(connection, copied)
    for memory in originals.values():
        if memory.superseded_by is not None:
            successor = copied.get(memory.superseded_by, memory.superseded_by)
            memories.update(connection, copied[memory.id], {"superseded_by": successor})


def _changeable(connection: Connection, name: str) -> Workspace:
    if name.strip() == GLOBAL_WORKSPACE:
        raise InvalidInput("error.global_workspace", name=GLOBAL_WORKSPACE)
    return workspaces.named(connection, name.strip())


def _require_free(connection: Connection, name: str) -> None:
    if name == GLOBAL_WORKSPACE or workspaces.exists(connection, name):
        raise Conflict("error.workspace_exists", name=name[:60])


def _stamp(context: EngineContext, caller: Caller) -> Stamp:
    return Stamp(caller.actor, context.clock.now(), new_uid())


def _new(workspace: Workspace) -> dict[str, tuple[str | None, str | None]]:
    return {"name": (None, workspace.name), "domain": (None, workspace.domain)}


def _note(
    connection: Connection,
    workspace: Workspace,
    stamp: Stamp,
    changed: Mapping[str, tuple[str | None, str | None]],
    operation: str = "edit",
) -> None:
    subject = Subject(workspace.id, workspace.uid, journal.WORKSPACE)
    journal.append(connection, stamp, operation, subject, changed)
    # Answers that other processes keep show the old name or were found in the old domain.
    changes.mark(connection, changes.WORKSPACE, [workspace.id])


__all__ = [
    "BulkChange",
    "Progress",
    "Workspace",
    "copy_workspace",
    "create_workspace",
    "delete_workspace",
    "find_workspace",
    "list_workspaces",
    "move_workspace",
    "rename_workspace",
]
