"""Links between memories, and one memory in the place of another, each with its journal entry.

Everything runs inside the caller's write transaction.
"""

from __future__ import annotations

from typing import Protocol

from engine.domain.errors import Conflict, InvalidInput
from engine.domain.ids import MemoryRef
from engine.domain.links import SUPERSEDES, Link
from engine.domain.memory import Memory
from engine.storage import changes, journal, links, memories
from engine.storage.database import Connection
from engine.storage.journal import Stamp, Subject
from engine.writing.memories import set_state


class End(Protocol):
    """What a link joins: a memory."""

    @property
    def id(self) -> int: ...
    @property
    def uid(self) -> str: ...


def put(connection: Connection, source: End, target: End, relation: str, stamp: Stamp) -> bool:
    """Link one memory with another; false when they are linked so already.

    Raises InvalidInput for a link to itself and Conflict where each would supersede the other.
    """
    _require_sound(connection, source, target, relation)
    link = Link(source.id, target.id, relation, stamp.at)
    if not links.put(connection, link):
        return False
    _note(connection, source, link, stamp, "link")
    return True


def remove(connection: Connection, source: End, link: Link, stamp: Stamp) -> bool:
    """Take a link back; ``source`` is the memory that it starts from. False when it is gone."""
    if not links.remove(connection, link):
        return False
    _note(connection, source, link, stamp, "unlink")
    return True


def remove_all(connection: Connection, memory: Memory, stamp: Stamp) -> int:
    """Take back every link of a memory that goes for good; return how many there were."""
    found = links.of_memory(connection, memory.id)
    sources = memories.fetch(connection, {link.source_id for link in found})
    for link in found:
        remove(connection, sources[link.source_id], link, stamp)
    return len(found)


def supersede(connection: Connection, old: Memory, new: Memory, stamp: Stamp) -> Memory:
    """Hide a memory in favour of another one, and link the two; return the hidden one.

    Raises InvalidInput for a memory and itself, Conflict where another one has taken its place
    already or where each would supersede the other.
    """
    if old.superseded_at is not None and old.superseded_by not in (None, new.id):
        raise Conflict("error.superseded_already", ref=f"#{old.id}", by=f"#{old.superseded_by}")
    put(connection, new, old, SUPERSEDES, stamp)
    if old.superseded_by == new.id:
        return old
    values = {"superseded_at": stamp.at, "superseded_by": new.id}
    return set_state(connection, old, values, "supersede", stamp, other_id=new.id)


def lift(connection: Connection, old: Memory, stamp: Stamp) -> Memory:
    """Show a superseded memory again, and take back the link that says what superseded it."""
    unlink_successor(connection, old, stamp)
    values = {"superseded_at": None, "superseded_by": None}
    return set_state(connection, old, values, "restore", stamp, other_id=old.superseded_by)


def unlink_successor(connection: Connection, old: Memory, stamp: Stamp) -> None:
    """Take back the ``supersedes`` link of a memory that is to be shown again."""
    if old.superseded_by is None:
        return
    successor = memories.find(connection, MemoryRef(id=old.superseded_by))
    for link in links.between(connection, successor.id, old.id):
        if link.relation == SUPERSEDES:
            remove(connection, successor, link, stamp)


def _require_sound(connection: Connection, source: End, target: End, relation: str) -> None:
    if source.id == target.id:
        raise InvalidInput("error.link_to_itself", ref=f"#{source.id}")
    if relation == SUPERSEDES and links.supersedes(connection, target.id, source.id):
        raise Conflict("error.supersede_cycle", new=f"#{source.id}", old=f"#{target.id}")


def _note(connection: Connection, source: End, link: Link, stamp: Stamp, operation: str) -> None:
    is_new = operation == "link"

    def change(value: str | float) -> tuple[str | float | None, str | float | None]:
        return (None, value) if is_new else (value, None)

    subject = Subject(source.id, source.uid, journal.LINK, other_id=link.target_id)
    values = {"relation": change(link.relation), "created_at": change(link.created_at)}
    journal.append(connection, stamp, operation, subject, values)
    # What a search takes along, and how near memories are to each other, follows from links.
    changes.mark(connection, changes.MEMORY, [link.source_id, link.target_id])
