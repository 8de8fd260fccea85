"""Predicates of facts: how they are compared, and which of them allow one object at a time."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from engine.extraction.graph import canonical

_LANGUAGES = ("en", "zh")
_JOINERS = str.maketrans("_-", "  ")


def predicate_key(predicate: str) -> str:
    """The form in which predicates are compared: that of names, with ``_`` and ``-`` as
    blanks, so that ``lives_in`` and ``Lives in`` are one."""
    return canonical(canonical(predicate).translate(_JOINERS))


def same_predicates(key: str, added: Sequence[str] = ()) -> tuple[str, ...]:
    """The keys that mean the same predicate, the given one first. ``added`` as in
    :func:`is_functional`."""
    return tuple(dict.fromkeys((key, *(_group(key, tuple(added)) or ()))))


def is_functional(key: str, added: Sequence[str] = ()) -> bool:
    """Whether a subject has one object of this predicate at a time: by the tables in
    ``assets/rules/facts`` and by the user's ``added`` predicates, each ``name`` or
    ``name|other name``."""
    return _group(key, tuple(added)) is not None


@cache
def _group(key: str, added: tuple[str, ...]) -> tuple[str, ...] | None:
    for entry in added:
        names = tuple(filter(None, map(predicate_key, entry.split("|"))))
        if key in names:
            return names
    return _tables().get(key)


@cache
def _tables() -> Mapping[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for language in _LANGUAGES:
        source = files("assets").joinpath("rules", "facts", f"{language}.toml")
        content = tomllib.loads(source.read_text(encoding="utf-8"))
        for name, words in content["functional"].items():
            groups.setdefault(name, []).extend(map(predicate_key, words))
    return MappingProxyType({key: tuple(keys) for keys in groups.values() for key in keys})
