"""Spans of whole local days, and the arithmetic of weeks, months, seasons and years."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

# The last moment of a span: the next one begins a millisecond later.
_LAST_S = 0.001
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """Days from ``first`` up to, not including, ``after``. ``kind`` is what was named: day,
    week, month, year or span; ``tense`` says where it lies: past, future or any."""

    first: date
    after: date
    kind: str
    tense: str = "any"

    def seconds(self, zone: tzinfo | None) -> tuple[float, float]:
        """Epoch seconds of its start and of its last moment in a zone."""
        return _epoch(self.first, zone), _epoch(self.after, zone) - _LAST_S

    def shifted(self, days: int) -> Span:
        """The span some days later."""
        step = timedelta(days=days)
        return Span(self.first + step, self.after + step, self.kind, self.tense)


def _epoch(day: date, zone: tzinfo | None) -> float:
    midnight = datetime(day.year, day.month, day.day)
    return (midnight.replace(tzinfo=zone) if zone else midnight.astimezone()).timestamp()


def local_day(now: float, zone: tzinfo | None) -> date:
    """The local day of a moment."""
    return datetime.fromtimestamp(now, zone).date()


def day_span(day: date, tense: str = "any") -> Span:
    """One day."""
    return Span(day, day + _DAY, "day", tense)


def days_from(first: date, count: int, kind: str = "span", tense: str = "any") -> Span:
    """``count`` days from ``first`` on."""
    return Span(first, first + timedelta(days=count), kind, tense)


def week_span(day: date, weeks: int, tense: str = "any") -> Span:
    """The week of ``day``, Monday first, moved by some weeks."""
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=weeks)
    return days_from(monday, 7, "week", tense)


def weekend_span(day: date, weeks: int, tense: str = "any") -> Span:
    """Saturday and Sunday of the week of ``day``, moved by some weeks."""
    return days_from(week_span(day, weeks).first + timedelta(days=5), 2, "span", tense)


def month_span(year: int, month: int, tense: str = "any") -> Span:
    """A month; ``month`` may lie outside 1 to 12 and then counts into other years."""
    return Span(_first_of(year, month), _first_of(year, month + 1), "month", tense)


def months_span(year: int, month: int, count: int, tense: str = "any") -> Span:
    """Several months from one on."""
    return Span(_first_of(year, month), _first_of(year, month + count), "span", tense)


def year_span(year: int, tense: str = "any") -> Span:
    """A year."""
    return Span(date(year, 1, 1), date(year + 1, 1, 1), "year", tense)


def part_of(span: Span, part: str) -> Span:
    """The beginning, middle or end (``early``, ``mid``, ``late``) of a month, year or span; for
    a month its first ten days, the tenth to the twentieth, and the rest."""
    length = (span.after - span.first).days
    third = 10 if span.kind == "month" else length // 3
    bounds = {"early": (0, third), "mid": (third - 1, 2 * third), "late": (2 * third - 1, length)}
    low, high = bounds[part]
    first, after = span.first + timedelta(days=low), span.first + timedelta(days=high)
    return Span(first, after, "span", span.tense)


def nearest(build: Callable[[int], Span | None], today: date, prefer: str) -> Span | None:
    """The span of this year, the last or the next one that is nearest before (``past``) or
    after (``future``) today; one that holds today is both."""
    years = (today.year, today.year - 1) if prefer == "past" else (today.year, today.year + 1)
    for year in years:
        span = build(year)
        if span is None:
            continue
        if (prefer == "past" and span.first <= today) or (
            prefer == "future" and span.after > today
        ):
            return span
    return build(today.year)


def real_day(year: int, month: int, day: int) -> Span | None:
    """The span of a date, ``None`` where the calendar has none such."""
    try:
        return day_span(date(year, month, day))
    except ValueError:
        return None


def moved(day: date, unit: str, count: int) -> Span:
    """What lies ``count`` units from a day. Ahead it is that very day; "three weeks ago" is said
    of the days around it, and "two years ago" of the year."""
    tense = "past" if count < 0 else "future"
    there = _day_there(day, unit, count)
    if count > 0 or unit == "day":
        return day_span(there, tense)
    if unit == "year":
        return year_span(there.year, tense)
    return Span(*_around(there, 3 if unit == "week" else 7), unit, tense)


def _day_there(day: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    first = _first_of(day.year, day.month + count * (12 if unit == "year" else 1))
    last = (_first_of(first.year, first.month + 1) - _DAY).day
    return first.replace(day=min(day.day, last))


def last_days(today: date, unit: str, count: int) -> Span:
    """The ``count`` days, weeks, months or years up to today, today included."""
    return Span(today - _length(unit, count), today + _DAY, "span", "past")


def next_days(today: date, unit: str, count: int) -> Span:
    """The ``count`` days, weeks, months or years from today on."""
    return Span(today, today + _length(unit, count) + _DAY, "span", "future")


def _length(unit: str, count: int) -> timedelta:
    return timedelta(days=count * {"day": 1, "week": 7, "month": 30, "year": 365}[unit])


def _around(day: date, days: int) -> tuple[date, date]:
    return day - timedelta(days=days), day + timedelta(days=days + 1)


def _first_of(year: int, month: int) -> date:
    years, months = divmod(month - 1, 12)
    return date(year + years, months + 1, 1)
