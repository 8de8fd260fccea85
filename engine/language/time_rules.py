"""The tables from which times are read: words with their values, and patterns made of them.

``assets/language/time/<language>.toml`` describes its own form. Nothing is loaded or compiled
before the first text is read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from engine.language.folding import fold_case
from engine.language.holidays import holiday_names

LANGUAGES = ("zh", "en")

WordValue = int | str | tuple[int, ...]
Words = Mapping[str, Mapping[str, WordValue]]

_PLACE = re.compile(r"\{(@?)([a-z_]\w*)\}")
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_OPTIONAL_SPACE = r"[ \t]?"
_NOTHING = r"(?!)"
# Between words of other scripts an English word has no space beside it, so borders are ASCII.
_EN_FLAGS = re.IGNORECASE | re.ASCII


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern (``source``), and how its groups are read.

    ``read`` names the reading; ``needs`` finds what must be in a text for the pattern to fit;
    ``relative`` marks times that count from now; ``count`` stands for the group of that name
    where the words leave it out ("the past week").
    """

    source: str
    flags: re.RegexFlag
    read: str
    needs: str
    relative: bool
    count: int | None

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a text first needs it."""
        return _compiled(self.source, self.flags)


@dataclass(frozen=True, slots=True)
class Around:
    """Words beside a time that change what it means: those that say it comes again (``every``),
    those that leave it open up to now (``since``), those that belong to it (``lead``)."""

    every: re.Pattern[str]
    lead: re.Pattern[str]
    since_before: re.Pattern[str]
    since_after: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Table:
    """All that is known of times in one language."""

    words: Words
    needs: Mapping[str, re.Pattern[str]]
    rules: tuple[Rule, ...]
    around: Around

    def rules_for(self, text: str) -> list[Rule]:
        """The rules whose needs a text meets."""
        folded = text.lower()
        met = {name for name, pattern in self.needs.items() if pattern.search(folded)}
        return [rule for rule in self.rules if rule.needs in met] if met else []


@dataclass(frozen=True, slots=True)
class Named:
    """The groups of a match by their values; ``month2`` is another place for ``month``."""

    match: re.Match[str]
    words: Words
    rule: Rule

    def text(self, name: str) -> str:
        """What stands there, empty for nothing."""
        groups = self.match.groupdict()
        return groups.get(name) or groups.get(f"{name}2") or ""

    def value(self, name: str) -> WordValue | None:
        """The value of what stands there: its word's, else its number."""
        text = fold_case(self.text(name))
        if not text:
            return self.rule.count if name == "count" else None
        known = self.words.get(name.removesuffix("_to"), {}).get(text)
        return number(text) if known is None else known

    def whole(self, name: str) -> int | None:
        """A value that is one number."""
        value = self.value(name)
        return value if isinstance(value, int) else None

    def word(self, name: str) -> str:
        """A value that is a word, empty for nothing."""
        value = self.value(name)
        return value if isinstance(value, str) else ""

    def numbers(self, name: str) -> tuple[int, ...]:
        """A value of several numbers."""
        value = self.value(name)
        return value if isinstance(value, tuple) else ()


def number(text: str) -> int | None:
    """The number that digits, Arabic or Chinese, name: ``3rd`` is 3, ``二〇二五`` 2025."""
    digits = re.match(r"[0-9]+", text)
    if digits:
        return int(digits[0])
    if "十" in text:
        tens, _, ones = text.partition("十")
        return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)
    if not text or any(digit not in _DIGITS for digit in text):
        return None
    return int("".join(str(_DIGITS[digit]) for digit in text))


@cache
def table(language: str) -> Table:
    """The table of one of :data:`LANGUAGES`."""
    source = files("assets") / "language" / "time" / f"{language}.toml"
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    words = _words(tables["words"]) | {"holiday": dict.fromkeys(holiday_names(language), 0)}
    return Table(
        words,
        {name: re.compile(needed) for name, needed in tables["needs"].items()},
        tuple(_rule(language, rule, tables["pieces"], words) for rule in tables["rules"]),
        _around(language, tables["around"]),
    )


def _words(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, WordValue]]:
    return {
        name: {
            word: tuple(value) if isinstance(value, list) else value
            for word, value in words.items()
        }
        for name, words in tables.items()
    }


def _rule(language: str, rule: Mapping[str, Any], pieces: Mapping[str, str], words: Words) -> Rule:
    source, flags = _spelled_out(rule["pattern"], pieces, words), re.NOFLAG
    if language == "zh":
        source = source.replace(" ", _OPTIONAL_SPACE)
    else:
        source, flags = rf"(?<!\w)(?:{source})(?!\w)", _EN_FLAGS
    relative, count = rule.get("relative", False), rule.get("count")
    return Rule(source, flags, rule["read"], rule["needs"], relative, count)


@cache
def _compiled(source: str, flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile(source, flags)


def _spelled_out(source: str, pieces: Mapping[str, str], words: Words) -> str:
    def fragment(place: re.Match[str]) -> str:
        marked, name = place.groups()
        if marked or name not in pieces:
            return _one_of(words[name])
        return _spelled_out(pieces[name], pieces, words)

    return _PLACE.sub(fragment, source)


def _one_of(words: Mapping[str, WordValue]) -> str:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(_escaped, longest_first))})"


def _escaped(word: str) -> str:
    # ``re.escape`` writes a space as "\ ", which the replacement of spaces would spoil.
    return re.escape(word).replace(r"\ ", " ")


def _around(language: str, marks: Mapping[str, list[str]]) -> Around:
    border, space = ("", _OPTIONAL_SPACE) if language == "zh" else (r"(?<!\w)", " ")

    def before(name: str) -> re.Pattern[str]:
        return re.compile(rf"{border}(?:{_any(marks[name])}){space}$", _EN_FLAGS)

    return Around(
        every=before("every"),
        lead=before("lead"),
        since_before=before("since_before"),
        since_after=re.compile(_any(marks["since_after"])),
    )


def _any(words: list[str]) -> str:
    return "|".join(words) if words else _NOTHING
