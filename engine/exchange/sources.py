"""Opening a file or folder of memories: what format it is, and its records one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from itertools import chain
from pathlib import Path

from engine.domain.errors import InvalidInput, JiyiError
from engine.exchange import (
    archive,
    bytes_in,
    folders,
    houkai,
    living_memory,
    mem0,
    memory_server,
    memory_service,
    values_in,
)
from engine.exchange.records import (
    ARCHIVE,
    HOUKAI,
    LINES,
    LIVING_MEMORY,
    MEM0,
    MEMORY_SERVER,
    MEMORY_SERVICE,
    Item,
    Unreadable,
)
from engine.exchange.source import Reading, Source
from engine.exchange.values_in import Read, Value

SQLITE_MAGIC = b"SQLite format 3\0"
_ZIP_MAGIC = b"PK\x03\x04"
_DOCUMENT_KEYS = ("memories", "results", "relations", "data")

Rows = Callable[[str], Iterator[Mapping[str, object]]]
"""The rows of a table of a foreign database, by column."""


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    with path.open("rb") as file:
        return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC


def database_in(path: Path) -> Path | None:
    """The database that is meant: the file itself, or the only fitting one of a data folder."""
    if path.is_file():
        return path if is_database(path) else None
    found = [item for item in sorted(path.glob("*.db")) if item.is_file() and is_database(item)]
    known = [item for item in found if "graph" not in item.stem and "convers" not in item.stem]
    return known[0] if len(known) == 1 and not any(path.glob("**/*.md")) else None


def open_database(tables: Sequence[str], rows: Rows, reading: Reading) -> Source:
    """The records of another program's database. Raises :class:`InvalidInput` for one of no
    program that is known."""
    if "documents" in tables:
        return Source(LIVING_MEMORY, living_memory.database_items(tables, rows, reading.zone))
    if "memories" in tables:
        return Source(MEMORY_SERVICE, memory_service.items(tables, rows, reading.zone))
    raise InvalidInput("error.import_unknown_database", tables=", ".join(tables)[:200])


def open_source(path: Path, reading: Reading) -> Source:
    """The records of a file or a folder of notes. Raises :class:`InvalidInput` for an encoding or
    a format that is not known, and for a packed file that is made to burst."""
    if path.is_dir():
        return folders.open_folder(path, reading.zone)
    sample = bytes_in.sample_of(path)
    if sample.startswith(_ZIP_MAGIC):
        raise InvalidInput("error.import_zip")
    bytes_in.require_sound_packing(path)
    encoding = bytes_in.encoding_of(sample)
    if path.suffix.lower() in (".md", ".markdown"):
        return folders.open_note(path, reading.zone)
    start = _start(sample, encoding)
    limit = reading.max_line_bytes
    if not start:
        return Source(LINES, iter(()), encoding)
    if start[0] == "[":
        return _values_source(values_in.array_values(path, encoding, limit), encoding, reading)
    if _is_document(start):
        return _document_source(path, encoding, reading)
    return _values_source(values_in.line_values(path, encoding, limit), encoding, reading)


def _start(sample: bytes, encoding: str) -> str:
    return sample.decode(encoding, "ignore").lstrip("\ufeff \t\r\n")


def _is_document(start: str) -> bool:
    """Whether a file is one object over several lines, or a collection in one."""
    first = start.partition("\n")[0].rstrip()
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        # Cut off where a collection is larger than the sample; a broken line is no collection.
        head = first[:200].replace(" ", "")
        return first in ("{", "[") or any(f'"{key}":[' in head for key in _DOCUMENT_KEYS)
    return isinstance(found, Mapping) and any(
        isinstance(found.get(key), (list, dict)) for key in _DOCUMENT_KEYS
    )


def _document_source(path: Path, encoding: str, reading: Reading) -> Source:
    table = values_in.document(path, encoding, reading.max_line_bytes)
    if table.get("format") == living_memory.TRANSFER_FORMAT:
        return Source(LIVING_MEMORY, living_memory.transfer_items(table, reading.zone), encoding)
    if mem0.is_export(table):
        return Source(MEM0, mem0.document_items(table, reading.zone), encoding)
    if not isinstance(table.get("memories"), list):
        return _values_source(iter([Value("1", table)]), encoding, reading)
    memories = table["memories"]
    assert isinstance(memories, list)
    values = (values_in.as_value(item, str(place)) for place, item in enumerate(memories, 1))
    return _values_source(values, encoding, reading)


def _values_source(values: Iterator[Read], encoding: str, reading: Reading) -> Source:
    """Objects of a file, in the format that the first of them shows."""
    before: list[Read] = []
    first: Value | None = None
    for read in values:
        before.append(read)
        if isinstance(read, Value):
            first = read
            break
    if first is None:
        return Source(LINES, iter([item for item in before if isinstance(item, Unreadable)]))
    if archive.is_header(first.table):
        header = archive.read_header(first.table)
        rest = chain(before[:-1], values)
        items = _each(rest, partial(_archived, reading.zone, ARCHIVE))
        return Source(ARCHIVE, items, encoding, header)
    name, reader = _reader(first.table, reading.zone)
    return Source(name, _each(chain(before, values), reader), encoding)


_One = Callable[[Value], Iterator[Item]]


def _reader(table: Mapping[str, object], zone: tzinfo | None) -> tuple[str, _One]:
    if memory_server.is_record(table):
        return MEMORY_SERVER, partial(memory_server.items, zone=zone)
    if houkai.is_record(table):
        return HOUKAI, partial(houkai.items, zone=zone)
    if mem0.is_record(table):
        return MEM0, partial(mem0.items, zone=zone)
    return LINES, partial(_archived, zone, LINES)


def _archived(zone: tzinfo | None, format_name: str, value: Value) -> Iterator[Item]:
    if archive.is_header(value.table):
        return
    yield archive.read_record(value, zone, format_name)


def _each(values: Iterator[Read] | chain[Read], reader: _One) -> Iterator[Item]:
    for read in values:
        if isinstance(read, Unreadable):
            yield read
            continue
        try:
            yield from reader(read)
        except JiyiError as error:
            yield Unreadable(read.place, error)
