"""Tables of patterns that are data: one TOML file a language, tried in the order of ``stage``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine.extraction.rules import HAN, LATIN, compiled, scripts_of

_LANGUAGES = {"zh": HAN, "en": LATIN}
_WORD_LIST = re.compile(r"%(\w+)%")


@dataclass(frozen=True, slots=True)
class PatternRule:
    """A text in ``script`` that matches ``pattern`` and not ``unless`` is given ``value``.
    ``dated`` rules ask for a date besides."""

    name: str
    value: str
    stage: int
    script: str
    pattern: str
    unless: str | None
    dated: bool

    def fits(self, text: str) -> bool:
        """Whether the patterns decide about a text."""
        if not compiled(self.pattern, re.IGNORECASE).search(text):
            return False
        return self.unless is None or not compiled(self.unless, re.IGNORECASE).search(text)


@cache
def pattern_rules(table: str) -> tuple[PatternRule, ...]:
    """The rules of ``assets/rules/<table>``, lowest stage first, in file order within it."""
    rules = [rule for language in _LANGUAGES for rule in _read(table, language)]
    return tuple(sorted(rules, key=lambda rule: rule.stage))


def rules_for(table: str, text: str) -> Iterator[PatternRule]:
    """The rules of a table for the scripts that a text is written in."""
    scripts = scripts_of(text)
    return (rule for rule in pattern_rules(table) if rule.script in scripts)


def _read(table: str, language: str) -> Iterator[PatternRule]:
    source = files("assets").joinpath("rules", table, f"{language}.toml")
    content = tomllib.loads(source.read_text(encoding="utf-8"))
    words = {name: "|".join(values) for name, values in content.get("words", {}).items()}
    for entry in content["rule"]:
        yield PatternRule(
            name=entry["name"],
            value=str(entry["value"]),
            stage=entry["stage"],
            script=_LANGUAGES[language],
            pattern=_spelled_out(entry["pattern"], words),
            unless=_spelled_out(entry["unless"], words) if "unless" in entry else None,
            dated=entry.get("dated", False),
        )


def _spelled_out(pattern: str, words: dict[str, str]) -> str:
    return _WORD_LIST.sub(lambda match: f"(?:{words[match[1]]})", pattern)
