"""People and topics that a text names, found by rules when its writer names none.

Topics are named things: works in title marks, tags, products, companies, places, names in
code. Measured on lines labelled by hand (``tests/data/entity_lines.jsonl``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from engine.extraction import chinese_entities, english_people, english_topics
from engine.extraction.latin_words import Span, latin_words, without_headings
from engine.language.folding import fold
from engine.language.names import tagged_words

_READ_CHARS = 4_000
_MOST = 12
_HAN = re.compile("[\u4e00-\u9fff]")
_LATIN_CAPITAL = re.compile(r"[A-Z]|[a-z]\w*[_.]\w")
_TITLE = re.compile(r"《([^《》\n]{1,40})》")
_TAG = re.compile(r"(?<![\w#&/])#([^\W\d][\w\-]{1,40})")
_ADDRESS = re.compile(r"https?://\S+|\S+@\S+\.\S+")


@dataclass(frozen=True, slots=True)
class Entities:
    """People and topics in the order in which a text names them, each once."""

    people: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


def people(text: str) -> tuple[str, ...]:
    """The people that a text names."""
    return entities_of(text).people


def topics(text: str) -> tuple[str, ...]:
    """The topics that a text names."""
    return entities_of(text).topics


def entities_of(text: str) -> Entities:
    """The people and topics that the first 4,000 characters of a text name; at most 12 each."""
    head = _ADDRESS.sub(lambda match: " " * len(match[0]), text[:_READ_CHARS])
    marked = [match.span(1) for pattern in (_TITLE, _TAG) for match in pattern.finditer(head)]
    # What stands in marks is one name, whatever its words are.
    rest = _blanked(head, marked)
    found = _chinese(rest) if _HAN.search(rest) else _english(rest)
    persons, things = found
    return Entities(_names(head, persons), _names(head, sorted([*marked, *things])))


def _chinese(text: str) -> tuple[list[Span], list[Span]]:
    words = tagged_words(text)
    persons = chinese_entities.people_spans(text, words)
    things = chinese_entities.topic_spans(text, words, persons)
    if _LATIN_CAPITAL.search(text) or re.search("[a-z]{3}", text):
        latin_people, latin_things = english_topics.latin_spans(text)
        persons, things = sorted([*persons, *latin_people]), [*things, *latin_things]
    return persons, things


def _english(text: str) -> tuple[list[Span], list[Span]]:
    if not _LATIN_CAPITAL.search(text):
        return [], []
    body = without_headings(text)
    words = latin_words(body)
    persons = english_people.people_spans(body, words)
    return persons, english_topics.topic_spans(body, words, persons)


def _blanked(text: str, spans: Iterable[Span]) -> str:
    for begin, stop in spans:
        text = text[:begin] + " " * (stop - begin) + text[stop:]
    return text


def _names(text: str, spans: Iterable[Span]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for begin, stop in spans:
        name = text[begin:stop].strip("`() ,.:;")
        found.setdefault(fold(name), name)
    return tuple(found.values())[:_MOST]
