"""Secrets of a text, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.secrets.believable import MASK, Value, is_key, is_password, value_at
from engine.secrets.rules import (
    KEY,
    KINDS,
    PASSWORD,
    PRIVATE_KEY,
    URL,
    FormRule,
    SaidRule,
    form_rules,
    said_rules,
)

# A key goes on behind a dot or a dash; what a rule took for its end may be its middle.
_MORE = re.compile(r"(?:[._~+/=-]{0,3}[A-Za-z0-9]+)*={0,2}")
_HEAD = re.compile(r"(?:[A-Za-z][A-Za-z0-9]{0,7}[-_]){1,2}|AKIA|ASIA|LTAI|AKID|AKLT|AIza|eyJ")
_HIDDEN_AT_LEAST = 8
# Every known form has so many signs in a row; most sentences have not, in Chinese above all.
_LONG = re.compile(r"[!-~]{8}")
# Without one of these nothing in a text is named.
_NAMED = re.compile(
    r"pass|pwd|pin |code|key|token|secret|credential|\bak\b|\bsk\b|密|口令|暗号|令牌|码|凭证|金鑰",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A secret's place in its text (characters), its kind, one of
    :data:`engine.secrets.rules.KINDS`, and how many characters at its beginning are no secret:
    the mark of its maker."""

    start: int
    end: int
    kind: str
    public: int = 0


@dataclass(frozen=True, slots=True)
class Masked:
    """A text in which every secret is hidden, and the kinds of those."""

    text: str
    kinds: tuple[str, ...] = ()


def find_secrets(text: str) -> tuple[Found, ...]:
    """The secrets of a text in their order, none overlapping another. Any string is allowed."""
    found = sorted([*_by_form(text), *_by_name(text)], key=lambda one: (one.start, -one.end))
    joined: list[Found] = []
    for one in found:
        if joined and one.start < joined[-1].end:
            last = joined[-1]
            public = max(last.public, one.public) if one.start == last.start else last.public
            joined[-1] = Found(last.start, max(last.end, one.end), last.kind, public)
        else:
            joined.append(one)
    return tuple(joined)


def masked(text: str) -> Masked:
    """The text with ``[masked]`` in place of each secret; the public beginning of a key stays
    (``sk-…[masked]``). Masking twice changes nothing."""
    found = find_secrets(text)
    if not found:
        return Masked(text)
    parts, end = [], 0
    for one in found:
        parts += [text[end : one.start], _shown(text, one)]
        end = one.end
    return Masked("".join([*parts, text[end:]]), tuple(one.kind for one in found))


def counted(kinds: tuple[str, ...]) -> dict[str, int]:
    """How many there are of each kind."""
    return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}


def _shown(text: str, one: Found) -> str:
    if one.kind == PRIVATE_KEY:
        return f"\n{MASK}\n"
    return f"{text[one.start : one.start + one.public]}…{MASK}" if one.public else MASK


def _public(secret: str) -> int:
    head = _HEAD.match(secret)
    return head.end() if head and len(secret) - head.end() >= _HIDDEN_AT_LEAST else 0


def _by_form(text: str) -> Iterator[Found]:
    if not _LONG.search(text):
        return
    lowered = text.lower()
    for rule in form_rules():
        if not rule.keywords or any(word in lowered for word in rule.keywords):
            yield from _matches(text, rule)


def _matches(text: str, rule: FormRule) -> Iterator[Found]:
    for match in rule.pattern.finditer(text):
        start, end = rule.span(match)
        if MASK in text[start:end]:
            continue
        if rule.kind == KEY:
            more = _MORE.match(text, end)
            end = more.end() if more else end
        public = 0 if rule.kind == URL else _public(text[start:end])
        yield Found(start, end, rule.kind, public)


def _by_name(text: str) -> Iterator[Found]:
    if not _NAMED.search(text):
        return
    for rule in said_rules():
        for match in rule.pattern.finditer(text):
            value = value_at(text, match.end())
            if value is not None and _is_secret(text, rule, match, value):
                yield Found(value.start, value.end, rule.kind)


def _is_secret(text: str, rule: SaidRule, match: re.Match[str], value: Value) -> bool:
    if is_key(value):
        return True
    if rule.kind != PASSWORD:
        return False
    by_sign = bool(match["sign"] or match["flag"] or (match["own_sign"] and not match["filler"]))
    return is_password(text, value, by_sign=by_sign, by_blank=bool(match["blank"]))
