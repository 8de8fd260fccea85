"""People and named things in Chinese: the segmenter's tags, checked by what names are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.extraction.entity_words import ChineseWords, chinese_words
from engine.language.names import TaggedWord

Span = tuple[int, int]
"""Where something stands in a text: begin and end."""

_PERSON_TAGS = ("nr", "nrt", "nrfg")
_LONGEST_GIVEN = 2
_LEADS = "向于和与跟给让对"
_ROAD = re.compile("[东南西北中]?[一二三四五]?(?:[路街巷镇村桥]|县城)")
_QUOTED = re.compile(r"[“「『\"]([^“”「」『』\"，。！？,!?]{2,12})[”」』\"]")


def people_spans(text: str, words: Sequence[TaggedWord]) -> list[Span]:
    """Where people are named: full names, titles (王总) and nicknames (小明), in text order."""
    lists = chinese_words()
    found: list[Span] = []
    for span in (
        *_full_names(text, words, lists),
        *_titled(text, words, lists),
        *_nicknames(text, words, lists),
    ):
        if not any(begin < span[1] and span[0] < stop for begin, stop in found):
            found.append(span)
    return sorted(found)


def topic_spans(text: str, words: Sequence[TaggedWord], people: Sequence[Span]) -> list[Span]:
    """Where places, institutions, companies and things in marks of quotation are named."""
    lists = chinese_words()
    found = [match.span() for match in lists.known_topics.finditer(text)]
    found += [
        match.span(1) for match in _QUOTED.finditer(text) if _has_cue(text, match.span(), lists)
    ]
    found += [(word.begin, word.stop) for word in words if _is_place(text, word, lists)]
    return _apart(found, people)


def _full_names(text: str, words: Sequence[TaggedWord], lists: ChineseWords) -> Iterator[Span]:
    for place, tagged in enumerate(words):
        word = _without_lead(tagged, lists)
        following = words[place + 1] if place + 1 < len(words) else None
        stop = _joined_stop(word, following, lists) or _own_stop(word, following, lists)
        if stop and _is_sure(text, (word.begin, stop), lists):
            yield word.begin, stop


def _without_lead(word: TaggedWord, lists: ChineseWords) -> TaggedWord:
    """A name without the preposition that the segmenter left at its head: 向周涛."""
    is_led = word.tag in _PERSON_TAGS and word.text[0] in _LEADS and len(word.text) > 2
    if is_led and _is_name(word.text[1:], lists):
        return TaggedWord(word.text[1:], word.tag, word.begin + 1)
    return word


def _joined_stop(word: TaggedWord, following: TaggedWord | None, lists: ChineseWords) -> int | None:
    """The end of a name whose surname the segmenter cut off: 徐|丽丽, 欧阳|娜娜."""
    if following is None or following.tag not in _PERSON_TAGS:
        return None
    if word.text not in lists.surnames and word.text not in lists.compound_surnames:
        return None
    return following.stop if _is_name(word.text + following.text, lists) else None


def _own_stop(word: TaggedWord, following: TaggedWord | None, lists: ChineseWords) -> int | None:
    """The end of the name that a word is, or that it begins with."""
    if word.tag not in _PERSON_TAGS or word.text in lists.not_names:
        return None
    if _is_name(word.text, lists):
        longer = following is not None and following.tag.startswith("n")
        if longer and following and len(following.text) == 1:
            whole = word.text + following.text
            if len(word.text) == _LONGEST_GIVEN and _is_name(whole, lists):
                return following.stop
        return word.stop
    for length in (3, 2):
        if len(word.text) > length and _is_name(word.text[:length], lists):
            return word.begin + length
    return None


def _is_name(name: str, lists: ChineseWords) -> bool:
    """Whether a string is a surname and one or two characters that given names are made of."""
    if name in lists.not_names:
        return False
    surname = name[:2] if name.startswith(lists.compound_surnames) else name[:1]
    given = name[len(surname) :]
    return (
        (len(surname) == 2 or surname in lists.surnames)
        and 1 <= len(given) <= _LONGEST_GIVEN
        and set(given) <= lists.given
        and given[-1] not in lists.never_last
    )


def _is_sure(text: str, span: Span, lists: ChineseWords) -> bool:
    """Two characters that begin like a common word are a name only in a person's place; before 路
    or 县 a name is one of a place."""
    begin, stop = span
    if _ROAD.match(text, stop):
        return False
    if stop - begin > 2 or text[begin] not in lists.weak_surnames:
        return True
    if text.startswith(lists.compound_surnames, begin):
        return True
    return _stands_like_a_person(text, span, lists)


def _stands_like_a_person(text: str, span: Span, lists: ChineseWords) -> bool:
    begin, stop = span
    return text[stop : stop + 1] in lists.sure_after or (
        begin > 0 and text[begin - 1] in lists.sure_before
    )


def _titled(text: str, words: Sequence[TaggedWord], lists: ChineseWords) -> Iterator[Span]:
    begins = {word.begin for word in words}
    for match in lists.titled.finditer(text):
        is_word = match["title"] in lists.work_titles and match["surname"] in lists.no_short_title
        if match.start() in begins and not is_word:
            yield match.span()


def _nicknames(text: str, words: Sequence[TaggedWord], lists: ChineseWords) -> Iterator[Span]:
    begins = {word.begin for word in words}
    longer = {word.begin for word in words if len(word.text) > 2 and word.tag not in _PERSON_TAGS}
    for match in lists.nickname.finditer(text):
        begin = match.start()
        is_word = text.startswith(lists.not_nicknames, begin)
        begins_word = begin in begins or text[begin - 1] in lists.sure_before
        if not is_word and begins_word and begin not in longer:
            yield match.span()


def _is_place(text: str, word: TaggedWord, lists: ChineseWords) -> bool:
    if word.text in lists.places:
        return not _ROAD.match(text, word.stop)
    if word.text in lists.not_places or len(word.text) < 3:
        return False
    if word.tag == "ns" and word.text[-1] in lists.place_endings:
        return True
    return len(word.text) > 3 and lists.institution.search(word.text) is not None


def _has_cue(text: str, span: Span, lists: ChineseWords) -> bool:
    begin, stop = span
    before = text[:begin].rstrip("：:叫是名为的")
    return text.startswith(lists.cues, stop) or before.endswith(lists.cues)


def _apart(spans: Sequence[Span], people: Sequence[Span]) -> list[Span]:
    """Spans in text order that overlap neither each other nor a person; the longer one stays."""
    kept: list[Span] = []
    for begin, stop in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        taken = (*people, *kept)
        if not any(begin < other_stop and other < stop for other, other_stop in taken):
            kept.append((begin, stop))
    return sorted(kept)
