"""Do two statements contradict each other, or say the same?

Nothing but what differs counts: two statements contradict each other when one value, one side of
an opposition or one negation differs in otherwise equal text, or when the newer one says that the
older one has ended. They say the same when nothing of weight differs. All else is neither, because
a statement that is merely near another one must never cost it anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from engine.domain.links import CONTRADICTION, DUPLICATE
from engine.extraction.changes import RETURN, Change, change_in, ends
from engine.extraction.conflict_rules import Frame, conflict_rules
from engine.extraction.sameness import (
    SpokenFact,
    content_words,
    differences,
    jaccard,
    lacking,
    name_one_thing_each,
    negation_count,
    persons_differ,
)
from engine.language.folding import fold

Contradiction = Callable[[str, str], bool]
"""Whether a new text contradicts an old one, asked where no rule told."""

WordsOf = Callable[[str], Iterable[str]]
"""The indexed words of a text."""

_Alone = tuple[frozenset[str], frozenset[str]]

# How much of the content may stand in one of two statements alone ("otherwise equal").
_MOST_EXTRA = 0.34
_MOST_EXTRA_OF_SAME = 0.25
# A stated change names what it ends; beyond this length it tells a story.
_LONGEST = 600
_GAP = " ‖ "
_SURE = 2
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ENGLISH = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_ENGLISH |= {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30}
_EDGE = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """``verdict`` and ``reason`` as in :class:`engine.domain.links.Clash`; ``mine`` and
    ``other`` are the parts that differ."""

    verdict: str
    reason: str
    mine: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class _Value:
    name: str
    shown: str
    plain: str
    identifies: bool


@dataclass(frozen=True)
class Statement:
    """A text as it is compared. ``polarity`` is -1, 0 or 1; ``is_event`` marks what happened
    at one time and may happen at another."""

    text: str
    words_of: WordsOf
    polarity: int = 0
    is_event: bool = False

    @cached_property
    def plain(self) -> str:
        """The text in small letters and one form of characters."""
        return fold(self.text)

    @cached_property
    def rest(self) -> SpokenFact:
        """The statement without its values and without words of opposition."""
        text = self._masked
        return SpokenFact(text, frozenset(self.words_of(text)))

    @cached_property
    def values(self) -> dict[str, list[_Value]]:
        """The values in the text by kind, in text order."""
        return self._parts[0]

    @cached_property
    def sides(self) -> dict[str, tuple[int, str]]:
        """On which side of an opposition the text stands (-1 or 1), and by which word."""
        return self._parts[1]

    @property
    def _masked(self) -> str:
        return self._parts[2]

    @cached_property
    def _parts(self) -> tuple[dict[str, list[_Value]], dict[str, tuple[int, str]], str]:
        return _taken_apart(self.plain)

    @cached_property
    def negations(self) -> int:
        """How many negations it holds beside its words of opposition."""
        return negation_count(self.rest.text)

    @cached_property
    def change(self) -> Change | None:
        """What it says to have ended."""
        return change_in(self.text)

    @cached_property
    def content(self) -> frozenset[str]:
        """What it is about, values and sides left out."""
        return content_words(self.rest.words)

    @cached_property
    def frames(self) -> dict[int, re.Match[str]]:
        """The sayings in it that only one value can fill, by their place in the table."""
        rules = enumerate(conflict_rules().frames)
        searched = ((place, frame.pattern.search(self.plain)) for place, frame in rules)
        return {place: found for place, found in searched if found}

    @cached_property
    def can_recur(self) -> bool:
        """Whether it tells what happened once."""
        return self.is_event or bool(conflict_rules().events.search(self.plain))


def judge(
    new: Statement, old: Statement, *, is_near: bool, custom: Contradiction | None = None
) -> Verdict | None:
    """What a new statement does to an old one, ``None`` where both can stand.

    ``is_near`` tells that their vectors are those of the same statement. ``custom`` is asked
    before two statements are called the same.
    """
    if new.plain == old.plain:
        return Verdict(DUPLICATE, "same")
    if max(len(new.text), len(old.text)) > _LONGEST or persons_differ(new.rest, old.rest):
        return None
    alone = _lacking(new, old), _lacking(old, new)
    found = _ended(new, old) or _contradicted(new, old, alone)
    if found is None and custom is not None and custom(new.text, old.text):
        found = Verdict(CONTRADICTION, "custom")
    return found or _repeated(new, old, alone, is_near=is_near)


def _ended(new: Statement, old: Statement) -> Verdict | None:
    change = new.change
    if change is None or change.kind == RETURN or ends(change, old.text) < _SURE:
        return None
    return Verdict(CONTRADICTION, "change", change.value or change.object, change.old)


def _contradicted(new: Statement, old: Statement, alone: _Alone) -> Verdict | None:
    added, gone = alone
    if added and gone:
        return _other_in_frame(new, old)
    if _extra(new, old, added | gone) > _MOST_EXTRA:
        return None
    flips = [name for name in new.sides if name in old.sides and _sides_differ(name, new, old)]
    odd = (new.negations - old.negations) % 2
    if new.polarity * old.polarity < 0 and not (flips and odd):
        return Verdict(CONTRADICTION, "polarity")
    if (len(flips) + odd) % 2 and not _apart(new, old):
        mine, other = (new.sides[flips[0]][1], old.sides[flips[0]][1]) if flips else ("", "")
        return Verdict(CONTRADICTION, "polarity" if flips else "negation", mine, other)
    return None if flips or odd else _other_value(new, old) or _other_in_frame(new, old)


def _sides_differ(name: str, new: Statement, old: Statement) -> bool:
    return new.sides[name][0] * old.sides[name][0] < 0


def _extra(new: Statement, old: Statement, alone: frozenset[str]) -> float:
    """Share of the content that stands in one of two statements alone."""
    everything = new.content | old.content
    return len(alone) / len(everything) if everything else 0.0


def _apart(new: Statement, old: Statement) -> bool:
    """Whether values or names make two things of what is spoken of."""
    if name_one_thing_each(new.rest, old.rest):
        return True
    return any(
        _plain(new.values[name]) != _plain(old.values[name])
        for name in new.values.keys() & old.values.keys()
    )


def _other_value(new: Statement, old: Statement) -> Verdict | None:
    """One value or more of the same kind differ, none of which says what is spoken of."""
    differing = [
        (mine, other)
        for name in new.values.keys() & old.values.keys()
        if len(new.values[name]) == len(old.values[name])
        for mine, other in zip(new.values[name], old.values[name], strict=True)
        if mine.plain != other.plain
    ]
    if not differing or any(mine.identifies or other.identifies for mine, other in differing):
        return None
    if new.can_recur or old.can_recur or not new.content:
        return None
    if any(len(new.values[name]) != len(old.values.get(name, ())) for name in new.values):
        return None
    mine, other = differing[0]
    return Verdict(CONTRADICTION, "value", mine.shown, other.shown)


def _other_in_frame(new: Statement, old: Statement) -> Verdict | None:
    """The same saying about the same thing, with another filling."""
    if new.negations or old.negations:
        return None
    for place in sorted(new.frames.keys() & old.frames.keys()):
        frame, mine, other = conflict_rules().frames[place], new.frames[place], old.frames[place]
        if _fill_differs(frame, mine["value"], other["value"]):
            around_mine, around_other = _around(new, mine), _around(old, other)
            if not any(differences(around_mine, around_other)) and not persons_differ(
                around_mine, around_other
            ):
                return Verdict(CONTRADICTION, "value", mine["value"], other["value"])
    return None


def _fill_differs(frame: Frame, mine: str, other: str) -> bool:
    one, two = _EDGE.sub("", mine), _EDGE.sub("", other)
    if not one or not two or one in two or two in one:
        return False
    classes = [name for name, members in conflict_rules().classes.items() if members.search(one)]
    shared = any(conflict_rules().classes[name].search(two) for name in classes)
    return shared or not frame.needs_class


def _around(statement: Statement, found: re.Match[str]) -> SpokenFact:
    start, stop = found.span("value")
    text = f"{statement.plain[:start]}{_GAP}{statement.plain[stop:]}"
    return SpokenFact(text, frozenset(statement.words_of(text)))


def _repeated(new: Statement, old: Statement, alone: _Alone, *, is_near: bool) -> Verdict | None:
    """Nothing of weight differs; the vectors agree, or the words alone do."""
    added, gone = alone
    if (added and gone) or _extra(new, old, added | gone) > _MOST_EXTRA_OF_SAME:
        return None
    if name_one_thing_each(new.rest, old.rest) or new.sides.keys() != old.sides.keys():
        return None
    if any(_sides_differ(name, new, old) for name in new.sides):
        return None
    values = {name: _plain(found) for name, found in new.values.items()}
    if values != {name: _plain(found) for name, found in old.values.items()}:
        return None
    if new.negations != old.negations:
        return None
    alike = is_near or jaccard(new.content, old.content) >= 1.0 - _MOST_EXTRA_OF_SAME
    return Verdict(DUPLICATE, "same") if alike else None


def _plain(values: Iterable[_Value]) -> list[str]:
    return [value.plain for value in values]


def _taken_apart(
    plain: str,
) -> tuple[dict[str, list[_Value]], dict[str, tuple[int, str]], str]:
    """The values and the sides of a text, and the text without them."""
    rules = conflict_rules()
    masked = plain
    values: dict[str, list[_Value]] = {}
    for rule in rules.values:
        for found in list(rule.pattern.finditer(masked)):
            before = plain[: found.start()]
            value = _Value(rule.name, found[0], _normal(found[0]), _identifies(before))
            values.setdefault(rule.name, []).append(value)
            masked = f"{masked[: found.start()]}{' ' * len(found[0])}{masked[found.end() :]}"
    sides: dict[str, tuple[int, str]] = {}
    for opposite in rules.opposites:
        one, other = opposite.one.search(masked), opposite.other.search(masked)
        shown = one or other
        if shown and not (one and other):
            sides[opposite.name] = (1 if one else -1, shown[0])
            pattern = opposite.one if one else opposite.other
            masked = pattern.sub(lambda found: " " * len(found[0]), masked)
    return values, sides, masked


def _identifies(before: str) -> bool:
    """Whether a value with this in front of it says which thing is meant: it comes first, or
    belongs to a name like "room" or "第"."""
    return not _EDGE.sub("", before) or bool(conflict_rules().identifiers.search(before))


def _normal(value: str) -> str:
    """One spelling of a value: digits for numerals, nothing between them."""
    plain = (
        re.sub(r"[\s,.]+(?!\d)|,(?=\d{3})", "", value).replace("星期", "周").replace("礼拜", "周")
    )
    plain = re.sub(r"[零〇一二两三四五六七八九十百千]+", lambda found: _numeral(found[0]), plain)
    if plain in _ENGLISH:
        return str(_ENGLISH[plain])
    return plain.removesuffix("s") if plain.endswith("days") else plain


def _numeral(text: str) -> str:
    """A Chinese numeral below ten thousand in digits."""
    total, digit = 0, 0
    for letter in text:
        if letter in _DIGITS:
            digit = _DIGITS[letter]
        else:
            total += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[letter]
            digit = 0
    return str(total + digit)


def says_more(one: Statement, other: Statement) -> bool:
    """Whether content words stand in one statement that the other lacks."""
    return bool(_lacking(one, other))


def _lacking(one: Statement, other: Statement) -> frozenset[str]:
    """Content words of one statement that the other lacks."""
    return lacking(one.content, other.rest.words, other.rest.text)
