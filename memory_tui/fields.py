"""Fields of a memory as a person types and reads them on one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.domain.fields import validated
from engine.domain.memory import Memory
from engine.domain.times import iso, parse_instant

FORM_FIELDS = (
    "kind",
    "importance",
    "tags",
    "topics",
    "participants",
    "key_facts",
    "event_time",
    "expires_at",
    "pinned",
    "private",
    "polarity",
    "sentiment",
    "summary",
    "persona_summary",
    "source_ref",
)
"""The fields of the form, in its order."""

_LISTS = ("tags", "topics", "participants", "key_facts")
_TIMES = ("event_time", "expires_at")
_SWITCHES = ("pinned", "private")
_COMMAS = re.compile("[,，、]")
_SEMICOLONS = re.compile("[;；]")
_YES = ("yes", "y", "true", "1", "是", "on")
_NO = ("no", "n", "false", "0", "否", "off", "")


def shown_field(memory: Memory | None, name: str, zone: tzinfo | None) -> str:
    """The value of a field as it stands in the form; empty for none."""
    value = getattr(memory, name) if memory is not None else None
    if value is None or value == ():
        return ""
    if name in _LISTS:
        return _joined(value)
    if name in _TIMES:
        return iso(value, zone)
    if name in _SWITCHES:
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_field(name: str, typed: str, zone: tzinfo | None) -> object:
    """What was typed, as the engine takes it; ``None`` clears. Raises InvalidInput."""
    text = typed.strip()
    if not text and name not in ("kind", "importance", "polarity", *_SWITCHES):
        return None
    value = _READERS.get(name, _word)(name, text, zone)
    if value is not None:
        validated({name: value})
    return value


def _joined(values: tuple[str, ...]) -> str:
    """Commas between values, or semicolons when a value has a comma of its own."""
    if not any(_COMMAS.search(value) for value in values):
        return ", ".join(values)
    return "; ".join(values) + (";" if len(values) == 1 else "")


def _list(_name: str, text: str, _zone: tzinfo | None) -> object:
    between = _SEMICOLONS if _SEMICOLONS.search(text) else _COMMAS
    return [part.strip() for part in between.split(text) if part.strip()]


def _time(_name: str, text: str, zone: tzinfo | None) -> object:
    return parse_instant(text, zone)


def _switch(name: str, text: str, _zone: tzinfo | None) -> object:
    if text.lower() in (*_YES, *_NO):
        return text.lower() in _YES
    raise InvalidInput("error.expected_switch", name=name)


def _number(name: str, text: str, _zone: tzinfo | None) -> object:
    if not text:
        return None
    try:
        return float(text)
    except ValueError as error:
        raise InvalidInput("error.expected_number", name=name) from error


def _word(_name: str, text: str, _zone: tzinfo | None) -> object:
    return text or None


_READERS: dict[str, Callable[[str, str, tzinfo | None], object]] = {
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(_TIMES, _time),
    **dict.fromkeys(_SWITCHES, _switch),
    "importance": _number,
    "polarity": _number,
}
