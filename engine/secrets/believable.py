"""Whether what stands behind the name of a secret is one, or only talks about it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.secrets.rules import NoValues, no_values

MASK = "[masked]"
"""What stands in place of a secret."""

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
_BARE = re.compile(r"[\x21-\x7e]{1,300}")
_NEXT_PAIR = re.compile(r"[&,;](?=[A-Za-z_]{1,40}=)")
_TRAILING = ".,;:)]}'\"`>"
_HAN = re.compile(r"[\u3400-\u9fff]{2,12}(?![\u3400-\u9fffA-Za-z0-9])")
_HAN_NEXT = re.compile(r"[\u3400-\u9fff]")
_ENDED = re.compile(r"[ \t]*(?:$|[\n。，；！？、,.;!?)）\]】}」”\"'`])")
_PLACEHOLDER = re.compile(
    r"[*•xX.…_?#-]+|[*•]+.*|[<$%{\[(].*|your[-_ ].*|my[-_ ].*|example.*|https?://.*|[~.]{0,2}/.*"
    r"|\d{4}-\d{1,2}-\d{1,2}.*|.*\.\.\.|os\.\w.*|process\.env.*|\\.*",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z_][\w.]*[(\[{].*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|.*(?:\$\{|\{\{).*")
_NAME_LIKE = re.compile(r"[A-Za-z]+(?:[-_.'][A-Za-z]+)*|(?:[A-Z][a-z]+)+")
_FEW_NUMBERS = re.compile(r"\d{1,3}|[\d.~-]{1,5}")
_PARTICIPLES = ("ed", "en", "ing", "able", "ible")
_MIN_PASSWORD, _MIN_KEY = 3, 8
_KEY = re.compile(r"[A-Za-z0-9_\-./+=~:|%]+")
_KEY_PART = re.compile(
    r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{8,}|[0-9a-fA-F]{16,}|[A-Za-z0-9+/]{32,}"
    r"|(?:(?=[a-z]{0,9}[0-9])(?=[0-9]{0,9}[a-z])[a-z0-9]{3,10}-){2}"
)
_SIGNS = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9]).*[!@#$%^&*?]")


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it stands; ``quoted`` means between quotation marks."""

    text: str
    start: int
    end: int
    quoted: bool


def value_at(text: str, start: int) -> Value | None:
    """What stands at a place as a value: what is quoted, else signs without a blank between
    them, else a few Chinese characters up to a punctuation mark."""
    mark = _QUOTES.get(text[start : start + 1])
    if mark is not None:
        end = text.find(mark, start + 1, start + 300)
        inner = text[start + 1 : end]
        return Value(inner, start + 1, end, True) if end > 0 and "\n" not in inner else None
    bare = _BARE.match(text, start)
    if bare is not None:
        kept = _NEXT_PAIR.split(bare.group(), 1)[0].rstrip(_TRAILING)
        return Value(kept, start, start + len(kept), False)
    own = _HAN.match(text, start)
    return None if own is None else Value(own.group(), start, own.end(), False)


def is_password(text: str, value: Value, *, by_sign: bool, by_blank: bool) -> bool:
    """Whether a value is a password. ``by_sign``: nothing but a colon or equals sign stands
    between it and its name; ``by_blank``: nothing at all does."""
    none = no_values()
    word = value.text
    if len(word) < _MIN_PASSWORD or _says_nothing(word, none):
        return bool(_HAN.fullmatch(word)) and _is_phrase(word, value, by_sign, none)
    if _HAN_NEXT.match(word):
        return _is_phrase(word, value, by_sign, none)
    if value.quoted:
        return True
    if _CODE.fullmatch(word):
        return False
    rest = text[value.end :]
    if word.isdigit() or _FEW_NUMBERS.fullmatch(word):
        return _are_digits(word, rest, none, by_blank=by_blank)
    if _NAME_LIKE.fullmatch(word):
        if by_blank or not word.isalpha() or (not by_sign and word.endswith(_PARTICIPLES)):
            return False
        return _ENDED.match(rest) is not None
    return True


def is_key(value: Value) -> bool:
    """Whether a value is a key or a token: long, with a part of mixed letters and digits."""
    word = value.text
    if len(word) < _MIN_KEY or _says_nothing(word, no_values()) or _CODE.fullmatch(word):
        return False
    if _KEY.fullmatch(word) and _KEY_PART.search(word):
        return True
    return _SIGNS.match(word) is not None


def _says_nothing(word: str, none: NoValues) -> bool:
    if MASK in word or word.casefold() in none.values:
        return True
    return _PLACEHOLDER.fullmatch(word) is not None


def _is_phrase(word: str, value: Value, by_sign: bool, none: NoValues) -> bool:
    if word in none.values or word.startswith(none.starts) or len(word) > 8:
        return False
    return by_sign or value.quoted


def _are_digits(word: str, rest: str, none: NoValues, *, by_blank: bool) -> bool:
    if not word.isdigit() or len(word) < (6 if by_blank else 4):
        return False
    return not rest.lstrip().startswith(none.units)
