"""mcp-memory-service: the rows of its SQLite store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo

from engine.domain.errors import InvalidInput, JiyiError
from engine.domain.vocabulary import KINDS, RELATIONS
from engine.exchange import reading
from engine.exchange.records import (
    MEMORY_SERVICE,
    Item,
    Placed,
    SavedLink,
    SavedMemory,
    Unreadable,
)

_Rows = Callable[[str], Iterator[Mapping[str, object]]]
_RELATIONS = {"contradicts": "contradicts", "supersedes": "supersedes", "follows": "related"}


def items(tables: Sequence[str], rows: _Rows, zone: tzinfo | None) -> Iterator[Item]:
    """Every memory that was not deleted, then the links of its graph."""
    for number, row in enumerate(rows("memories"), 1):
        place = f"memories {number}"
        if row.get("deleted_at") is not None:
            continue
        try:
            yield Placed(place, _memory(row, zone))
        except JiyiError as error:
            yield Unreadable(place, error)
    if "memory_graph" in tables:
        for number, row in enumerate(rows("memory_graph"), 1):
            yield from _link(f"memory_graph {number}", row, zone)


def _memory(row: Mapping[str, object], zone: tzinfo | None) -> SavedMemory:
    text, key = reading.text(row.get("content")), reading.name(row.get("content_hash"))
    if not text.strip():
        raise InvalidInput("error.import_no_text")
    meta = reading.table_of(row.get("metadata"))
    sort = reading.name(row.get("memory_type"))
    created_at = _moment(row, "created_at", zone)
    return SavedMemory(
        uid=reading.derived_uid(MEMORY_SERVICE, key or text),
        fields=reading.given(
            text=text,
            kind=sort if sort in KINDS else None,
            tags=reading.labels(row.get("tags"), "" if sort in KINDS else sort or ""),
            importance=reading.share(meta.get("importance"), tenths=True),
        ),
        created_at=created_at,
        updated_at=_moment(row, "updated_at", zone) or created_at,
    )


def _moment(row: Mapping[str, object], name: str, zone: tzinfo | None) -> float | None:
    """The number, which is UTC, rather than the text beside it."""
    value = row.get(name)
    return reading.moment(row.get(f"{name}_iso") if value is None else value, zone)


def _link(place: str, row: Mapping[str, object], zone: tzinfo | None) -> Iterator[Item]:
    source, target = reading.name(row.get("source_hash")), reading.name(row.get("target_hash"))
    if source is None or target is None:
        return
    named = reading.text(row.get("relationship_type"))
    relation = named if named in RELATIONS else _RELATIONS.get(named, "related")
    link = SavedLink(
        source=reading.derived_uid(MEMORY_SERVICE, source),
        target=reading.derived_uid(MEMORY_SERVICE, target),
        relation=relation,
        created_at=reading.moment(row.get("created_at"), zone),
    )
    yield Placed(place, link)
