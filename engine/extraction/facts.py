"""The facts of a memory: those its writer named, else the sentences of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.domain.atom import Classification
from engine.extraction.atoms import NOTHING_MATCHED, Reading, classify
from engine.extraction.rules import RuleTable

MAX_FACTS = 12
MAX_FACT_CHARS = 400
_SENTENCES_READ = 30

_END = re.compile(r"[。！？!?；;…]+[”’」』）)\"']*|\.+(?=[\s”\"')]|$)|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|etc|e\.g|i\.e|cf|No|Inc|Ltd|Co|approx|dept|est|fig)"
    r"|\b[A-Z]|^\s*\d+)\.$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•·#>]+|\(?\d{1,3}[.)、]|[一二三四五六七八九十]+、)\s*")
_LETTERS = re.compile(r"[\u3400-\u9fff]|[^\W\d_]+")
_SPEAKER = re.compile(r"^(?:\[[^\]]{1,40}\]\s*)?[^\s:：]{1,12}(?: [^\s:：]{1,12})?[:：]\s*")
_LEAST_SAID = 5
_CODE = re.compile(r"^\s*(?:```|\||</?\w+|[{}\[\]]+\s*$|import |from \S+ import|def |class |\$ )")
# A question tells nothing; the rule tables call it unknown as well.
_QUESTION = re.compile(r"[?？]\s*[”\"'）)]*$")


def facts_of(
    text: str, key_facts: Sequence[str], reading: Reading, table: RuleTable
) -> list[Classification]:
    """The facts of a memory with their types.

    Each of ``key_facts`` is one. Without any, the sentences of the text are read (the first 30),
    and those that some rule knows are facts: at most 12. Greetings, questions and scraps are not.
    """
    if key_facts:
        return [classify(fact, reading, table) for fact in key_facts]
    found: list[Classification] = []
    candidates = list(_candidates(text))
    # One sentence alone was worth remembering; of many, those that only look like statements
    # are left out.
    least = 0.0 if len(candidates) == 1 else NOTHING_MATCHED
    for sentence in candidates:
        fact = classify(sentence, reading, table)
        if fact.type != "unknown" and fact.confidence > least:
            found.append(fact)
        if len(found) == MAX_FACTS:
            break
    return found


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, without marks of lists. Chinese, English or mixed."""
    start = 0
    for end in _END.finditer(text):
        if text[end.start()] == "." and _ABBREVIATION.search(text[start : end.start() + 1]):
            continue
        yield from _cleaned(text[start : end.end()])
        start = end.end()
    yield from _cleaned(text[start:])


def _cleaned(part: str) -> Iterator[str]:
    shown = " ".join(_BULLET.sub("", part).split())
    if shown:
        yield shown


def _candidates(text: str) -> Iterator[str]:
    parts = list(dict.fromkeys(sentences(text)))
    for part in parts[:_SENTENCES_READ]:
        if _may_be_fact(part) and (len(parts) == 1 or _says_enough(part)):
            yield part


def _may_be_fact(sentence: str) -> bool:
    return (
        len(sentence) <= MAX_FACT_CHARS
        and len(_LETTERS.findall(sentence)) >= 2
        and not _QUESTION.search(sentence)
        and not _CODE.match(sentence)
    )


def _says_enough(sentence: str) -> bool:
    """Whether more is left than a nod, apart from who says it: five letters of a script without
    spaces, or three words."""
    letters = _LETTERS.findall(_SPEAKER.sub("", sentence))
    return sum(1 if len(letter) == 1 else 2 for letter in letters) >= _LEAST_SAID
