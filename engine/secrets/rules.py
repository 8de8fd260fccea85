"""The rule tables of secrets: forms that give a value away, and words that name one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

KEY = "key"
TOKEN = "token"
PASSWORD = "password"
PRIVATE_KEY = "private_key"
URL = "url"
KINDS = (KEY, TOKEN, PASSWORD, PRIVATE_KEY, URL)
"""What kinds of secrets there are; ``url`` is an address that carries one."""

SECRET = "secret"
_FORMS = ("vendors", "gitleaks")
_SAID = ("en", "zh")


@dataclass(frozen=True, slots=True)
class FormRule:
    """A secret known by its own form. Its group ``secret``, else its only group, else the whole
    match is the value. ``keywords`` (lower case) stand in every text that it can match."""

    name: str
    kind: str
    pattern: re.Pattern[str]
    keywords: tuple[str, ...]

    def span(self, match: re.Match[str]) -> tuple[int, int]:
        """Where the value stands."""
        if SECRET in self.pattern.groupindex:
            return match.span(SECRET)
        return match.span(1 if self.pattern.groups == 1 else 0)


@dataclass(frozen=True, slots=True)
class SaidRule:
    """A secret that is named before it. The match ends where the value begins; its groups say
    how they are joined: ``sign`` and ``own_sign`` (colon, equals sign), ``flag``,
    ``blank`` or a verb; ``filler`` is what stands between a Chinese name and the join."""

    kind: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class NoValues:
    """What may stand behind such a name and is no secret: whole ``values`` (lower case), how
    Chinese explanations start, and units behind a number."""

    values: frozenset[str]
    starts: tuple[str, ...]
    units: tuple[str, ...]


@cache
def form_rules() -> tuple[FormRule, ...]:
    """The rules of ``vendors.toml`` and ``gitleaks.toml``."""
    # ASCII: beside Chinese characters a word ends as it does beside a blank.
    return tuple(
        FormRule(
            rule["name"],
            rule["kind"],
            re.compile(rule["pattern"], re.ASCII),
            tuple(rule.get("keywords", ())),
        )
        for table in _FORMS
        for rule in _table(table)["rule"]
    )


@cache
def said_rules() -> tuple[SaidRule, ...]:
    """The rules of the tables ``said.*.toml``: passwords and keys by their names."""
    tables = {language: _table(f"said.{language}") for language in _SAID}
    return tuple(
        SaidRule(kind, re.compile(_said_pattern(tables, kind), re.IGNORECASE))
        for kind in (PASSWORD, KEY)
    )


@cache
def no_values() -> NoValues:
    """What the tables say is no secret."""
    tables = [_table(f"said.{language}")["none"] for language in _SAID]
    return NoValues(
        values=frozenset(value for table in tables for value in table["values"]),
        starts=tuple(start for table in tables for start in table.get("starts", ())),
        units=tuple(unit for table in tables for unit in table.get("units", ())),
    )


def _said_pattern(tables: Mapping[str, Any], kind: str) -> str:
    english, chinese = tables["en"], tables["zh"]
    names, own_names = english[kind]["names"], chinese[kind]["names"]
    words = "|".join(map(re.escape, english["join"]["words"]))
    own_words = "|".join(chinese["join"]["words"])
    named = rf"(?<![A-Za-z]){_any_of(names)}(?![A-Za-z])[\"'`*\]]{{0,3}}"
    own = rf"{_any_of(own_names)}[\"'`*”」』】\]]{{0,3}}"
    fillers, own_fillers = english["join"]["fillers"], chinese["join"]["fillers"]
    sign = r"[ \t]*(?P<{0}>:=|=>|->|→|=(?!=)|[:：＝](?!//))[ \t]*"
    joined = rf"(?:{sign.format('sign')}|\s+(?P<word>{words})(?![A-Za-z])\s*[:：]?\s*)"
    own_joined = (
        rf"(?:{sign.format('own_sign')}"
        rf"|\s*(?P<own_word>{own_words})了?\s*[:：]?\s*|(?P<blank>[ \t]+))"
    )
    flags = r"(?<![A-Za-z0-9-])--?(?P<flag>password|passwd|token|api-?key|secret)(?:[ =])"
    return rf"{named}{fillers}{joined}|{own}(?P<filler>{own_fillers}){own_joined}|{flags}"


def _any_of(names: Sequence[str]) -> str:
    """One of the names. Looks ahead for their first letters, so that most places of a text are
    passed at once."""
    first = "".join(sorted({name[0] for name in names}))
    return f"(?=[{first}])(?:{'|'.join(names)})"


def _table(name: str) -> dict[str, Any]:
    source = files("assets").joinpath("rules", "secrets", f"{name}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
