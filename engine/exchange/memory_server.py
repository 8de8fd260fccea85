"""The memory server of the Model Context Protocol: lines of entities with observations, and of
relations between them.

Each observation becomes a memory that names its entity; each relation a temporal fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.exchange import reading
from engine.exchange.records import (
    MEMORY_SERVER,
    Item,
    Placed,
    SavedFact,
    SavedMemory,
    Unreadable,
)
from engine.exchange.values_in import Value

_PERSON_TYPES = ("person", "people", "human", "user", "人", "人物", "用户")


def is_record(table: Mapping[str, object]) -> bool:
    """Whether an object is an entity or a relation."""
    if table.get("type") == "entity":
        return "name" in table
    return table.get("type") == "relation" and "from" in table


def items(value: Value, zone: tzinfo | None) -> Iterator[Item]:
    """The memories of an entity, or the fact that a relation is."""
    kind = value.table.get("type")
    if kind == "entity":
        yield from _entity(value)
    elif kind == "relation":
        yield _relation(value)
    else:
        error = InvalidInput("error.import_record_type", value=str(kind)[:40])
        yield Unreadable(value.place, error)


def _entity(value: Value) -> Iterator[Item]:
    name, sort = reading.name(value.table.get("name")), reading.name(value.table.get("entityType"))
    observations = value.table.get("observations", [])
    if name is None or not isinstance(observations, list):
        yield Unreadable(value.place, InvalidInput("error.import_record", type="entity", reason=""))
        return
    stated = [text for text in map(_observed, observations) if text]
    for observation in stated or [sort or name]:
        yield Placed(value.place, _memory(name, sort, observation))


def _observed(observation: object) -> str:
    """An observation is a text; some forks wrap it in an object."""
    if isinstance(observation, Mapping):
        observation = observation.get("content") or observation.get("text")
    return reading.text(observation).strip()


def _memory(name: str, sort: str | None, observation: str) -> SavedMemory:
    is_person = (sort or "").casefold() in _PERSON_TYPES
    text = observation if name in observation else f"{name}: {observation}"
    return SavedMemory(
        uid=reading.derived_uid(MEMORY_SERVER, f"{name}\n{observation}"),
        fields=reading.given(
            text=text,
            participants=[name] if is_person else [],
            topics=[] if is_person else [name],
            tags=reading.labels(sort or ""),
        ),
    )


def _relation(value: Value) -> Item:
    parts = [reading.name(value.table.get(key)) for key in ("from", "relationType", "to")]
    subject, predicate, target = parts
    if subject is None or predicate is None or target is None:
        return Unreadable(
            value.place, InvalidInput("error.import_record", type="relation", reason="")
        )
    uid = reading.derived_uid(MEMORY_SERVER, "\n".join((subject, predicate, target)))
    return Placed(value.place, SavedFact(uid, subject, predicate, target))
