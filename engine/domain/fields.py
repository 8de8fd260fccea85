"""The authored fields of a memory, declared once: type, range and vocabulary.

Every surface hands raw values to :func:`validated`; nothing else checks them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from engine.domain import details, vocabulary
from engine.domain.errors import InvalidInput
from engine.domain.memory import FieldValue
from engine.domain.text import scrub

MAX_LABELS = 100
MAX_LABEL_CHARS = 500
MAX_SHORT_TEXT_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Field:
    """One authored field: how a raw value becomes a stored one, and what "cleared" means."""

    convert: Callable[[str, object], FieldValue]
    cleared: FieldValue
    clearable: bool = True


def validated(raw: Mapping[str, object]) -> dict[str, FieldValue]:
    """Check and convert authored fields; ``None`` clears a field.

    Raises :class:`InvalidInput` for an unknown name (with the nearest known one), a wrong
    type or a value outside its range.
    """
    return {name: _validated_one(name, value) for name, value in raw.items()}


def defaults() -> dict[str, FieldValue]:
    """The value of each authored field when a writer leaves it out (``text`` has none)."""
    return {name: field.cleared for name, field in FIELDS.items() if name != "text"}


def _validated_one(name: str, value: object) -> FieldValue:
    field = FIELDS.get(name)
    if field is None:
        vocabulary.check("field", name, FIELDS)
        raise AssertionError(name)
    if value is not None:
        return field.convert(name, value)
    if not field.clearable:
        raise InvalidInput("error.not_clearable", name=name)
    return field.cleared


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("error.expected_text", name=name)
    text = scrub(value)
    if not text.strip():
        raise InvalidInput("error.empty_text", name=name)
    return text


def _short_text(name: str, value: object) -> str | None:
    if not isinstance(value, str):
        raise InvalidInput("error.expected_text", name=name)
    text = scrub(value).strip()
    if len(text) > MAX_SHORT_TEXT_CHARS:
        raise InvalidInput(
            "error.too_long", name=name, length=len(text), limit=MAX_SHORT_TEXT_CHARS
        )
    return text or None


def _named(name: str, value: object) -> str:
    text = _short_text(name, value)
    if text is None:
        raise InvalidInput("error.empty_text", name=name)
    return text


def _labels(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput("error.expected_list", name=name)
    labels = dict.fromkeys(label for label in map(partial(_label, name), value) if label)
    if len(labels) > MAX_LABELS:
        raise InvalidInput("error.too_many", name=name, count=len(labels), limit=MAX_LABELS)
    return tuple(labels)


def _label(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("error.expected_list", name=name)
    label = " ".join(scrub(value).split())
    if len(label) > MAX_LABEL_CHARS:
        raise InvalidInput("error.too_long", name=name, length=len(label), limit=MAX_LABEL_CHARS)
    return label


def _number(low: float, high: float, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput("error.expected_number", name=name)
    # Compared before it is converted: an integer may be too large for a float.
    if not low <= value <= high:
        raise InvalidInput("error.out_of_range", name=name, value=value, low=low, high=high)
    return float(value)


def _stance(name: str, value: object) -> int:
    number = _number(-1, 1, name, value)
    if not number.is_integer():
        raise InvalidInput("error.not_allowed", name=name, value=value, allowed="-1, 0, 1")
    return int(number)


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput("error.expected_switch", name=name)
    return value


def _choice(allowed: tuple[str, ...], name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("error.expected_text", name=name)
    return vocabulary.check(name, value, allowed)


def _details(name: str, value: object) -> str | None:
    return details.checked(value)


_instant = partial(_number, -30_610_224_000.0, 221_845_392_000.0)

FIELDS: dict[str, Field] = {
    "text": Field(_text, None, clearable=False),
    "summary": Field(_short_text, None),
    "persona_summary": Field(_short_text, None),
    "kind": Field(partial(_choice, vocabulary.KINDS), "semantic"),
    "topics": Field(_labels, ()),
    "participants": Field(_labels, ()),
    "key_facts": Field(_labels, ()),
    "tags": Field(_labels, ()),
    "sentiment": Field(partial(_choice, vocabulary.SENTIMENTS), None),
    "polarity": Field(_stance, 0),
    "importance": Field(partial(_number, 0.0, 1.0), 0.5),
    "pinned": Field(_switch, False),
    "private": Field(_switch, False),
    "source": Field(_named, "chat"),
    "source_ref": Field(_short_text, None),
    "trust": Field(partial(_choice, vocabulary.TRUSTS), "assistant"),
    "event_time": Field(_instant, None),
    "expires_at": Field(_instant, None),
    "details": Field(_details, None),
}
"""Every authored field by name."""

LABEL_FIELDS = ("topics", "participants", "tags")
"""List fields that filters match exactly (folded)."""

INDEXED_FIELDS = ("text", "summary", "topics", "participants", "key_facts", "tags")
"""Fields that full-text search reads; a change of one re-indexes the memory."""

EMBEDDED_FIELDS = ("text",)
"""Fields that are embedded; a change of one makes new vectors."""
