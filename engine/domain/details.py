"""The details of structured kinds: which fields each has, and how they are checked.

Details are kept as one JSON text in a canonical form, so that equal details are equal texts; the
body of the memory stays its searchable text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from engine.domain import vocabulary
from engine.domain.errors import InvalidInput
from engine.domain.memory import FieldValue
from engine.domain.text import scrub

MAX_DETAIL_CHARS = 20_000
MAX_ALTERNATIVES = 50
STATUSES = ("open", "answered", "dropped")
_HIGHEST, _LOWEST = 1, 3

DetailValue = str | int | tuple[str, ...]
"""The value of one field of the details."""


def checked(value: object) -> str | None:
    """Details as stored, from a mapping or its JSON text; fields without a value are left out.
    Which kind they fit is a question of its own: :func:`require_fitting`.

    Raises :class:`InvalidInput` for anything else, an unknown field or a bad value.
    """
    given = _parsed(value) if isinstance(value, str) else value
    if not isinstance(given, Mapping):
        raise InvalidInput("error.expected_details")
    found = {str(name): _checked_one(str(name), item) for name, item in given.items()}
    kept = {name: item for name, item in found.items() if item not in (None, ())}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True) if kept else None


def require_fitting(kind: str, details: FieldValue) -> None:
    """Refuse details of another kind than the memory's."""
    if not isinstance(details, str):
        return
    allowed = FIELDS_BY_KIND.get(kind, {})
    for name in json.loads(details):
        if name not in allowed:
            raise InvalidInput(
                "error.details_of_kind" if allowed else "error.kind_without_details",
                name=name,
                kind=kind,
                allowed=", ".join(allowed) or ", ".join(FIELDS_BY_KIND),
            )


def kind_of(details: FieldValue) -> str | None:
    """The one kind that has all these fields, if only one has."""
    names = set(json.loads(details)) if isinstance(details, str) else set()
    fitting = [kind for kind, fields in FIELDS_BY_KIND.items() if names and names <= set(fields)]
    return fitting[0] if len(fitting) == 1 else None


def read(details: str | None) -> dict[str, DetailValue]:
    """The fields of stored details; a question without a status is open."""
    if details is None:
        return {}
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(details).items()
    }


def _parsed(text: str) -> object:
    try:
        return json.loads(scrub(text))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("error.expected_details") from error


def _checked_one(name: str, value: object) -> DetailValue | None:
    convert = _FIELDS.get(name)
    if convert is None:
        vocabulary.check("details", name, _FIELDS)
        raise AssertionError(name)
    return None if value is None else convert(name, value)


def _text(name: str, value: object) -> str | None:
    if not isinstance(value, str):
        raise InvalidInput("error.expected_text", name=f"details.{name}")
    text = scrub(value).strip()
    if len(text) > MAX_DETAIL_CHARS:
        raise InvalidInput(
            "error.too_long", name=f"details.{name}", length=len(text), limit=MAX_DETAIL_CHARS
        )
    return text or None


def _texts(name: str, value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, Sequence) or isinstance(items, (bytes, bytearray)):
        raise InvalidInput("error.expected_list", name=f"details.{name}")
    if len(items) > MAX_ALTERNATIVES:
        raise InvalidInput(
            "error.too_many", name=f"details.{name}", count=len(items), limit=MAX_ALTERNATIVES
        )
    return tuple(text for text in map(partial(_text, name), items) if text)


def _priority(name: str, value: object) -> int:
    number = int(value) if isinstance(value, str) and value.strip() in "123" and value else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidInput("error.expected_number", name=f"details.{name}")
    if not _HIGHEST <= number <= _LOWEST:
        raise InvalidInput(
            "error.out_of_range", name=f"details.{name}", value=number, low=_HIGHEST, high=_LOWEST
        )
    return number


def _status(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("error.expected_text", name=f"details.{name}")
    return vocabulary.check(f"details.{name}", value, STATUSES)


_Convert = Callable[[str, object], DetailValue | None]

FIELDS_BY_KIND: Mapping[str, Mapping[str, _Convert]] = {
    "decision": {"what": _text, "why": _text, "how": _text, "alternatives": _texts},
    "resolved": {"problem": _text, "cause": _text, "fix": _text},
    "question": {"question": _text, "priority": _priority, "status": _status, "answer": _text},
    "knowledge": {"statement": _text, "reference": _text},
}
"""The fields of each structured kind. A question's priority goes from 1 (high) to 3 (low)."""

_FIELDS: Mapping[str, _Convert] = {
    name: convert for fields in FIELDS_BY_KIND.values() for name, convert in fields.items()
}
