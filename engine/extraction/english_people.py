"""People named in English: titles with names, first names, Chinese names in Latin letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.extraction.entity_words import EnglishWords, english_words
from engine.extraction.latin_words import LatinWord, Span

_INITIAL = re.compile(r"[A-Z]\.?")
_LONGEST_NAME = 4
_PETS_BEFORE = 6
_LOOK_BACK_CHARS = 40
# One or two syllables as Chinese given names have them.
_PINYIN = re.compile(
    r"(?:(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])?"
    r"(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uai|uan|ai|ei|ao|ou|an|en|in|un|ia|ie|iu|ua|ui|uo"
    r"|ue|er|[aeiou])){1,2}"
)
_ADDRESSED = re.compile(r"\s*[,!.?]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """The words of a text and what is known about them."""

    text: str
    words: Sequence[LatinWord]
    lists: EnglishWords

    def word(self, place: int) -> LatinWord | None:
        return self.words[place] if 0 <= place < len(self.words) else None

    def folded(self, place: int) -> str:
        word = self.word(place)
        return word.folded if word else ""


def people_spans(text: str, words: Sequence[LatinWord]) -> list[Span]:
    """Where people are named, in text order."""
    sentence = _Sentence(text, words, english_words())
    found: list[Span] = []
    place = 0
    while place < len(words):
        stop = _person_stop(sentence, place)
        if stop:
            found.append((words[place].begin, words[stop - 1].stop))
        place = stop or place + 1
    return found


def _person_stop(sentence: _Sentence, place: int) -> int | None:
    """The number of the word behind the name that begins at ``place``."""
    word = sentence.words[place]
    if not word.is_capital:
        return None
    titled = sentence.lists.titles.fullmatch(word.text) is not None
    if not titled and (word.is_shouted or not _begins_name(sentence, place)):
        return None
    stop = _name_end(sentence, place)
    if titled and stop == place + 1:
        return None
    names_place = stop > place + 1 and sentence.folded(stop - 1) in sentence.lists.institutions
    return None if names_place else stop


def _begins_name(sentence: _Sentence, place: int) -> bool:
    """Whether a capitalised word is the first of a person's name."""
    word, lists = sentence.words[place], sentence.lists
    if word.folded in lists.common or _is_anothers(sentence, place):
        return False
    if _is_chinese(sentence, place) or _is_addressed(sentence, place):
        return True
    if lists.roles.search(sentence.text, _near(word), word.begin):
        return True
    if sentence.folded(place - 1) == "the" or not lists.is_first_name(word.folded):
        return False
    return word.folded not in lists.double or _double_is_name(sentence, place)


def _is_anothers(sentence: _Sentence, place: int) -> bool:
    """Whether the word names an animal ("a dog named Rex") or goes on with a longer name that
    is none of a person ("Chiang Mai", "St. John")."""
    lists, before = sentence.lists, sentence.word(place - 1)
    if before is None:
        return False
    if before.folded in lists.naming:
        return any(
            word.folded in lists.pets
            for word in sentence.words[max(0, place - _PETS_BEFORE) : place]
        )
    word = sentence.words[place]
    between = sentence.text[before.stop : word.begin]
    if between == ". " and before.text == "St":
        return True
    return (
        between == " "
        and before.is_capital
        and not before.opens
        and before.folded not in lists.common
        and not lists.titles.fullmatch(before.text)
    )


def _is_chinese(sentence: _Sentence, place: int) -> bool:
    """Lei Mingxuan, Zhou Tao: a surname and one or two syllables."""
    word, following = sentence.words[place], sentence.word(place + 1)
    if following is None or word.folded not in sentence.lists.chinese_surnames:
        return False
    return (
        sentence.text[word.stop : following.begin] == " "
        and following.is_capital
        and _PINYIN.fullmatch(following.folded) is not None
        and following.folded not in sentence.lists.common
    )


def _is_addressed(sentence: _Sentence, place: int) -> bool:
    """ "Thanks, Deb!" """
    word = sentence.words[place]
    return (
        len(word.text) > 2
        and sentence.lists.greeting.search(sentence.text, _near(word), word.begin) is not None
        and _ADDRESSED.match(sentence.text, word.stop) is not None
        and word.folded not in sentence.lists.not_addressed
    )


def _near(word: LatinWord) -> int:
    """From where what stands right before a word is read."""
    return max(0, word.begin - _LOOK_BACK_CHARS)


def _double_is_name(sentence: _Sentence, place: int) -> bool:
    """Whether a name that is a word or a place as well is meant as a name."""
    word, lists = sentence.words[place], sentence.lists
    after = sentence.folded(place + 1)
    is_rare = word.folded in lists.rare
    if _continues(sentence, place + 1):
        last = sentence.folded(_name_end(sentence, place) - 1)
        return not is_rare and last not in lists.institutions
    if is_rare or word.opens:
        return after in lists.verbs and not (word.opens and after in ("and", "who"))
    return True


def _name_end(sentence: _Sentence, place: int) -> int:
    stop = place + 1
    while stop - place < _LONGEST_NAME and _continues(sentence, stop):
        stop += 1
    return stop


def _continues(sentence: _Sentence, place: int) -> bool:
    """Whether a word goes on with the name before it: capitalised, with a blank between, or
    with the point of a title or an initial."""
    word, before = sentence.word(place), sentence.word(place - 1)
    if word is None or before is None or not word.is_capital:
        return False
    between = sentence.text[before.stop : word.begin]
    joined = between == " " or (between == ". " and _is_short_form(before, sentence.lists))
    shouted = word.is_shouted and not _INITIAL.fullmatch(word.text)
    return joined and not shouted and word.folded not in sentence.lists.common


def _is_short_form(word: LatinWord, lists: EnglishWords) -> bool:
    return bool(_INITIAL.fullmatch(word.text)) or bool(lists.titles.fullmatch(word.text))
