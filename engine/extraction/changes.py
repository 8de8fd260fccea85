"""Facts that say that something changed, and which former fact they end.

The ways to say so are data (``assets/rules/changes/<language>.toml``). A change ends a fact
only when both speak of the same subject and the former one says what the change replaces.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine.extraction.rules import HAN, LATIN, compiled, scripts_of
from engine.language.folding import fold

REPLACE, RETURN, STOP = "replace", "return", "stop"
_SCRIPTS = {"zh": HAN, "en": LATIN}
# A long sentence tells more than a change; what it ends cannot be told by its form.
_LONGEST = {HAN: 40, LATIN: 90}
_EDGES = ' \t,，。.!！?？、:：;；"“”'


@dataclass(frozen=True, slots=True)
class Change:
    """What a fact says about a former one. Empty parts were not said.

    ``kind`` is ``replace`` (by ``value``, of ``old``), ``return`` (to ``value``) or ``stop``
    (``object`` no longer holds); ``sign`` is a pattern that the former fact has to show.
    """

    rule: str
    kind: str
    subject: str
    value: str
    old: str
    object: str
    verb: str
    sign: str
    strict: bool
    self_prefix: str

    @property
    def is_thing(self) -> bool:
        """Whether a thing with a name ended, not a habit of somebody."""
        return self.kind == STOP and self.rule.endswith(".cancelled")

    @property
    def lookup(self) -> str:
        """The words by which the former fact may be found."""
        named = "" if self.is_own else self.subject
        if self.kind == RETURN:
            return f"{named} {self.value}"
        said = " ".join(filter(None, (named, self.old, self.object, self.verb)))
        return said or " ".join(
            member for name in _classes_in(self.value) for member in _classes()[name]
        )

    @property
    def is_own(self) -> bool:
        """Whether it is about the speaker: nobody is named."""
        return bool(compiled(self.self_prefix, re.IGNORECASE).match(self.subject))


@dataclass(frozen=True, slots=True)
class _Pattern:
    name: str
    kind: str
    pattern: str
    sign: str
    needs: str
    strict: bool
    self_prefix: str


def change_in(text: str) -> Change | None:
    """The change that a fact states, if it states one."""
    plain = fold(text)
    scripts = scripts_of(plain)
    for language, script in _SCRIPTS.items():
        if script not in scripts or len(plain) > _LONGEST[script]:
            continue
        for entry in _patterns(language):
            if entry.needs and not compiled(entry.needs, re.IGNORECASE).search(plain):
                continue
            found = compiled(entry.pattern, re.IGNORECASE).match(plain)
            if found:
                return _change(entry, found.groupdict())
    return None


def ends(change: Change, former: str) -> int:
    """How surely a former fact is the one that the change puts an end to: 0 it is not, 2 it
    names what is replaced or a thing of the same class, 1 only its form says so.

    For ``return`` it is the fact to which one returns, which was superseded meanwhile.
    """
    plain = fold(former)
    if change.kind == RETURN:
        return 2 * (_has_all(plain, change.value) and _is_about(change, plain, change.value))
    if change.kind == STOP:
        return 2 * _names_what_stops(change, plain)
    if change.value and change.value in plain:
        return 0
    if change.old:
        return 2 * (_has_all(plain, change.old) and _is_about(change, plain, change.old))
    return _shows_the_same(change, plain)


def _names_what_stops(change: Change, plain: str) -> bool:
    if not _has_all(plain, change.object) or _is_about_a_part(plain, change.object):
        return False
    # What is called off has a name of its own; what somebody gives up is that person's.
    return change.is_thing or _is_about(change, plain, change.object)


def _shows_the_same(change: Change, plain: str) -> int:
    new, known = _classes_in(change.value), _classes_in(plain)
    shared = new & known
    # A database does not take the place of a programming language.
    if not shared and new and (known or change.strict):
        return 0
    anchor = _anchor(change, plain, shared)
    if anchor is None or not _is_about(change, plain, anchor):
        return 0
    return 2 if shared else 1


def _anchor(change: Change, plain: str, shared: frozenset[str]) -> str | None:
    """The part of the former fact that the change replaces."""
    if change.sign:
        sign = change.sign.replace("{verb}", re.escape(change.verb))
        found = compiled(sign, re.IGNORECASE).search(plain, _after(plain, change.subject))
        if found:
            return found[0]
    for name in shared:
        return next(word for word in _classes()[name] if word in plain)
    return None


def _after(plain: str, subject: str) -> int:
    place = plain.find(subject) if subject else -1
    return place + len(subject) if place >= 0 else 0


def _is_about(change: Change, plain: str, anchor: str) -> bool:
    """Whether the former fact has the subject of the change: the named one, or the speaker."""
    if not change.is_own:
        return _has_all(plain, change.subject) and not _is_about_a_part(plain, change.subject)
    start = plain.find(anchor.strip().split(" ")[0])
    prefix = plain[: max(0, start)]
    return bool(compiled(change.self_prefix, re.IGNORECASE).match(prefix))


def _is_about_a_part(plain: str, subject: str) -> bool:
    """ "周三例会的主持人" is not the meeting, "Pedro's sister" is not Pedro."""
    core = subject.strip()
    return bool(core) and (
        re.search(rf"{re.escape(core)}的[^是]{{1,8}}(?:是|为|叫|在)", plain) is not None
        or re.search(rf"\b{re.escape(core)}'s\s", plain) is not None
    )


def _has_all(plain: str, words: str) -> bool:
    parts = [part.strip(_EDGES) for part in fold(words).split()]
    parts = [part for part in parts if part not in _ARTICLES]
    return bool(parts) and all(_has(plain, part) for part in parts)


_ARTICLES = frozenset({"", "the", "a", "an", "my", "our", "his", "her", "their"})


def _has(plain: str, part: str) -> bool:
    if part in plain:
        return True
    # A Chinese part is not cut into words here: both halves may stand apart.
    if len(part) >= 4 and not part.isascii():
        return part[:2] in plain and part[2:] in plain
    return part.isascii() and len(part) > 4 and part[:-1] in plain


def _classes_in(text: str) -> frozenset[str]:
    return frozenset(name for name, members in _class_patterns().items() if members.search(text))


def _change(entry: _Pattern, parts: Mapping[str, str | None]) -> Change:
    def part(name: str) -> str:
        return " ".join((parts.get(name) or "").split()).strip(_EDGES)

    return Change(
        rule=entry.name,
        kind=entry.kind,
        subject=part("subject"),
        value=part("value"),
        old=part("old"),
        object=part("object"),
        verb=part("verb"),
        sign=entry.sign,
        strict=entry.strict,
        self_prefix=entry.self_prefix,
    )


@cache
def _patterns(language: str) -> tuple[_Pattern, ...]:
    table = _table(language)
    prefix = str(table["self_prefix"])
    entries = table["change"]
    assert isinstance(entries, list)
    return tuple(_pattern(entry, prefix) for entry in entries)


def _pattern(entry: Mapping[str, str], self_prefix: str) -> _Pattern:
    return _Pattern(
        entry["name"],
        entry["kind"],
        entry["pattern"],
        entry.get("sign", ""),
        entry.get("needs", ""),
        bool(entry.get("strict")),
        self_prefix,
    )


@cache
def _class_patterns() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile("|".join(_member_pattern(member) for member in members))
        for name, members in _classes().items()
    }


def _member_pattern(member: str) -> str:
    escaped = re.escape(member)
    return rf"(?<![a-z0-9]){escaped}(?![a-z0-9])" if member.isascii() else escaped


@cache
def _classes() -> Mapping[str, tuple[str, ...]]:
    together: dict[str, tuple[str, ...]] = {}
    for language in _SCRIPTS:
        for name, members in _members(language):
            together[name] = (*together.get(name, ()), *members)
    return together


def _members(language: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    classes = _table(language)["classes"]
    assert isinstance(classes, dict)
    for name, members in classes.items():
        yield name, tuple(members)


@cache
def _table(language: str) -> Mapping[str, object]:
    path = files("assets") / "rules" / "changes" / f"{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
