"""Spans of whole local days, and the arithmetic of weeks, months, seasons and years."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

# The last moment of a span: the next one begins a millisecond later.
_LAST_S = 0.001
_DAY = timedelta(days=1)
# What "a few" stands for.
_FEW = (2, 6)


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

    def up_to(self, today: date) -> Span:
        """From its start up to today, for a span that has begun."""
        if self.first > today:
            return self
        return Span(self.first, today + _DAY, "span", self.tense)


@dataclass(frozen=True, slots=True)
class Hours:
    """A stretch of time that is no whole days, in epoch seconds."""

    start: float
    end: float
    tense: str
    kind: str = "hour"

    def seconds(self, zone: tzinfo | None) -> tuple[float, float]:
        """Epoch seconds of its start and of its end."""
        return self.start, self.end


Stretch = Span | Hours


def _epoch(day: date, zone: tzinfo | None) -> float:
    midnight = datetime(day.year, day.month, day.day)
    try:
        return (midnight.replace(tzinfo=zone) if zone else midnight.astimezone()).timestamp()
    except OSError:
        # Windows cannot tell the machine's zone for times before 1970.
        return midnight.replace(tzinfo=datetime.now().astimezone().tzinfo).timestamp()


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


def quarter_span(year: int, quarter: int, tense: str = "any") -> Span:
    """A quarter; ``quarter`` may lie outside 1 to 4 and then counts into other years."""
    return months_span(year, 3 * quarter - 2, 3, tense)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> Span | None:
    """The nth such weekday (0 is Monday) of a month, -1 the last; ``None`` for none such."""
    whole = month_span(year, month)
    if nth < 0:
        last = whole.after - _DAY
        return day_span(last - timedelta(days=(last.weekday() - weekday) % 7))
    ahead = (weekday - whole.first.weekday()) % 7
    day = whole.first + timedelta(days=ahead + 7 * (nth - 1))
    return day_span(day) if day < whole.after else None


# Where a part of a month or week begins and ends, in days from its start, -1 for its end.
_DAYS_OF_PART = {
    "month": {"early": (0, 10), "start": (0, 10), "mid": (9, 20), "late": (19, -1)},
    "week": {"early": (0, 2), "start": (0, 2), "mid": (2, 4), "late": (4, -1)},
}
# The same for years, in months.
_MONTHS_OF_PART = {
    "early": (1, 4),
    "start": (1, 2),
    "mid": (5, 4),
    "late": (9, 4),
    "end": (11, 2),
    "first": (1, 6),
    "second": (7, 6),
}


def part_of(span: Span, part: str) -> Span:
    """The beginning (``early``, ``start``), middle (``mid``), end (``late``, ``end``) or half
    (``first``, ``second``) of a span. For a month these are its first ten days, the tenth to the
    twentieth, and the rest; for a year its first two months where its start is meant and four
    where it is early, and in the same way for its end."""
    if span.kind == "year":
        return months_span(span.first.year, *_MONTHS_OF_PART[part], span.tense)
    length = (span.after - span.first).days
    if part in ("first", "second"):
        low, high = (0, length // 2) if part == "first" else (length // 2, length)
    elif span.kind in _DAYS_OF_PART:
        low, high = _DAYS_OF_PART[span.kind]["late" if part == "end" else part]
    else:
        third = length // 3
        thirds = {"early": 0, "start": 0, "mid": 1}.get(part, 2)
        low, high = thirds * third, length if thirds == 2 else (thirds + 1) * third
    first = span.first + timedelta(days=low)
    after = span.first + timedelta(days=length if high < 0 else high)
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
    return around(there, 3 if unit == "week" else 7, unit)


def around(day: date, days: int, kind: str = "span") -> Span:
    """The past days around one, so many before and after it."""
    reach = timedelta(days=days)
    return Span(day - reach, day + reach + _DAY, kind, "past")


def _day_there(day: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    first = _first_of(day.year, day.month + count * (12 if unit == "year" else 1))
    last = (_first_of(first.year, first.month + 1) - _DAY).day
    return first.replace(day=min(day.day, last))


def some(day: date, unit: str, sign: int) -> Span:
    """A few units ago (``sign`` -1) or ahead (1): two to six of them."""
    near, far = _length(unit, _FEW[0]), _length(unit, _FEW[1])
    if sign < 0:
        return Span(day - far, day - near + _DAY, "span", "past")
    return Span(day + near, day + far + _DAY, "span", "future")


def last_days(today: date, unit: str, count: int) -> Span:
    """The ``count`` days, weeks, months or years up to today, today included."""
    return Span(today - _length(unit, count), today + _DAY, "span", "past")


def next_days(today: date, unit: str, count: int) -> Span:
    """The ``count`` days, weeks, months or years from today on."""
    return Span(today, today + _length(unit, count) + _DAY, "span", "future")


def _length(unit: str, count: int) -> timedelta:
    return timedelta(days=count * {"day": 1, "week": 7, "month": 30, "year": 365}[unit])


def _first_of(year: int, month: int) -> date:
    years, months = divmod(month - 1, 12)
    return date(year + years, months + 1, 1)
