"""How memories are named by people and programs.

A memory has an integer ``id`` (shown as ``#123``, never reused in one store) and a ``uid``
(UUIDv7, stable across export and sync). Every surface accepts ``#123``, ``123``, the uid and
its short form: the LAST eight hex digits, because the first ones are equal for hours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.domain.errors import InvalidInput

MAX_ID = 2**63 - 1
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT_UID = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class MemoryRef:
    """A reference as typed: at least one of the three forms is set.

    Eight decimal digits may be an id or a short uid; then both are set and the id wins
    when it exists.
    """

    id: int | None = None
    uid: str | None = None
    short_uid: str | None = None

    def __str__(self) -> str:
        return f"#{self.id}" if self.id is not None else (self.uid or self.short_uid or "")


def parse_ref(value: str | int) -> MemoryRef:
    """Read a reference to a memory; raise :class:`InvalidInput` when it is none."""
    raw = str(value).strip().lower()
    number = raw.removeprefix("#")
    ident = _decimal(number)
    if raw.startswith("#"):
        if ident is not None:
            return MemoryRef(id=ident)
    elif _UID.fullmatch(raw):
        return MemoryRef(uid=raw)
    elif _SHORT_UID.fullmatch(raw):
        return MemoryRef(id=ident, short_uid=raw)
    elif ident is not None:
        return MemoryRef(id=ident)
    raise InvalidInput("error.bad_ref", value=str(value)[:60])


def short_uid(uid: str) -> str:
    """The last eight hex digits of a uid."""
    return uid[-8:]


def _decimal(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        return None
    number = int(text)
    return number if 0 < number <= MAX_ID else None
