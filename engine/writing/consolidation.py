"""Many memories that say the same become one: what it gains, and how it is written.

Writing runs inside the caller's write transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.domain.fields import MAX_LABELS
from engine.domain.links import SUPERSEDES
from engine.domain.memory import FieldValue, Memory
from engine.storage import consolidation, links, memories
from engine.storage.database import Connection
from engine.storage.journal import Stamp
from engine.writing import links as link_writing
from engine.writing import memories as writing
from engine.writing.layers import Layers

_LISTS = ("tags", "topics", "participants", "key_facts")


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link of one that goes, as it is to start or end at the one that stays."""

    source_id: int
    target_id: int
    relation: str


@dataclass(frozen=True, slots=True)
class Merge:
    """One group: who stays, who goes, the fields that the survivor gains (``created_at`` among
    them), and the links that come over to it."""

    survivor: Memory
    merged: tuple[Memory, ...]
    gains: Mapping[str, FieldValue]
    links: tuple[NewLink, ...]


def planned(connection: Connection, survivor: Memory, merged: Sequence[Memory]) -> Merge:
    """What becomes of a group."""
    return Merge(
        survivor,
        tuple(merged),
        _gains(survivor, merged),
        tuple(_moved_links(connection, survivor, merged)),
    )


def merge(connection: Connection, plan: Merge, layers: Layers, stamp: Stamp) -> Memory:
    """Write a merge: the survivor gains, the others go to the trash. ``layers`` are those of
    the survivor with what it gains."""
    survivor = plan.survivor
    gains = dict(plan.gains)
    created_at = gains.pop("created_at", None)
    if created_at is not None:
        survivor = writing.set_state(
            connection, survivor, {"created_at": created_at}, "edit", stamp
        )
    if gains:
        survivor = writing.edit(connection, survivor, gains, layers, stamp)
    consolidation.add_strength(connection, survivor.id, [memory.id for memory in plan.merged])
    _move_links(connection, plan, stamp)
    for memory in plan.merged:
        writing.trash(connection, memory, stamp)
    return memories.fetch(connection, [survivor.id])[survivor.id]


def _gains(survivor: Memory, merged: Sequence[Memory]) -> dict[str, FieldValue]:
    everyone = (survivor, *merged)
    gains: dict[str, FieldValue] = {name: _union(everyone, name) for name in _LISTS}
    gains["created_at"] = min(memory.created_at for memory in everyone)
    times = [memory.event_time for memory in everyone if memory.event_time is not None]
    gains["event_time"] = min(times, default=None)
    return {name: value for name, value in gains.items() if getattr(survivor, name) != value}


def _union(everyone: Iterable[Memory], name: str) -> tuple[str, ...]:
    """The values of all, the survivor's first, each once whatever its case."""
    values: dict[str, str] = {}
    for memory in everyone:
        for value in getattr(memory, name):
            values.setdefault(value.casefold(), value)
    return tuple(values.values())[:MAX_LABELS]


def _moved_links(
    connection: Connection, survivor: Memory, merged: Sequence[Memory]
) -> list[NewLink]:
    """Links of those that go, at the survivor; none to itself and none that it has."""
    ids = {survivor.id, *(memory.id for memory in merged)}
    known = {
        NewLink(link.source_id, link.target_id, link.relation)
        for link in links.touching(connection, [survivor.id])
    }
    moved: dict[NewLink, None] = {}
    for link in links.touching(connection, sorted(ids - {survivor.id})):
        if link.source_id in ids and link.target_id in ids:
            continue
        source = survivor.id if link.source_id in ids else link.source_id
        target = survivor.id if link.target_id in ids else link.target_id
        moved[NewLink(source, target, link.relation)] = None
    return [link for link in moved if link not in known]


def _move_links(connection: Connection, plan: Merge, stamp: Stamp) -> None:
    ends = {end for link in plan.links for end in (link.source_id, link.target_id)}
    found = memories.fetch(connection, ends)
    for link in plan.links:
        source, target = found[link.source_id], found[link.target_id]
        circle = link.relation == SUPERSEDES and links.supersedes(connection, target.id, source.id)
        if not circle:
            link_writing.put(connection, source, target, link.relation, stamp)
    hidden = consolidation.superseded_by(connection, [memory.id for memory in plan.merged])
    for memory in memories.fetch(connection, hidden).values():
        values: dict[str, FieldValue] = {"superseded_by": plan.survivor.id}
        writing.set_state(connection, memory, values, "supersede", stamp, other_id=plan.survivor.id)
