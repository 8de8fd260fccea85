"""Are two facts the same one, opposite, or two facts?

The word lists are data (``assets/language/negation.<language>.toml``), the languages together:
mixed text is normal.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine.language.folding import fold
from engine.language.stop_words import load_stop_words

LANGUAGES = ("zh", "en")
SAME, OPPOSITE, CONFLICT, OTHER = "same", "opposite", "conflict", "other"
_NUMBER = re.compile(r"[\d〇零一二两三四五六七八九十百千万亿半几]+[^\W\d_]{0,2}$|.*\d")
_LATIN = re.compile(r"[A-Za-z]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_CAPITALISED = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]*")
_LATIN_WORD = re.compile(r"[a-z][\w.+#-]*")
_LEAST_DENIED = 2
_SPEAKER = frozenset({"我", "i", "my", "自己", "本人"})


@dataclass(frozen=True, slots=True)
class SpokenFact:
    """A fact as it is compared: its text, the distinct indexed ``words``, its stance."""

    text: str
    words: frozenset[str]
    polarity: int = 0


@dataclass(frozen=True, slots=True)
class _Lists:
    negators: frozenset[str]
    stances: frozenset[str]
    persons: frozenset[str]
    idle: frozenset[str]
    not_negating: re.Pattern[str]
    negation: re.Pattern[str]
    telling: re.Pattern[str]


def content_words(words: Iterable[str]) -> frozenset[str]:
    """The words that say what a fact is about: without negation, stance and function words."""
    lists = _lists()
    return frozenset(words) - lists.idle - lists.stances - lists.negators


def compare(new: SpokenFact, old: SpokenFact, threshold: float) -> str:
    """``same`` (Jaccard of the words at least ``threshold``, and nothing of weight differs),
    ``opposite`` (the other stance on the same subject, or the same words denied), ``conflict``
    (only numbers differ) or ``other``.

    Facts that differ by a person, name, place, number, date, Latin identifier, negation or
    antonym are two; so are facts where one content word stands for another, because a list of
    names never knows them all.
    """
    both = _Compared.of(new, old)
    if both.likeness < threshold or both.persons_differ:
        return OTHER
    if new.polarity * old.polarity < 0:
        return OTHER if both.is_told_apart else OPPOSITE
    if negation_count(new.text) != negation_count(old.text):
        return OPPOSITE if both.is_plain_denial else OTHER
    if both.only_numbers_differ:
        return CONFLICT
    return OTHER if both.is_told_apart else SAME


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Size of what two sets share over the size of both together; 0 for two empty ones."""
    both = len(one | other)
    return len(one & other) / both if both else 0.0


def overlap(content: frozenset[str], words: frozenset[str]) -> float:
    """Share of the content words of the shorter of two facts that the other holds as well; the
    words of the other fact may be all of its words."""
    shared = len(content & words)
    if not shared:
        return 0.0
    return shared / min(len(content), len(content_words(words)))


def negation_count(text: str) -> int:
    """How many negations a text holds."""
    lists = _lists()
    plain = lists.not_negating.sub("", fold(text))
    return len(lists.negation.findall(plain))


def differences(new: SpokenFact, old: SpokenFact) -> tuple[frozenset[str], frozenset[str]]:
    """The content words that only the one and only the other fact has, however a word is cut."""
    return _only_in(new, old), _only_in(old, new)


def lacking(content: frozenset[str], words: frozenset[str], plain: str) -> frozenset[str]:
    """The content words of one fact that another one lacks, of which the ``words`` and the folded
    text are given: as :func:`differences`, for whoever compares many."""
    return frozenset(word for word in content - words if not _is_within(word, plain))


def persons_differ(new: SpokenFact, old: SpokenFact) -> bool:
    """Whether two facts speak of different persons; the speaker may be left unsaid."""
    return _other_persons(new, old)


