"""What a query says beside its words: when, about whom, and whether it goes on with work.

A date named in a question says more about *when* than any word of it, so it becomes a window.
Dates and the people whom everything in reach is about are left out of the text that is embedded:
they pull the vector towards every memory of that person. Keyword search keeps the names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import cache
from importlib.resources import files

from engine.language.folding import fold
from engine.language.name_candidates import NameCandidate, name_candidates
from engine.language.terms import Analyser
from engine.language.time_expressions import TimeMention, find_times
from engine.retrieval.reach import Reach
from engine.storage import people
from engine.storage.database import Connection
from engine.storage.fulltext import CHARS, WORDS, Match

# A person whom this share of the memories names tells little about which one is meant (measured
# on a year of records of two persons: 3 to 5 % best, 1 % and 10 % worse).
COMMON_SHARE = 0.04
_LEAST_MENTIONS = 5
# Looking further would only make the search slower: whoever stands in so many memories is common.
_MOST_MENTIONS = 200
_SPEAKER = re.compile(r"^\s*[<【\[(]?[^\n:：]{1,20}[>】\])]?\s*[:：]", re.MULTILINE)
_LEFT_OVER = re.compile(r"^[\s,，、。.;；:：的在份]+|\s+(?=[,，.。?？!！])")


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time that the query names, epoch seconds, both ends inclusive."""

    start: float
    end: float

    def distance_s(self, moment: float) -> float:
        """Seconds from the window to a moment; 0 inside."""
        return max(0.0, self.start - moment, moment - self.end)


@dataclass(frozen=True, slots=True)
class Understanding:
    """A query as it is searched.

    ``transcript`` marks a piece of a dialogue. ``meaning`` is the text to embed; ``words`` and
    ``dates`` are its text without and with only the time expressions. ``people`` are folded
    names that memories know, ``possible_names`` every stretch that could be one. ``ongoing``
    marks a turn of work that goes on, where the newest memories matter most.
    """

    text: str
    meaning: str
    words: str
    dates: str
    windows: tuple[Window, ...]
    people: tuple[str, ...]
    possible_names: tuple[str, ...]
    ongoing: bool
    transcript: bool = False


def understand(
    connection: Connection,
    analyser: Analyser,
    query: str,
    reach: Reach,
    zone: tzinfo | None,
) -> Understanding:
    """Read a query against the memories in reach."""
    transcript = is_transcript(query)
    mentions = () if transcript else _times(query, reach.now, zone)
    spans = [(mention.begin, mention.stop) for mention in mentions]
    candidates = name_candidates(query)
    named = _named(connection, candidates)
    common = [
        (candidate.begin, candidate.stop)
        for candidate in named
        if _is_common(connection, analyser, candidate.folded, reach)
    ]
    return Understanding(
        text=query,
        meaning=_without(query, [*spans, *common]) or query,
        words=_without(query, spans) or query,
        dates=" ".join(query[begin:stop] for begin, stop in spans),
        windows=_windows(mentions),
        people=tuple(dict.fromkeys(candidate.folded for candidate in named)),
        possible_names=tuple(dict.fromkeys(candidate.folded for candidate in candidates)),
        ongoing=not mentions and not transcript and is_ongoing(query),
        transcript=transcript,
    )


def _times(query: str, now: float, zone: tzinfo | None) -> tuple[TimeMention, ...]:
    return tuple(time for time in find_times(query, now, zone) if not time.recurring)


def is_transcript(query: str) -> bool:
    """Whether a query is a piece of a dialogue: its dates belong to what is talked of there,
    and say nothing of when a memory was made."""
    return len(_SPEAKER.findall(query)) > 1


def is_ongoing(query: str) -> bool:
    """Whether a query is a turn of work that goes on with an assistant."""
    return _signs().search(fold(query)) is not None


@cache
def _signs() -> re.Pattern[str]:
    source = (files("assets") / "language" / "ongoing.toml").read_text(encoding="utf-8")
    signs = tomllib.loads(source)
    english = "|".join(map(re.escape, signs["en"]))
    return re.compile(rf"(?<![\w'])(?:{english})(?![\w'])|{'|'.join(map(re.escape, signs['zh']))}")


def _named(connection: Connection, candidates: Sequence[NameCandidate]) -> list[NameCandidate]:
    """Known names in the query; a name inside a longer known one is part of it."""
    known = set(people.known_names(connection, {item.folded for item in candidates}))
    found: list[NameCandidate] = []
    for item in sorted(candidates, key=lambda item: (item.begin - item.stop, item.begin)):
        inside = any(item.begin < other.stop and other.begin < item.stop for other in found)
        if item.folded in known and not inside:
            found.append(item)
    return sorted(found, key=lambda item: item.begin)


def _is_common(connection: Connection, analyser: Analyser, name: str, reach: Reach) -> bool:
    phrase = name_phrase(analyser, name)
    if not phrase:
        return False
    wanted = round(reach.size * COMMON_SHARE)
    least = max(_LEAST_MENTIONS, min(_MOST_MENTIONS, wanted))
    return people.is_named_by(connection, phrase, reach.filters, reach.now, least)


def name_phrase(analyser: Analyser, name: str) -> list[Match]:
    """The tokens that stand one after the other wherever a text holds the name."""
    terms = analyser.index_terms(name)
    if len(terms.chars) > 1:
        return [Match(CHARS, pair) for pair in terms.chars if len(pair) > 1]
    return [Match(WORDS, word) for word in terms.words]


def _windows(mentions: Sequence[TimeMention]) -> tuple[Window, ...]:
    """The windows of the times named. Beside a date, "two days later" or "that weekend" counts
    from the date and not from today, so it is left out."""
    dates = [mention for mention in mentions if not mention.relative]
    return tuple(dict.fromkeys(Window(time.start, time.end) for time in dates or mentions))


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, end = [], 0
    for begin, stop in sorted(spans):
        if begin >= end:
            kept.append(text[end:begin])
        end = max(end, stop)
    joined = " ".join([*kept, text[end:]]) if spans else text
    return _LEFT_OVER.sub("", " ".join(joined.split())).strip()
