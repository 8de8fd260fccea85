"""Secrets in what the journal keeps: the values of fields before and after a change."""

from __future__ import annotations

import json

from engine.secrets.fields import masked_value
from engine.secrets.masking import Masked


def masked_entry(changes: str) -> Masked:
    """The changes of an entry (JSON: a field's value before and after) without secrets. What
    is no such JSON is left as it is."""
    try:
        parsed = json.loads(changes)
        pairs = [(name, before, after) for name, (before, after) in parsed.items()]
    except (ValueError, TypeError, AttributeError):
        return Masked(changes)
    kinds: list[str] = []
    kept = {name: [_value(name, value, kinds) for value in both] for name, *both in pairs}
    return Masked(json.dumps(kept, ensure_ascii=False), tuple(kinds)) if kinds else Masked(changes)


def _value(name: str, value: object, kinds: list[str]) -> object:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = tuple(value)
    if not isinstance(value, (str, tuple)):
        return value
    try:
        plain, found = masked_value(name, value)
    except ValueError:
        # Details that are no JSON are a text like others.
        plain, found = masked_value("text", value)
    kinds += found
    return plain
