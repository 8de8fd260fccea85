"""Time expressions in a text: where they stand and which stretch of time they mean.

Chinese and English, mixed as people mix them. Of overlapping readings the longest wins. What is
not understood is not reported: a wrong date is worse than none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, tzinfo
from functools import cache

from engine.language.calendar_spans import Span, local_day

_LONGEST_TEXT = 20_000


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
class Moment:
    """From when a text is read: the day there, and whether a date without a year means the
    nearest ``past`` or ``future`` one."""

    now: float
    zone: tzinfo | None
    today: date
    prefer: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a stretch of a text, with its span or, for hours, its seconds."""

    begin: int
    stop: int
    span: Span | None
    seconds: tuple[float, float] | None = None
    relative: bool = False
    recurring: bool = False
    tense: str = "any"


Reader = Callable[[str, Moment], Iterator[Reading]]


def find_times(
    text: str, now: float, zone: tzinfo | None, *, prefer: str = "past"
) -> tuple[TimeMention, ...]:
    """The times a text names, in its order.

    ``now`` is epoch seconds; days begin at midnight in ``zone`` (``None``: the machine's).
    ``prefer`` is ``past`` for questions and ``future`` for plans.
    """
    head = text[:_LONGEST_TEXT]
    moment = Moment(now, zone, local_day(now, zone), prefer)
    readings = [reading for reader in _readers() for reading in reader(head, moment)]
    return tuple(_mention(head, reading, moment) for reading in _longest(readings))


@cache
def _readers() -> tuple[Reader, ...]:
    from engine.language.time_en import read_english
    from engine.language.time_zh import read_chinese

    return read_chinese, read_english


def _longest(readings: Iterable[Reading]) -> list[Reading]:
    """The readings that stay when longer ones push out those they overlap."""
    kept: list[Reading] = []
    for reading in sorted(readings, key=lambda item: (item.begin - item.stop, item.begin)):
        if all(reading.stop <= other.begin or other.stop <= reading.begin for other in kept):
            kept.append(reading)
    return sorted(kept, key=lambda item: item.begin)


def _mention(text: str, reading: Reading, moment: Moment) -> TimeMention:
    span = reading.span
    if span is None:
        start, end = reading.seconds or (moment.now, moment.now)
        kind, tense = "hour", reading.tense
    else:
        start, end = span.seconds(moment.zone)
        kind, tense = span.kind, span.tense
    return TimeMention(
        start=start,
        end=end,
        begin=reading.begin,
        stop=reading.stop,
        kind=kind,
        relative=reading.relative or tense != "any",
        recurring=reading.recurring,
        tense=tense,
        text=text[reading.begin : reading.stop],
    )
