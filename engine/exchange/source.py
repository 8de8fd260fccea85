"""An opened file of memories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo

from engine.exchange.archive import Header
from engine.exchange.records import Item


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is to be read: the zone of its times, and the longest line in bytes."""

    zone: tzinfo | None
    max_line_bytes: int


@dataclass(frozen=True, slots=True)
class Source:
    """An opened file: its format, its encoding (empty where it has none), the header of an
    archive, and its records."""

    format: str
    items: Iterator[Item]
    encoding: str = ""
    header: Header | None = None
