"""The three-layer store of Aokun Memory and LivingMemory: documents, their atoms, their graph.

The graph is derived again. Atoms that are no key facts of their document become such.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.memory import FieldValue
from engine.domain.vocabulary import KINDS, SENTIMENTS
from engine.exchange import reading
from engine.exchange.records import (
    LIVING_MEMORY,
    Item,
    Placed,
    SavedMemory,
    SavedStrength,
    Unreadable,
)

TRANSFER_FORMAT = "livingmemory"
_Rows = Callable[[str], Iterator[Mapping[str, object]]]
# The line that its writers put before a text: 【原始时间 / original time: 2026-05-01 09:30】
_ORIGINAL_TIME = re.compile(
    r"\A\s*【\s*(?:原始时间[^:：】]*|original time)\s*[:：]\s*([^】]+)】\s*"
)
_GONE = ("deleted", "forgotten")


def database_items(tables: Sequence[str], rows: _Rows, zone: tzinfo | None) -> Iterator[Item]:
    """Every document that was not deleted."""
    atoms = _atoms(rows) if "memory_atoms" in tables else {}
    for number, row in enumerate(rows("documents"), 1):
        place = f"documents {number}"
        meta = reading.table_of(row.get("metadata"))
        if reading.text(meta.get("status")).lower() in _GONE:
            continue
        key = reading.name(row.get("doc_id")) or str(row.get("id"))
        dates = (meta.get("create_time"), row.get("created_at"))
        try:
            record = _memory(reading.text(row.get("text")), meta, key, dates, zone)
            yield Placed(place, _with_atoms(record, atoms.get(row.get("id"), ())))
        except JiyiError as error:
            yield Unreadable(place, error)


def transfer_items(table: Mapping[str, object], zone: tzinfo | None) -> Iterator[Item]:
    """The memories of an export file of LivingMemory."""
    memories = table.get("memories")
    for number, entry in enumerate(memories if isinstance(memories, list) else (), 1):
        row = entry if isinstance(entry, Mapping) else {}
        meta = dict(reading.table_of(row.get("metadata")))
        names = ("importance", "session_id", "persona_id", "topics", "key_facts", "participants")
        meta |= {name: row[name] for name in names if row.get(name) is not None}
        text = reading.text(row.get("content"))
        key = reading.name(row.get("original_id")) or text
        dates = (meta.get("create_time"), row.get("created_at"))
        try:
            yield Placed(str(number), _memory(text, meta, key, dates, zone))
        except JiyiError as error:
            yield Unreadable(str(number), error)


def _atoms(rows: _Rows) -> dict[object, list[str]]:
    """The texts of atoms by their document, forgotten ones left out."""
    found: dict[object, list[str]] = {}
    for row in rows("memory_atoms"):
        text = reading.text(row.get("content")).strip()
        if text and reading.text(row.get("status")).lower() not in _GONE:
            parent = row.get("parent_memory_id", row.get("memory_id"))
            found.setdefault(parent, []).append(text)
    return found


def _memory(
    text: str,
    meta: Mapping[str, object],
    key: str,
    dates: Sequence[object],
    zone: tzinfo | None,
) -> SavedMemory:
    body, original = _without_time(text, zone)
    if not body.strip():
        raise InvalidInput("error.import_no_text")
    stated = [moment for date in dates if (moment := reading.moment(date, zone)) is not None]
    created_at = stated[0] if stated else original
    kind, mood = reading.text(meta.get("memory_type")).lower(), meta.get("sentiment")
    event_time = reading.moment(meta.get("event_time"), zone)
    states: dict[str, FieldValue] = {}
    if reading.text(meta.get("status")).lower() == "archived":
        states["archived_at"] = created_at or 0.0
    return SavedMemory(
        uid=reading.derived_uid(LIVING_MEMORY, key),
        fields=reading.given(
            text=body,
            kind=kind if kind in KINDS else None,
            summary=reading.text(meta.get("canonical_summary")),
            persona_summary=reading.text(meta.get("persona_summary")),
            topics=reading.labels(meta.get("topics")),
            participants=reading.labels(meta.get("participants")),
            key_facts=reading.sentences(meta.get("key_facts")),
            sentiment=mood if mood in SENTIMENTS else None,
            importance=reading.share(meta.get("importance"), tenths=True),
            pinned=meta.get("pinned") is True,
            event_time=original if event_time is None else event_time,
        ),
        created_at=created_at,
        scope=reading.names(session_id=meta.get("session_id"), persona_id=meta.get("persona_id")),
        states=states,
        strength=_strength(meta, zone),
    )


def _without_time(text: str, zone: tzinfo | None) -> tuple[str, float | None]:
    """A text without the line that says when it was, and that time."""
    match = _ORIGINAL_TIME.match(text)
    if match is None:
        return text, None
    try:
        return text[match.end() :], reading.moment(match[1].strip(), zone)
    except InvalidInput:
        return text, None


def _strength(meta: Mapping[str, object], zone: tzinfo | None) -> SavedStrength | None:
    importance = reading.share(meta.get("importance"), tenths=True)
    count = meta.get("access_count")
    if importance is None or not isinstance(count, int) or count < 0:
        return None
    last = reading.moment(meta.get("last_access_time") or None, zone)
    return SavedStrength(importance, last_access=last, access_count=count)


def _with_atoms(record: SavedMemory, atoms: Sequence[str]) -> SavedMemory:
    known = record.fields.get("key_facts", [])
    assert isinstance(known, list)
    facts = reading.sentences([*known, *atoms])
    if not facts:
        return record
    return replace(record, fields=dict(record.fields) | {"key_facts": facts})