def name_one_thing_each(new: SpokenFact, old: SpokenFact) -> bool:
    """Whether a person, name, place, number or date stands in one of two facts alone."""
    added, gone = differences(new, old)
    named = _names_in(new.text) ^ _names_in(old.text)
    return any(_is_telling(word, named) for word in added | gone)


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two facts beside each other: weighty words that only one of them has."""

    new: SpokenFact
    old: SpokenFact
    added: frozenset[str]
    gone: frozenset[str]

    @classmethod
    def of(cls, new: SpokenFact, old: SpokenFact) -> _Compared:
        return cls(new, old, _only_in(new, old), _only_in(old, new))

    @property
    def likeness(self) -> float:
        """Jaccard of all words or, if higher, of the weighty ones: two stances on one subject
        share little else."""
        shared = len(content_words(self.new.words) & content_words(self.old.words))
        of_content = shared / (shared + len(self.added) + len(self.gone)) if shared else 0.0
        return max(of_content, jaccard(self.new.words, self.old.words))

    @property
    def persons_differ(self) -> bool:
        """Whether they speak of different persons; the speaker may be left unsaid."""
        return _other_persons(self.new, self.old)

    @property
    def only_numbers_differ(self) -> bool:
        """Whether numbers stand for numbers, and nothing else differs."""
        if not self.added or not self.gone:
            return False
        return all(_NUMBER.match(word) for word in self.added | self.gone)

    @property
    def is_plain_denial(self) -> bool:
        """Whether one says of the same things, two at least, what the other denies."""
        if self.new.polarity * self.old.polarity > 0 or self.added or self.gone:
            return False
        counts = sorted((negation_count(self.new.text), negation_count(self.old.text)))
        shared = content_words(self.new.words) & content_words(self.old.words)
        return counts == [0, 1] and len(shared) >= _LEAST_DENIED

    @property
    def is_told_apart(self) -> bool:
        """Whether what differs makes them two facts."""
        if self.added and self.gone:
            return True
        named = _names_in(self.new.text) ^ _names_in(self.old.text)
        return any(_is_telling(word, named) for word in self.added | self.gone)


def _other_persons(one: SpokenFact, other: SpokenFact) -> bool:
    persons = _lists().persons - _SPEAKER
    return one.words & persons != other.words & persons


def _only_in(one: SpokenFact, other: SpokenFact) -> frozenset[str]:
    """Weighty words of one fact that the other lacks, even if it is cut differently there."""
    return lacking(content_words(one.words), other.words, fold(other.text))


def _is_within(word: str, plain: str) -> bool:
    lists = _lists()
    return bool(_HAN.match(word)) and all(
        letter in plain or letter in lists.stances or letter in lists.negators for letter in word
    )


def _is_telling(word: str, named: frozenset[str]) -> bool:
    if word in named or _NUMBER.match(word):
        return True
    return bool(_lists().telling.fullmatch(word))


def _names_in(text: str) -> frozenset[str]:
    """Latin words that are names or identifiers: those in Chinese text, and in English text
    those with a capital after the beginning."""
    if _HAN.search(text):
        return frozenset(_LATIN_WORD.findall(fold(text)))
    return frozenset(found.casefold() for found in _CAPITALISED.findall(text))


@cache
def _lists() -> _Lists:
    tables = [_table(language) for language in LANGUAGES]
    negators = _together(tables, "negators")
    stances = _together(tables, "stances")
    letters = "".join(word for word in negators if len(word) == 1 and _HAN.match(word))
    latin = sorted((word for word in negators if _LATIN.match(word)), key=len, reverse=True)
    fillers = load_stop_words() | _together(tables, "fillers")
    return _Lists(
        negators=negators,
        stances=stances,
        persons=_together(tables, "persons"),
        idle=fillers - negators - stances,
        not_negating=re.compile("|".join(sorted(_together(tables, "not_negators")))),
        negation=re.compile(rf"[{letters}]|\b(?:{'|'.join(map(re.escape, latin))})\b"),
        telling=re.compile("|".join(f"(?:{form})" for form in _forms(tables))),
    )


def _forms(tables: Sequence[Mapping[str, object]]) -> list[str]:
    names = ("date_words", "name_like", "place_like")
    return [str(table[name]) for table in tables for name in names if table[name]]


def _table(language: str) -> Mapping[str, object]:
    path = files("assets") / "language" / f"negation.{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _together(tables: Sequence[Mapping[str, object]], name: str) -> frozenset[str]:
    return frozenset(word for table in tables for word in _strings(table[name]))


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
