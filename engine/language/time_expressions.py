"""Time expressions in a text: where they stand and which stretch of time they mean.

Chinese and English, mixed as people mix them. Of overlapping readings the longest wins. What is
not understood is not reported: a wrong date is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from engine.language.calendar_spans import Span, Stretch, local_day
from engine.language.folding import unify
from engine.language.time_readings import READINGS, Moment
from engine.language.time_rules import LANGUAGES, Around, Named, Rule, Table, table

_LONGEST_TEXT = 20_000
_WHITE_SPACE = str.maketrans("\n\r\t\u3000", "    ")
# As far before a time as the words beside it are looked for.
_BESIDE = 14


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time that a text names.

    ``start`` to ``end`` (epoch seconds, both inclusive) is the stretch meant, ``text`` is what
    stands at ``begin:stop``. ``kind`` is ``day``, ``week``, ``month``, ``year``, ``hour`` or
    ``span``; ``tense`` is ``past``, ``future`` or, where the words do not say, ``any``;
    ``relative`` times count from now; a ``recurring`` one ("every Friday") is one of many.
    """

    start: float
    end: float
    begin: int
    stop: int
    kind: str
    relative: bool
    recurring: bool
    tense: str
    text: str


@dataclass(frozen=True, slots=True)
class _Reading:
    begin: int
    stop: int
    stretch: Stretch
    relative: bool
    recurring: bool


def find_times(
    text: str, now: float, zone: tzinfo | None, *, prefer: str = "past"
) -> tuple[TimeMention, ...]:
    """The times a text names, in its order.

    ``now`` is epoch seconds; days begin at midnight in ``zone`` (``None``: the machine's).
    ``prefer`` is ``past`` for questions and ``future`` for plans.
    """
    head = text[:_LONGEST_TEXT]
    plain = _plain(head)
    moment = Moment(now, zone, local_day(now, zone), prefer)
    readings = [reading for name in LANGUAGES for reading in _readings(plain, table(name), moment)]
    return tuple(_mention(head, reading, zone) for reading in _longest(readings))


def _plain(text: str) -> str:
    """The text in one spelling, every character in its place."""
    unified = unify(text)
    return (unified if len(unified) == len(text) else text).translate(_WHITE_SPACE)


def _readings(text: str, known: Table, moment: Moment) -> Iterator[_Reading]:
    for rule in known.rules_for(text):
        for match in rule.pattern.finditer(text):
            stretch = READINGS[rule.read](Named(match, known.words, rule), moment)
            if stretch is not None:
                yield _placed(Named(match, known.words, rule), stretch, known.around, moment)


def _placed(named: Named, stretch: Stretch, around: Around, moment: Moment) -> _Reading:
    """A reading with what the words beside it add."""
    match, text = named.match, named.match.string
    begin, stop = match.span("at") if named.text("at") else match.span()
    stop -= len(text[begin:stop]) - len(text[begin:stop].rstrip())
    before = text[max(0, begin - _BESIDE) : begin]
    recurring = bool(named.text("many") or around.every.search(before))
    open_end = around.since_after.match(text, stop)
    if isinstance(stretch, Span) and (open_end or around.since_before.search(before)):
        stretch = stretch.up_to(moment.today)
        stop = open_end.end() if open_end else stop
    lead = around.lead.search(before)
    begin -= len(lead[0]) if lead else 0
    return _Reading(begin, stop, stretch, _is_relative(named.rule, named), recurring)


def _is_relative(rule: Rule, named: Named) -> bool:
    return rule.relative and not named.text("year")


def _longest(readings: Iterable[_Reading]) -> list[_Reading]:
    """The readings that stay when longer ones push out those they overlap."""
    kept: list[_Reading] = []
    for reading in sorted(readings, key=lambda item: (item.begin - item.stop, item.begin)):
        if all(reading.stop <= other.begin or other.stop <= reading.begin for other in kept):
            kept.append(reading)
    return sorted(kept, key=lambda item: item.begin)


def _mention(text: str, reading: _Reading, zone: tzinfo | None) -> TimeMention:
    stretch = reading.stretch
    start, end = stretch.seconds(zone)
    return TimeMention(
        start=start,
        end=end,
        begin=reading.begin,
        stop=reading.stop,
        kind=stretch.kind,
        relative=reading.relative,
        recurring=reading.recurring,
        tense=stretch.tense,
        text=text[reading.begin : reading.stop],
    )
