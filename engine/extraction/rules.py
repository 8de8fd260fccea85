"""Rule tables for atoms: read as data, one file a language, and those of the user.

A table is a TOML file with ``[words]`` (named lists, used in patterns as ``%name%``),
``[moments]`` (patterns for relations to time that name no date: "every day", "at 3 pm") and
``[[rule]]`` entries. Rules of all tables are tried in the order of their ``stage``; the first
that fits decides. A user's own tables (``<home>/rules/atoms/*.toml``) come first by default.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from engine.domain.atom import ATOM_TYPES
from engine.domain.errors import ConfigInvalid

LANGUAGES = ("zh", "en")
MOMENTS = ("past", "future", "moment", "season", "recurring")
_CODE_VERSION = "atoms-1"
_USER_STAGE = 0
_WORD_LIST = re.compile(r"%(\w+)%")
HAN, LATIN = "han", "latin"
# A table needs its script: most facts are spared half of the patterns.
_SCRIPTS = {"zh.toml": HAN, "en.toml": LATIN}
_HAN_LETTER = re.compile("[\u3400-\u9fff]")
_LATIN_LETTER = re.compile("[A-Za-z]")
_KEYS = {
    *("name", "type", "stage", "confidence", "pattern", "unless", "when", "never_when"),
    *("polarity", "case"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. It fits a fact that matches ``pattern`` and not ``unless``, with one of the
    time relations of ``when`` (if any are named) and none of ``never_when``."""

    name: str
    type: str
    stage: int
    confidence: float
    pattern: str
    unless: str | None
    flags: re.RegexFlag
    when: frozenset[str]
    never_when: frozenset[str]
    polarity: int
    script: str

    def fits(self, text: str, moments: frozenset[str], scripts: frozenset[str]) -> bool:
        """Whether the rule decides about ``text``, written in ``scripts``, whose times stand in
        the relations ``moments``."""
        if self.script and self.script not in scripts:
            return False
        if (self.when and not self.when & moments) or self.never_when & moments:
            return False
        if not compiled(self.pattern, self.flags).search(text):
            return False
        return self.unless is None or not compiled(self.unless, self.flags).search(text)


@dataclass(frozen=True, slots=True)
class RuleTable:
    """Rules in the order in which they are tried. ``version`` changes with any of them;
    ``problems`` are tables of the user that could not be used."""

    rules: tuple[Rule, ...]
    moments: tuple[tuple[str, str], ...]
    version: str
    problems: tuple[ConfigInvalid, ...] = ()

    def moments_in(self, text: str) -> frozenset[str]:
        """Relations to time that a text states without a date."""
        return frozenset(
            name for name, pattern in self.moments if compiled(pattern, re.IGNORECASE).search(text)
        )


@cache
def compiled(pattern: str, flags: re.RegexFlag) -> re.Pattern[str]:
    """A pattern, compiled when it is first tried: all of them together take a tenth of a second."""
    return re.compile(pattern, flags)


def scripts_of(text: str) -> frozenset[str]:
    """Which of the scripts that rule tables are made for a text holds; a text without letters
    counts as both."""
    found = [
        name for name, letter in ((HAN, _HAN_LETTER), (LATIN, _LATIN_LETTER)) if letter.search(text)
    ]
    return frozenset(found or (HAN, LATIN))


def load_rules(folder: Path | None = None) -> RuleTable:
    """The built-in rules, with the user's own of ``folder`` (``*.toml``) before them.

    Read again when a file there has changed. A broken table is left out and reported.
    """
    own = sorted(folder.glob("*.toml")) if folder is not None and folder.is_dir() else []
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in own)
    return _table(stamps)


@lru_cache(maxsize=8)
def _table(own: tuple[tuple[Path, int, int], ...]) -> RuleTable:
    digest = hashlib.sha256(_CODE_VERSION.encode())
    rules: list[Rule] = []
    moments: list[tuple[str, str]] = []
    problems: list[ConfigInvalid] = []
    for path, _, _ in own:
        try:
            source = path.read_text(encoding="utf-8")
            rules += [_tried(rule) for rule in _parsed(source, path.name, _USER_STAGE)]
        except (ConfigInvalid, OSError, ValueError) as error:
            problems.append(_problem(path, error))
        else:
            digest.update(source.encode())
    built_in = files("assets") / "rules" / "atoms"
    for language in LANGUAGES:
        source = (built_in / f"{language}.toml").read_text(encoding="utf-8")
        digest.update(source.encode())
        rules += _parsed(source, f"{language}.toml", None)
        moments += tomllib.loads(source).get("moments", {}).items()
    rules.sort(key=lambda rule: rule.stage)
    version = f"atoms:{digest.hexdigest()[:12]}"
    return RuleTable(tuple(rules), tuple(moments), version, tuple(problems))


def _tried(rule: Rule) -> Rule:
    """A user's pattern may be wrong: that shows when it is compiled."""
    for pattern in filter(None, (rule.pattern, rule.unless)):
        try:
            compiled(pattern, rule.flags)
        except re.error as error:
            raise ConfigInvalid("error.atom_rules", place=rule.name, reason=str(error)) from error
    return rule


def _problem(path: Path, error: Exception) -> ConfigInvalid:
    if isinstance(error, ConfigInvalid):
        return error
    return ConfigInvalid("error.atom_rules", place=str(path), reason=str(error))


def _parsed(source: str, place: str, stage: int | None) -> list[Rule]:
    table = tomllib.loads(source)
    words = {name: "|".join(values) for name, values in table.get("words", {}).items() if values}
    return [_rule(entry, words, place, stage) for entry in table.get("rule", [])]


def _rule(
    entry: Mapping[str, object], words: Mapping[str, str], place: str, stage: int | None
) -> Rule:
    name = str(entry.get("name", "?"))
    try:
        if unknown := sorted(set(entry) - _KEYS):
            raise ValueError(", ".join(unknown))
        chosen = str(entry["type"])
        if chosen not in ATOM_TYPES:
            raise ValueError(chosen)
        return Rule(
            name=name,
            type=chosen,
            stage=int(str(entry.get("stage", stage))),
            confidence=min(1.0, max(0.0, float(str(entry["confidence"])))),
            pattern=_spelled_out(str(entry.get("pattern", "")), words),
            unless=_spelled_out(str(entry["unless"]), words) if "unless" in entry else None,
            flags=re.NOFLAG if entry.get("case") else re.IGNORECASE,
            when=_moments(entry.get("when", [])),
            never_when=_moments(entry.get("never_when", [])),
            polarity=int(str(entry.get("polarity", 0))),
            script=_SCRIPTS.get(place, ""),
        )
    except (KeyError, ValueError) as error:
        raise ConfigInvalid(
            "error.atom_rules", place=f"{place}: {name}", reason=str(error)
        ) from error


def _spelled_out(pattern: str, words: Mapping[str, str]) -> str:
    return _WORD_LIST.sub(lambda match: f"(?:{words[match[1]]})", pattern)


def _moments(value: object) -> frozenset[str]:
    names = frozenset(map(str, value)) if isinstance(value, Iterable) else frozenset()
    if unknown := names - set(MOMENTS):
        raise ValueError(", ".join(sorted(unknown)))
    return names
