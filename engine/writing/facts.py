"""Changes of temporal facts, each with its journal entry.

Every function runs inside the caller's write transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.domain.fact import Fact
from engine.domain.memory import FieldValue
from engine.storage import changes, facts, journal
from engine.storage.database import Connection
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp, Subject

OPERATION = "fact"


def create(connection: Connection, values: Mapping[str, FieldValue], stamp: Stamp) -> Fact:
    """Write a new fact; ``values`` are all columns but the two times of writing."""
    whole = dict(values) | {"created_at": stamp.at, "updated_at": stamp.at}
    uid = new_uid()
    fact_id = facts.insert(connection, uid, whole)
    fact = facts.find(connection, fact_id)
    _note(connection, fact, {name: (None, value) for name, value in whole.items()}, stamp)
    return fact


def change(
    connection: Connection, fact: Fact, values: Mapping[str, FieldValue], stamp: Stamp
) -> Fact:
    """Set fields of a fact; one that changes nothing writes nothing."""
    changed = {
        name: (getattr(fact, name), value)
        for name, value in values.items()
        if getattr(fact, name) != value
    }
    if not changed:
        return fact
    new = {name: after for name, (_, after) in changed.items()}
    facts.update(connection, fact.id, new | {"updated_at": stamp.at})
    _note(connection, fact, changed, stamp)
    return facts.find(connection, fact.id)


def remove_of_memory(connection: Connection, memory_id: int, stamp: Stamp) -> int:
    """Remove the facts that came from a memory that is to be reclaimed, so that none stays
    behind without what it rests on; the journal can bring them back. Return how many."""
    return remove(connection, facts.of_memory(connection, memory_id), stamp)


def remove(connection: Connection, found: Sequence[Fact], stamp: Stamp) -> int:
    """Remove facts; the journal can bring them back. Return how many."""
    for fact in found:
        values = facts.values_of(connection, fact.id) or {}
        facts.delete(connection, fact.id)
        _note(connection, fact, {name: (value, None) for name, value in values.items()}, stamp)
    return len(found)


def copy_of_workspace(
    connection: Connection,
    source_id: int,
    target_id: int,
    copied: Mapping[int, int],
    stamp: Stamp,
) -> int:
    """Copy the facts of a workspace, with their dates; ``copied`` names the copy of each memory
    by the id of its original. Return how many."""
    found = facts.of_workspace(connection, source_id)
    for fact in found:
        values = facts.values_of(connection, fact.id) or {}
        values["workspace_id"] = target_id
        if fact.memory_id is not None:
            values["memory_id"] = copied.get(fact.memory_id, fact.memory_id)
        made = facts.find(connection, facts.insert(connection, new_uid(), values))
        _note(connection, made, {name: (None, value) for name, value in values.items()}, stamp)
    return len(found)


def erase_of_memory(connection: Connection, memory_id: int) -> int:
    """Remove the facts that came from a memory that is to be erased for privacy, with what the
    journal kept of them, also of those removed before; return how many entries and rows."""
    gone = facts.empty_journal(connection, memory_id)
    found = facts.of_memory(connection, memory_id)
    for fact in found:
        facts.delete(connection, fact.id)
    changes.mark(connection, facts.CHANGED, [fact.id for fact in found])
    return gone + len(found)


def _note(connection: Connection, fact: Fact, changed: journal.Changes, stamp: Stamp) -> None:
    subject = Subject(fact.id, fact.uid, journal.FACT, other_id=fact.memory_id)
    journal.append(connection, stamp, OPERATION, subject, changed)
    changes.mark(connection, facts.CHANGED, [fact.id])
