"""The word lists by which people and named things are recognised, read from the assets."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FOLDER = ("rules", "entities")


@dataclass(frozen=True, slots=True)
class ChineseWords:
    """What Chinese names are made of, and what only looks like one."""

    surnames: frozenset[str]
    weak_surnames: frozenset[str]
    compound_surnames: tuple[str, ...]
    given: frozenset[str]
    never_last: frozenset[str]
    sure_after: frozenset[str]
    sure_before: frozenset[str]
    not_names: frozenset[str]
    titled: re.Pattern[str]
    work_titles: frozenset[str]
    no_short_title: frozenset[str]
    nickname: re.Pattern[str]
    not_nicknames: tuple[str, ...]
    known_topics: re.Pattern[str]
    institution: re.Pattern[str]
    places: frozenset[str]
    place_endings: str
    not_places: frozenset[str]
    cues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EnglishWords:
    """First names, and the capitalised words that are no names."""

    first_names: frozenset[str]
    double: frozenset[str]
    rare: frozenset[str]
    verbs: frozenset[str]
    titles: re.Pattern[str]
    roles: re.Pattern[str]
    pets: frozenset[str]
    naming: frozenset[str]
    greeting: re.Pattern[str]
    chinese_surnames: frozenset[str]
    not_addressed: frozenset[str]
    common: frozenset[str]
    leading: frozenset[str]
    ordinary: frozenset[str]
    institutions: frozenset[str]
    known: frozenset[str]
    not_topics: frozenset[str]

    def is_first_name(self, folded: str) -> bool:
        """Whether a word is a first name, perhaps a word as well."""
        return folded in self.first_names or folded in self.double


@cache
def chinese_words() -> ChineseWords:
    """The lists for Chinese."""
    table = tomllib.loads(_read("zh.toml"))
    names, titles, topics = table["names"], table["titles"], table["topics"]
    title = _title_pattern(titles["words"], titles["breaks"])
    surnames = frozenset(names["surnames"])
    compound = tuple(names["compound_surnames"])
    return ChineseWords(
        surnames=surnames,
        weak_surnames=frozenset(names["weak_surnames"]),
        compound_surnames=compound,
        given=frozenset(names["given"]),
        never_last=frozenset(names["never_last"]),
        sure_after=frozenset(names["sure_after"]),
        sure_before=frozenset(names["sure_before"]),
        not_names=frozenset(names["not_names"]),
        titled=_titled_pattern(surnames, compound, title),
        work_titles=frozenset(titles["work_titles"]),
        no_short_title=frozenset(titles["no_short_title"]),
        nickname=_nickname_pattern(table["nicknames"]),
        not_nicknames=tuple(table["nicknames"]["not_nicknames"]),
        known_topics=re.compile(_either(topics["known"])),
        institution=re.compile(f"(?:{_either(topics['endings'])})$"),
        places=frozenset(_lines("places.zh.txt")),
        place_endings=topics["place_endings"],
        not_places=frozenset(topics["not_places"]),
        cues=tuple(topics["cues"]),
    )


@cache
def english_words() -> EnglishWords:
    """The lists for English."""
    table = tomllib.loads(_read("en.toml"))
    names, words = table["names"], table["words"]
    titles = _either(names["titles"])
    return EnglishWords(
        first_names=frozenset(_lines("first_names.txt")),
        double=frozenset(names["double"]),
        rare=frozenset(names["rare"]),
        verbs=frozenset(names["verbs"]),
        titles=re.compile(rf"(?:{titles})\.?"),
        roles=re.compile(
            r"(?:\b(?:my|his|her|our|their|your)|['’]s)\s+(?:\w+\s+)?"
            rf"(?:{_either(names['roles'])}),?\s+$"
        ),
        pets=frozenset(names["pets"]),
        naming=frozenset(names["naming"]),
        greeting=re.compile(rf"(?<!\w)(?:{_either(names['greetings'])}),?\s+$", re.IGNORECASE),
        chinese_surnames=frozenset(names["chinese_surnames"]),
        not_addressed=frozenset(names["not_addressed"]),
        common=frozenset(words["common"]),
        leading=frozenset(words["leading"]),
        ordinary=frozenset(words["ordinary"]),
        institutions=frozenset(words["institutions"]),
        known=frozenset(words["known"]) | frozenset(words["places"]),
        not_topics=frozenset(words["not_topics"]),
    )


def _either(words: Iterable[str]) -> str:
    """A pattern for any of the words, long ones first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _title_pattern(words: Iterable[str], breaks: str) -> str:
    """Titles; one of a single character only where it does not begin another word."""
    after = dict(entry.split(":") for entry in breaks.split(";"))
    return "|".join(
        f"{re.escape(word)}(?![{after[word]}])" if word in after else re.escape(word)
        for word in sorted(words, key=len, reverse=True)
    )


def _titled_pattern(
    surnames: frozenset[str], compound: Iterable[str], title: str
) -> re.Pattern[str]:
    one = "".join(sorted(surnames))
    return re.compile(f"(?P<surname>{_either(compound)}|[{one}])(?P<title>{title})")


def _nickname_pattern(table: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(
        f"(?<![{table['before']}])小[{table['small']}]"
        f"|(?<![{table['before']}])老[{table['old']}]|(?<!阿)阿[{table['dear']}]"
    )


def _lines(name: str) -> list[str]:
    return [line for line in _read(name).splitlines() if not line.startswith("#")]


def _read(name: str) -> str:
    return files("assets").joinpath(*_FOLDER, name).read_text(encoding="utf-8")
