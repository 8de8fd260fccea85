"""mem0: its memories as the library and the platform give them, and the relations of its graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from itertools import chain

from engine.domain.errors import InvalidInput, JiyiError
from engine.exchange import reading
from engine.exchange.records import MEM0, Item, Placed, SavedFact, SavedMemory, Unreadable
from engine.exchange.values_in import Read, Value, as_value

_LISTS = ("results", "memories", "data")


def is_record(table: Mapping[str, object]) -> bool:
    """Whether an object is one memory."""
    return isinstance(table.get("memory"), str)


def is_export(table: Mapping[str, object]) -> bool:
    """Whether an object holds lists of memories or relations."""
    if isinstance(table.get("relations"), list) and table["relations"]:
        return True
    lists = (table.get(name) for name in _LISTS)
    firsts = [value[0] for value in lists if isinstance(value, list) and value]
    return any(isinstance(first, Mapping) and is_record(first) for first in firsts)


def document_items(table: Mapping[str, object], zone: tzinfo | None) -> Iterator[Item]:
    """The memories, then the relations, of a whole export."""
    found = (value for name in _LISTS if isinstance(value := table.get(name), list))
    for place, entry in enumerate(chain.from_iterable(found), 1):
        read: Read = as_value(entry, str(place))
        if isinstance(read, Unreadable):
            yield read
            continue
        try:
            yield from items(read, zone)
        except JiyiError as error:
            yield Unreadable(read.place, error)
    relations = table.get("relations")
    for place, entry in enumerate(relations if isinstance(relations, list) else (), 1):
        yield _relation(f"relations {place}", entry)


def items(value: Value, zone: tzinfo | None) -> Iterator[Item]:
    """The memory that an object is."""
    table = value.table
    if not is_record(table):
        yield Unreadable(value.place, InvalidInput("error.import_no_text"))
        return
    meta = reading.table_of(table.get("metadata"))
    text = reading.text(table["memory"])
    key = reading.name(table.get("id"))
    created_at = reading.moment(table.get("created_at"), zone)
    record = SavedMemory(
        uid=reading.as_uid(key, MEM0) if key else reading.derived_uid(MEM0, text),
        fields=reading.given(
            text=text,
            topics=reading.labels(table.get("categories"), meta.get("category")),
            tags=reading.labels(meta.get("tags")),
            importance=reading.share(meta.get("importance"), tenths=True),
            event_time=reading.moment(meta.get("event_time"), zone),
            expires_at=reading.moment(table.get("expiration_date"), zone),
        ),
        created_at=created_at,
        updated_at=reading.moment(table.get("updated_at"), zone) or created_at,
        scope=reading.names(
            user_id=table.get("user_id"),
            agent=table.get("agent_id"),
            session_id=table.get("run_id"),
        ),
    )
    yield Placed(value.place, record)


def _relation(place: str, entry: object) -> Item:
    table = entry if isinstance(entry, Mapping) else {}
    subject = reading.name(table.get("source"))
    predicate = reading.name(table.get("relationship") or table.get("relation"))
    target = reading.name(table.get("target") or table.get("destination"))
    if subject is None or predicate is None or target is None:
        return Unreadable(place, InvalidInput("error.import_record", type="relation", reason=""))
    uid = reading.derived_uid(MEM0, "\n".join((subject, predicate, target)))
    return Placed(place, SavedFact(uid, subject, predicate, target))
