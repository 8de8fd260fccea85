"""The tables by which two statements contradict each other: values, opposites, frames.

They are data (``assets/rules/conflicts/<language>.toml``); all languages are looked for in every
text, because mixed text is normal.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LANGUAGES = ("zh", "en")


@dataclass(frozen=True, slots=True)
class ValueRule:
    """A kind of value (a number, a weekday) and how it is written."""

    name: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class OppositeRule:
    """Words of two sides, of which one or the other holds."""

    name: str
    one: re.Pattern[str]
    other: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Frame:
    """A saying whose ``value`` only one thing can be at a time; with ``needs_class`` the two
    things have to be of one kind."""

    pattern: re.Pattern[str]
    needs_class: bool


@dataclass(frozen=True, slots=True)
class ConflictRules:
    """The tables of all languages together."""

    values: tuple[ValueRule, ...]
    opposites: tuple[OppositeRule, ...]
    frames: tuple[Frame, ...]
    classes: Mapping[str, re.Pattern[str]]
    events: re.Pattern[str]
    identifiers: re.Pattern[str]


@cache
def conflict_rules() -> ConflictRules:
    """The built-in tables."""
    tables = [_table(language) for language in LANGUAGES]
    return ConflictRules(
        values=_values(tables),
        opposites=tuple(
            OppositeRule(f"opposite {number}", _any_of(entry["one"]), _any_of(entry["other"]))
            for number, entry in enumerate(_entries(tables, "opposites"))
        ),
        frames=tuple(
            Frame(re.compile(str(entry["pattern"])), bool(entry.get("needs_class")))
            for entry in _entries(tables, "frame")
        ),
        classes=_classes(tables),
        events=re.compile("|".join(str(table["events"]) for table in tables)),
        identifiers=re.compile("|".join(str(table["identifiers"]) for table in tables)),
    )


def _values(tables: Sequence[Mapping[str, object]]) -> tuple[ValueRule, ...]:
    """One rule for each kind of value, in the order in which they are to be looked for."""
    patterns: dict[str, list[str]] = {}
    for entry in _entries(tables, "value"):
        patterns.setdefault(str(entry["name"]), []).append(str(entry["pattern"]))
    return tuple(ValueRule(name, re.compile("|".join(forms))) for name, forms in patterns.items())


def _entries(tables: Sequence[Mapping[str, object]], name: str) -> list[Mapping[str, object]]:
    return [entry for table in tables for entry in _list(table.get(name))]


def _list(value: object) -> list[Mapping[str, object]]:
    return value if isinstance(value, list) else []


def _classes(tables: Sequence[Mapping[str, object]]) -> dict[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for table in tables:
        classes = table.get("classes")
        if isinstance(classes, dict):
            found |= {str(name): _any_of(members) for name, members in classes.items()}
    return found


def _any_of(words: object) -> re.Pattern[str]:
    """One of the words, a Latin one as a whole word."""
    longest_first = (
        sorted(map(str, words), key=len, reverse=True) if isinstance(words, list) else []
    )
    # The bounds stand once for all: each word with bounds of its own costs several times as much.
    latin = "|".join(re.escape(word) for word in longest_first if word.isascii())
    whole = rf"(?<![a-z0-9])(?:{latin})(?![a-z0-9-])" if latin else ""
    others = [re.escape(word) for word in longest_first if not word.isascii()]
    return re.compile("|".join(form for form in (whole, *others) if form))


def _table(language: str) -> Mapping[str, object]:
    path = files("assets") / "rules" / "conflicts" / f"{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
