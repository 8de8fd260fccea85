"""Things named in Latin letters: products, places, works, names in code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.extraction.entity_words import EnglishWords, english_words
from engine.extraction.latin_words import LatinWord, Span, is_title_case

_TITLE_MARKS = re.compile(r"[\"“]([A-Z][^\"“”.!?\n]{1,60})[\"”]")
_TITLE_WORD = re.compile(r"[^\W\d_]+")
_CODE_NAME = re.compile(
    r"`([\w\-./:]{2,60})(?:\(\))?`"
    r"|(?<![\w./\-])((?:[a-z]+[A-Z]\w*|[A-Za-z]\w*_\w+|[\w\-]+\.(?:py|js|ts|go|rs|java|md|toml"
    r"|ya?ml|json|sql|sh|txt|csv|html|css|ini|cfg|lock|db)))(?![\w/\-])",
    re.ASCII,
)
_LATIN_RUN = re.compile(
    r"(?<![\w.\-])[A-Za-z][\w+#.\-]*[\w+#](?: [A-Z0-9][\w+#.\-]*){0,3}", re.ASCII
)
_NUMBER = re.compile(r"\d{5}|X{4}", re.IGNORECASE)
_LONGEST_NAME = 4
_LEAST_CHARS = 3
_LEAST_PLAIN_CHARS = 5


def topic_spans(text: str, words: Sequence[LatinWord], people: Sequence[Span]) -> list[Span]:
    """Where things are named in an English text, in text order."""
    lists = english_words()
    found = [match.span(1) for match in _TITLE_MARKS.finditer(text) if _is_title(match[1])]
    found += _code_spans(text)
    found += _named_things(text, words, lists)
    kept: list[Span] = []
    for begin, stop in sorted(found, key=lambda span: (span[0] - span[1], span[0])):
        taken = (*people, *kept)
        if not any(begin < other_stop and other < stop for other, other_stop in taken):
            kept.append((begin, stop))
    return sorted(kept)


def latin_spans(text: str) -> tuple[list[Span], list[Span]]:
    """People and named things among the Latin words of a Chinese text, where a capital at the
    start of a sentence means a name."""
    lists = english_words()
    people: list[Span] = []
    topics = _code_spans(text)
    for match in _LATIN_RUN.finditer(text):
        first = match[0].split(" ")[0]
        if _is_latin_person(first, lists):
            people.append(match.span())
        elif _is_latin_thing(match[0], lists) and match.span() not in topics:
            topics.append(match.span())
    return people, topics


def _is_latin_person(first: str, lists: EnglishWords) -> bool:
    return first[:1].isupper() and not first.isupper() and lists.is_first_name(first.lower())


def _is_latin_thing(name: str, lists: EnglishWords) -> bool:
    """Whether Latin words name a thing: no unit and no abbreviation of everyday speech."""
    folded = name.lower()
    if folded in lists.known:
        return True
    if folded in lists.not_topics or folded in lists.common or _NUMBER.search(name):
        return False
    plain = name.isupper() or name.islower()
    return len(name) >= (_LEAST_PLAIN_CHARS if plain else _LEAST_CHARS)


def _named_things(text: str, words: Sequence[LatinWord], lists: EnglishWords) -> Iterator[Span]:
    place = 0
    while place < len(words):
        stop = _run_end(text, words, place)
        begin, end = _trimmed(words, place, stop, lists)
        if begin < end and _is_thing(words[begin:end], lists):
            yield words[begin].begin, words[end - 1].stop
        place = stop


def _run_end(text: str, words: Sequence[LatinWord], place: int) -> int:
    """The end of the run of capitalised words that begins here; one word if it is none."""
    stop = place + 1
    while (
        words[place].is_capital
        and stop < len(words)
        and words[stop].is_capital
        and stop - place < _LONGEST_NAME
        and text[words[stop - 1].stop : words[stop].begin] == " "
    ):
        stop += 1
    return stop


def _trimmed(
    words: Sequence[LatinWord], begin: int, end: int, lists: EnglishWords
) -> tuple[int, int]:
    """A run without words at its ends that are no part of a name: a day, "The", a title. "New"
    and "North" belong to what follows them."""
    while begin < end and words[begin].folded in lists.common:
        if words[begin].folded in lists.leading and end - begin > 1:
            break
        begin += 1
    while begin < end and words[end - 1].folded in lists.common:
        end -= 1
    return begin, end


def _is_thing(words: Sequence[LatinWord], lists: EnglishWords) -> bool:
    """Whether capitalised words are known to name a thing, or say so by their first or last one
    (North Carolina, Wanlv Park). Capitals alone do not: in notes and captions three of ten such
    words named nothing, or a person."""
    first, last = words[0], words[-1]
    if not first.is_capital or lists.titles.fullmatch(first.text):
        return False
    whole = " ".join(word.folded for word in words)
    if whole in lists.known or first.folded in lists.known:
        return True
    if len(words) == 1 or is_title_case(words):
        return False
    is_named = last.folded in lists.institutions and not first.opens
    return is_named or first.folded in lists.leading


def _is_title(quoted: str) -> bool:
    """Whether all words of some length are capitalised, as in a title and not in speech."""
    words = [word for word in _TITLE_WORD.findall(quoted) if len(word) > _LEAST_CHARS]
    return all(word[0].isupper() for word in words or [quoted])


def _code_spans(text: str) -> list[Span]:
    return [match.span(1 if match[1] else 2) for match in _CODE_NAME.finditer(text)]
