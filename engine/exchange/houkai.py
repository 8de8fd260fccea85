"""``.ahkai`` archives: lines of memories with their links; the first line may be a header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.domain.memory import FieldValue
from engine.domain.vocabulary import KINDS, RELATIONS
from engine.exchange import reading
from engine.exchange.records import (
    HOUKAI,
    Item,
    Placed,
    SavedLink,
    SavedMemory,
    SavedStrength,
    Unreadable,
)
from engine.exchange.values_in import Value

_OF_A_MEMORY = ("id", "text", "type", "importance")
_OWN_SIGNS = ("last_accessed", "access_count", "links", "superseded_by")


def is_record(table: Mapping[str, object]) -> bool:
    """Whether an object is a header or a memory of such an archive."""
    if _is_header(table):
        return True
    return all(key in table for key in _OF_A_MEMORY) and any(key in table for key in _OWN_SIGNS)


def items(value: Value, zone: tzinfo | None) -> Iterator[Item]:
    """The memory of a line, and the links that start from it."""
    table = value.table
    if _is_header(table):
        return
    if not reading.text(table.get("text")).strip() or reading.name(table.get("id")) is None:
        yield Unreadable(value.place, InvalidInput("error.import_no_text"))
        return
    uid = reading.as_uid(table["id"], HOUKAI)
    yield Placed(value.place, _memory(table, uid, zone))
    links = table.get("links")
    for link in links if isinstance(links, list) else ():
        entry = reading.table_of(link)
        target, relation = reading.name(entry.get("to")), reading.text(entry.get("rel"))
        if target is not None:
            known = relation if relation in RELATIONS else "related"
            yield Placed(value.place, SavedLink(uid, reading.as_uid(target, HOUKAI), known))


def _is_header(table: Mapping[str, object]) -> bool:
    """A header names the format; it has no text."""
    names = (table.get(key) for key in ("format", "type", "kind", "magic"))
    named = any("ahkai" in str(name) or "houkai" in str(name) for name in names)
    return "text" not in table and (named or "embedding_model" in table)


def _memory(table: Mapping[str, object], uid: str, zone: tzinfo | None) -> SavedMemory:
    kind, polarity = table.get("type"), table.get("polarity")
    created_at = _moment(table, "created_at", zone)
    successor = reading.name(table.get("superseded_by"))
    states: dict[str, FieldValue] = {}
    if successor is not None:
        states["superseded_at"] = _moment(table, "superseded_at", zone) or created_at
    return SavedMemory(
        uid=uid,
        fields=reading.given(
            text=table["text"],
            kind=kind if kind in KINDS else None,
            tags=reading.labels(table.get("tags")),
            importance=reading.share(table.get("importance")),
            polarity=polarity if polarity in (-1, 0, 1) else None,
            pinned=table.get("pinned") is True,
            source=reading.name(table.get("source")),
            expires_at=_moment(table, "expires_at", zone),
        ),
        created_at=created_at,
        updated_at=_moment(table, "updated_at", zone) or created_at,
        states=states,
        superseded_by=None if successor is None else reading.as_uid(successor, HOUKAI),
        strength=_strength(table, zone),
    )


def _strength(table: Mapping[str, object], zone: tzinfo | None) -> SavedStrength | None:
    importance = reading.share(table.get("importance"))
    count = table.get("access_count")
    if importance is None or not isinstance(count, int) or count < 0:
        return None
    return SavedStrength(
        importance_now=importance,
        last_access=_moment(table, "last_accessed", zone),
        access_count=count,
    )


def _moment(table: Mapping[str, object], name: str, zone: tzinfo | None) -> float | None:
    """A time; there, 0 stands for none."""
    return reading.moment(table.get(name) or None, zone)
