"""JSON values of a file: a line each, or the items of one array, read without holding the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from engine.domain.errors import InvalidInput
from engine.exchange.bytes_in import text_chunks, text_lines
from engine.exchange.records import Unreadable

# A document that is one object has to be held whole.
_DOCUMENT_LINES = 16
_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Value:
    """One JSON object with its place in the file."""

    place: str
    table: Mapping[str, object]


Read: TypeAlias = Value | Unreadable
_decoder = json.JSONDecoder()


def line_values(path: Path, encoding: str, max_bytes: int) -> Iterator[Read]:
    """The objects of a file of lines. Objects that were glued together on one line are read one
    after the other; what is no object is told with its line."""
    for line in text_lines(path, encoding, max_bytes):
        place = str(line.number)
        if line.error is not None:
            yield Unreadable(place, line.error)
        else:
            yield from _values_of(line.text, place)


def array_values(path: Path, encoding: str, max_bytes: int) -> Iterator[Read]:
    """The objects of a file that is one JSON array. Reading ends where the array is broken."""
    buffer, position, number, opened = "", 0, 0, False
    chunks = text_chunks(path, encoding)
    while True:
        position = _next_item(buffer, position, opened=opened)
        if not opened and buffer[position : position + 1] == "[":
            opened, position = True, position + 1
            continue
        if buffer[position : position + 1] == "]":
            return
        found = _item(buffer, position) if position < len(buffer) else None
        if found is not None:
            number += 1
            yield as_value(found[0], str(number))
            buffer, position = buffer[found[1] :], 0
            continue
        if len(buffer) > max_bytes:
            yield Unreadable(str(number + 1), InvalidInput("error.import_array"))
            return
        try:
            buffer += next(chunks)
        except StopIteration:
            yield Unreadable(str(number + 1), InvalidInput("error.import_array"))
            return
        except InvalidInput as error:
            yield Unreadable(str(number + 1), error)
            return


def document(path: Path, encoding: str, max_bytes: int) -> Mapping[str, object]:
    """The one object that a file is. Raises :class:`InvalidInput` for a broken or huge one."""
    limit = max_bytes * _DOCUMENT_LINES
    parts, total = [], 0
    for chunk in text_chunks(path, encoding):
        total += len(chunk)
        if total > limit:
            raise InvalidInput("error.import_document_too_long", limit_mb=limit / (1 << 20))
        parts.append(chunk)
    found = parsed("".join(parts))
    if not isinstance(found, Mapping):
        raise InvalidInput("error.import_not_object")
    return found


def parsed(text: str) -> object:
    """The JSON value of a text; raises :class:`InvalidInput` with what is wrong where."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput("error.import_json", column=error.colno, reason=error.msg) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("error.import_json", column=1, reason=str(error)[:80]) from error


def as_value(found: object, place: str) -> Read:
    """A JSON value as an object, or that it is none."""
    if isinstance(found, Mapping):
        return Value(place, found)
    return Unreadable(place, InvalidInput("error.import_not_object"))


def _values_of(text: str, place: str) -> Iterator[Read]:
    position = 0
    while position < len(text):
        try:
            found, position = _decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            reason = InvalidInput("error.import_json", column=error.colno, reason=error.msg)
            yield Unreadable(place, reason)
            return
        except (ValueError, RecursionError) as error:
            # An integer of thousands of digits, or bottomless nesting.
            reason = InvalidInput("error.import_json", column=1, reason=str(error)[:80])
            yield Unreadable(place, reason)
            return
        yield as_value(found, place)
        while position < len(text) and text[position] in _BLANKS:
            position += 1


def _next_item(buffer: str, position: int, *, opened: bool) -> int:
    skipped = _BLANKS + ("," if opened else "")
    while position < len(buffer) and buffer[position] in skipped:
        position += 1
    return position


def _item(buffer: str, position: int) -> tuple[object, int] | None:
    """The value at a place and where it ends; none while its end is not there yet. A number is
    only whole when something follows it."""
    try:
        found, end = _decoder.raw_decode(buffer, position)
    except (ValueError, RecursionError):
        return None
    return (found, end) if end < len(buffer) else None
