"""What becomes of new memories that clash with others, by the policy of each write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.context import EngineContext
from engine.domain.ids import MemoryRef
from engine.domain.links import Clash, ConflictRefused
from engine.domain.memory import Draft, Memory
from engine.storage import changes, links, memories
from engine.storage.database import Connection
from engine.storage.journal import Stamp
from engine.writing import links as link_writing
from engine.writing.conflicts import Meeting, Scanner, meetings
from engine.writing.embed import Embedded

IGNORE, WARN, SUPERSEDE, REJECT = "ignore", "warn", "supersede", "reject"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A memory about to be written, and its policy on conflicts."""

    draft: Draft
    embedded: Embedded | None
    policy: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What each of several new memories meets, as of change number ``change``."""

    meetings: tuple[Meeting, ...]
    change: int


def foresee(context: EngineContext, incoming: Sequence[Incoming], now: float) -> Outlook:
    """Look for what new memories clash with, before anything is written.

    Raises :class:`ConflictRefused` where the policy is ``reject``.
    """
    with context.database.read() as connection:
        change = changes.last(connection)
    found = [Meeting() for _ in incoming]
    looking = [place for place, item in enumerate(incoming) if item.policy != IGNORE]
    if looking:
        scanner = Scanner(context)
        probes = [scanner.of_draft(incoming[i].draft, incoming[i].embedded) for i in looking]
        for place, meeting in zip(looking, meetings(scanner, probes, now), strict=True):
            inside = tuple((looking[earlier], clash) for earlier, clash in meeting.inside)
            found[place] = Meeting(meeting.stored, inside)
    for item, meeting in zip(incoming, found, strict=True):
        if item.policy == REJECT and meeting.stored:
            raise ConflictRefused(meeting.stored)
    return Outlook(tuple(found), change)


def current(
    context: EngineContext,
    connection: Connection,
    incoming: Sequence[Incoming],
    outlook: Outlook,
    now: float,
) -> Outlook:
    """The outlook as of this write transaction: looked for anew where the policy acts on it and
    somebody wrote meanwhile."""
    acts = any(item.policy in (SUPERSEDE, REJECT) for item in incoming)
    if not acts or changes.last(connection) == outlook.change:
        return outlook
    return foresee(context, incoming, now)


def settle(
    connection: Connection,
    incoming: Sequence[Incoming],
    created: Sequence[Memory],
    outlook: Outlook,
    stamp: Stamp,
    before: frozenset[int] = frozenset(),
) -> list[tuple[Clash, ...]]:
    """Let written memories take the places that their policy gives them; return what each one
    clashed with. Of several written together (``before`` are those of earlier batches) the
    earlier one wins."""
    ours = before.union(memory.id for memory in created)
    told = []
    for item, memory, meeting in zip(incoming, created, outlook.meetings, strict=True):
        inside = [
            replace(clash, memory_id=created[earlier].id) for earlier, clash in meeting.inside
        ]
        clashes = (*meeting.stored, *inside)
        if item.policy == SUPERSEDE:
            for clash in clashes:
                _supersede(connection, memory.id, clash.memory_id, ours, stamp)
        told.append(clashes)
    return told


def _supersede(
    connection: Connection, new_id: int, other_id: int, ours: frozenset[int], stamp: Stamp
) -> None:
    """Hide what was there before, or the later of two that were written together."""
    new, other = (memories.find(connection, MemoryRef(id=i)) for i in (new_id, other_id))
    old, successor = (new, other) if other_id in ours else (other, new)
    if old.superseded_at is not None or successor.superseded_at is not None:
        return
    if not links.supersedes(connection, old.id, successor.id):
        link_writing.supersede(connection, old, successor, stamp)


__all__ = ["IGNORE", "REJECT", "Incoming", "Outlook", "current", "foresee", "settle"]
