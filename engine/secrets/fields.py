"""Secrets in the authored fields of a memory, and in what the journal keeps of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from engine.domain.memory import FieldValue
from engine.secrets.masking import masked

_DETAILS = "details"
Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class MaskedFields:
    """Fields without secrets, and the kinds of those by the field they stood in."""

    fields: Mapping[str, FieldValue]
    kinds_by_field: Mapping[str, tuple[str, ...]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of all secrets."""
        return tuple(kind for kinds in self.kinds_by_field.values() for kind in kinds)


def masked_fields(fields: Mapping[str, FieldValue]) -> MaskedFields:
    """The fields with every secret in a text or list masked; the rest as it is."""
    kept: dict[str, FieldValue] = {}
    found: dict[str, tuple[str, ...]] = {}
    for name, value in fields.items():
        kept[name], kinds = masked_value(name, value)
        if kinds:
            found[name] = kinds
    return MaskedFields(kept, found)


def masked_value(name: str, value: FieldValue) -> tuple[FieldValue, tuple[str, ...]]:
    """The value of one field without secrets, and the kinds of those."""
    if isinstance(value, tuple):
        items = [masked(item) for item in value]
        return tuple(item.text for item in items), sum((item.kinds for item in items), ())
    if not isinstance(value, str):
        return value, ()
    if name != _DETAILS:
        plain = masked(value)
        return plain.text, plain.kinds
    kinds: list[str] = []
    parsed = _masked_json(json.loads(value), kinds)
    if not kinds:
        return value, ()
    # Written as domain.details writes it, so that equal details stay equal texts.
    return json.dumps(parsed, ensure_ascii=False, sort_keys=True), tuple(kinds)


def _masked_json(value: Json, kinds: list[str]) -> Json:
    if isinstance(value, str):
        plain = masked(value)
        kinds += plain.kinds
        return plain.text
    if isinstance(value, list):
        return [_masked_json(item, kinds) for item in value]
    if isinstance(value, dict):
        return {name: _masked_json(item, kinds) for name, item in value.items()}
    return value
