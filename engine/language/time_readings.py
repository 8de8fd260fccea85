"""What the groups of a matched rule mean: one reading for each way of naming a time, for every
language alike. A reading answers ``None`` where the calendar or the numbers have no such time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from engine.language import calendar_spans as spans
from engine.language.calendar_spans import Hours, Span, Stretch
from engine.language.holidays import holiday_span, lunar_day
from engine.language.time_rules import Named

_CENTURY = 2000
# How many days "half a month" and "half a year" are.
_HALF_DAYS = {"month": 15, "year": 182}
_FEW_COUNT = 3


@dataclass(frozen=True, slots=True)
class Moment:
    """From when a text is read: the day there, and whether a date without a year means the
    nearest ``past`` or ``future`` one."""

    now: float
    zone: tzinfo | None
    today: date
    prefer: str


Read = Callable[[Named, Moment], Stretch | None]
Build = Callable[[int], Span | None]


def _tense(step: int) -> str:
    return "past" if step < 0 else "future" if step > 0 else "any"


def _year_of(named: Named, moment: Moment) -> int | None:
    step = named.whole("relative_year")
    if step is not None:
        return moment.today.year + step
    year = named.whole("year")
    return year + _CENTURY if year is not None and year < 100 else year


def _in_year(named: Named, moment: Moment, build: Build) -> Span | None:
    """The span of the year that is named, of the one "last" or "next" leads to, or the nearest."""
    year, step = _year_of(named, moment), named.whole("step")
    if year is not None:
        return build(year)
    if step is None:
        return spans.nearest(build, moment.today, moment.prefer)
    return _by_step(build, moment.today, step)


def _by_step(build: Build, today: date, step: int) -> Span | None:
    """The last one that is over, the next that has not begun, or this year's."""
    this = build(today.year)
    if this is None or step == 0:
        return this
    if step < 0:
        found = this if this.after <= today else build(today.year - 1)
    else:
        found = this if this.first > today else build(today.year + 1)
    return found and Span(found.first, found.after, found.kind, _tense(step))


def _date(named: Named, moment: Moment) -> Span | None:
    month, day = named.whole("month"), named.whole("day")
    if month is None or day is None:
        return None
    return _in_year(named, moment, lambda year: spans.real_day(year, month, day))


def _days(named: Named, moment: Moment) -> Span | None:
    """From one date to another, the second perhaps in the next year."""
    month, day, last_day = (named.whole(name) for name in ("month", "day", "day_to"))
    if month is None or day is None or last_day is None:
        return None
    last_month = named.whole("month_to") or month

    def build(year: int) -> Span | None:
        first = spans.real_day(year, month, day)
        last = spans.real_day(year + (last_month < month), last_month, last_day)
        if first is None or last is None or last.first <= first.first:
            return None
        return Span(first.first, last.after, "span")

    return _in_year(named, moment, build)


def _month(named: Named, moment: Moment) -> Span | None:
    month = named.whole("month")
    if month is None:
        return None
    return _in_year(named, moment, lambda year: _part(named, spans.month_span(year, month)))


def _months(named: Named, moment: Moment) -> Span | None:
    first, last = named.whole("month"), named.whole("month_to")
    if first is None or last is None or first == last:
        return None
    count = (last - first) % 12 + 1
    return _in_year(named, moment, lambda year: spans.months_span(year, first, count))


def _part(named: Named, span: Span) -> Span:
    part = named.word("part")
    return spans.part_of(span, part) if part else span


def _month_by_step(named: Named, moment: Moment) -> Span | None:
    step, today = named.whole("step") or 0, moment.today
    whole = spans.month_span(today.year, today.month + step, _tense(step))
    day = named.whole("day")
    if day is None:
        return _part(named, whole)
    found = spans.real_day(whole.first.year, whole.first.month, day)
    return found and Span(found.first, found.after, "day", whole.tense)


def _named_month_by_step(named: Named, moment: Moment) -> Span | None:
    month = named.whole("month")
    if month is None:
        return None
    return _in_year(named, moment, lambda year: spans.month_span(year, month))


def _part_of_this_month(named: Named, moment: Moment) -> Span | None:
    """The end of this month; where another month was named before, that one is meant."""
    if "月" in named.match.string[: named.match.start()]:
        return None
    return _part(named, spans.month_span(moment.today.year, moment.today.month))


def _part_of_this_year(named: Named, moment: Moment) -> Span | None:
    return _in_year(named, moment, lambda year: _part(named, spans.year_span(year)))


def _part_of_this(named: Named, moment: Moment) -> Span | None:
    return _part(named, _whole_span(named.word("what"), named.whole("step") or 0, moment.today))


def _whole(named: Named, moment: Moment) -> Span | None:
    return _whole_span(named.word("what"), named.whole("step") or 0, moment.today)


def _whole_span(what: str, step: int, today: date) -> Span:
    tense = _tense(step)
    if what == "week":
        return spans.week_span(today, step, tense)
    if what == "weekend":
        return spans.weekend_span(today, step, tense)
    if what == "month":
        return spans.month_span(today.year, today.month + step, tense)
    if what == "quarter":
        return spans.quarter_span(today.year, (today.month + 2) // 3 + step, tense)
    if what == "year":
        return spans.year_span(today.year + step, tense)
    return spans.day_span(today + timedelta(days=step), tense)


def _year(named: Named, moment: Moment) -> Span | None:
    year = _year_of(named, moment)
    if year is None:
        return None
    return _part(named, spans.year_span(year, _tense(year - moment.today.year)))


def _half(named: Named, moment: Moment) -> Span | None:
    first = 1 if named.whole("half") == 1 else 7
    return _in_year(named, moment, lambda year: spans.months_span(year, first, 6))


def _season(named: Named, moment: Moment) -> Span | None:
    month, count = named.numbers("season")
    return _in_year(named, moment, lambda year: _part(named, spans.months_span(year, month, count)))


def _quarter(named: Named, moment: Moment) -> Span | None:
    quarter, step, today = named.whole("quarter"), named.whole("step"), moment.today
    if quarter is None:
        return _whole_span("quarter", step or 0, today)
    return _in_year(named, moment, lambda year: spans.quarter_span(year, quarter))


def _week(named: Named, moment: Moment) -> Span | None:
    return _whole_span("week", named.whole("step") or 0, moment.today)


def _weekend(named: Named, moment: Moment) -> Span | None:
    step = named.whole("step")
    if step is not None:
        return _whole_span("weekend", step, moment.today)
    before = moment.prefer == "past" and moment.today.weekday() < 5
    return spans.weekend_span(moment.today, -1 if before else 0)


def _weekday(named: Named, moment: Moment) -> Span | None:
    """The last or the next such day, today included."""
    weekday = named.whole("weekday")
    if weekday is None:
        return None
    back, ahead = _to_weekday(moment.today, weekday)
    days = -back if moment.prefer == "past" else ahead
    return spans.day_span(moment.today + timedelta(days=days))


def _to_weekday(today: date, weekday: int) -> tuple[int, int]:
    return (today.weekday() - weekday) % 7, (weekday - today.weekday()) % 7


def _weekday_of_week(named: Named, moment: Moment) -> Span | None:
    """A day of last, this or next week."""
    weekday, step = named.whole("weekday"), named.whole("step") or 0
    if weekday is None:
        return None
    monday = spans.week_span(moment.today, step).first
    return spans.day_span(monday + timedelta(days=weekday), _tense(step))


def _weekday_beside(named: Named, moment: Moment) -> Span | None:
    """The latest before today for "last Tuesday", that of next week for "next Tuesday", the
    nearest ahead for "this Tuesday"."""
    weekday, step = named.whole("weekday"), named.whole("step") or 0
    if weekday is None:
        return None
    back, ahead = _to_weekday(moment.today, weekday)
    if step < 0:
        return spans.day_span(moment.today - timedelta(days=back or 7), "past")
    if step > 0:
        monday = spans.week_span(moment.today, 1).first
        return spans.day_span(monday + timedelta(days=weekday), "future")
    return spans.day_span(moment.today + timedelta(days=ahead))


def _day_by_word(named: Named, moment: Moment) -> Span | None:
    days = named.whole("days") or 0
    return spans.day_span(moment.today + timedelta(days=days), _tense(days))


def _amount(named: Named) -> tuple[int, str]:
    """How many of which unit, half units in days."""
    unit = named.word("unit") or "day"
    count = named.value("count")
    if count == "half":
        return _HALF_DAYS.get(unit, 0), "day"
    if isinstance(count, int):
        return count, unit
    return _FEW_COUNT, unit


def _away(named: Named, moment: Moment) -> Span | None:
    """So many units ago or from now; what has no side lies ahead."""
    side = named.whole("side")
    sign = 1 if side is None else side
    if named.value("count") == "few":
        return spans.some(moment.today, named.word("unit"), sign)
    count, unit = _amount(named)
    if not count:
        return None
    if unit == "day" and named.word("unit") != "day" and sign < 0:
        return spans.around(moment.today - timedelta(days=count), count // 12)
    return spans.moved(moment.today, unit, sign * count)


def _past_days(named: Named, moment: Moment) -> Span | None:
    count, unit = _amount(named)
    return spans.last_days(moment.today, unit, count) if count else None


def _next_days(named: Named, moment: Moment) -> Span | None:
    count, unit = _amount(named)
    return spans.next_days(moment.today, unit, count) if count else None


def _within(named: Named, moment: Moment) -> Span | None:
    """For "within three days" the last three in a question, the next three in a plan."""
    if moment.prefer == "past" and named.text("side") != "within":
        return _past_days(named, moment)
    return _next_days(named, moment)


def _day_of_month(named: Named, moment: Moment) -> Span | None:
    """The nearest such day: "the 14th" without a month."""
    day, today = named.whole("day"), moment.today
    if day is None:
        return None
    past = moment.prefer == "past"
    for step in range(3):
        month = spans.month_span(today.year, today.month + (-step if past else step)).first
        span = spans.real_day(month.year, month.month, day)
        if span and (span.first <= today if past else span.first >= today):
            return span
    return None


def _holiday(named: Named, moment: Moment) -> Span | None:
    name = named.text("holiday").lower()
    return _in_year(named, moment, lambda year: holiday_span(name, year))


def _first_month_day(named: Named, moment: Moment) -> Span | None:
    """A day of the first lunar month."""
    day = named.whole("day")

    def build(year: int) -> Span | None:
        first = lunar_day("spring", year)
        return spans.day_span(first + timedelta(days=(day or 1) - 1)) if first else None

    return _in_year(named, moment, build)


def _nth(named: Named, moment: Moment) -> Span | None:
    """The nth week, weekend or weekday of a month. Weeks are the month's own: days 1 to 7 are
    the first; a weekend belongs to the month of its Saturday."""
    nth, month = named.whole("nth"), named.whole("month")
    weekday, what = named.whole("weekday"), named.word("what")
    if nth is None or month is None:
        return None

    def build(year: int) -> Span | None:
        if what == "week":
            whole = spans.month_span(year, month)
            first = whole.after - timedelta(days=7) if nth < 0 else whole.first
            return spans.days_from(first + timedelta(days=7 * max(0, nth - 1)), 7, "week")
        day = spans.nth_weekday(year, month, 5 if weekday is None else weekday, nth)
        return spans.days_from(day.first, 2) if day and weekday is None else day

    return _in_year(named, moment, build)


def _beside(named: Named, moment: Moment) -> Span | None:
    """What lies before, after or around a date."""
    there = _date(named, moment)
    if there is None:
        return None
    side, weekday = named.whole("side") or 0, named.whole("weekday")
    if weekday is not None:
        back, ahead = _to_weekday(there.first, weekday)
        days = -(back or 7) if side < 0 else (ahead or 7)
        return spans.day_span(there.first + timedelta(days=days))
    if named.value("count") is not None:
        return _counted_beside(named, there.first, side)
    return _whole_beside(named.word("what"), there.first, side)


def _counted_beside(named: Named, day: date, side: int) -> Span:
    """A day for "two days before 9 June", the stretch up to it for "a week before"."""
    count, unit = _amount(named)
    days = spans.last_days(day, unit, count)
    length = (days.after - days.first).days - 1
    if unit == "day" and named.value("count") != "few":
        return spans.day_span(day + timedelta(days=side * length))
    first = day - timedelta(days=length) if side < 0 else day + timedelta(days=1)
    return spans.days_from(first, length)


def _whole_beside(what: str, day: date, side: int) -> Span:
    if what == "week" and side:
        first = day - timedelta(days=7) if side < 0 else day + timedelta(days=1)
        return spans.days_from(first, 7, "week")
    found = _whole_span(what, side, day)
    return Span(found.first, found.after, found.kind)


def _hours_away(named: Named, moment: Moment) -> Hours | None:
    seconds = _seconds(named)
    side = named.whole("side") or 1
    if not seconds:
        return None
    at, spread = moment.now + side * seconds, seconds / 2 if side < 0 else 0.0
    return Hours(at - spread, at + spread, _tense(side))


def _past_hours(named: Named, moment: Moment) -> Hours | None:
    seconds = _seconds(named)
    return Hours(moment.now - seconds, moment.now, "past") if seconds else None


def _seconds(named: Named) -> float:
    count, unit_s = named.value("count"), named.whole("seconds") or 0
    if isinstance(count, int):
        return float(count * unit_s)
    return 0.5 * unit_s if count == "half" else float(_FEW_COUNT * unit_s)


READINGS: Mapping[str, Read] = {
    "away": _away,
    "beside": _beside,
    "date": _date,
    "day_by_word": _day_by_word,
    "day_of_month": _day_of_month,
    "days": _days,
    "first_month_day": _first_month_day,
    "half": _half,
    "holiday": _holiday,
    "hours_away": _hours_away,
    "month": _month,
    "month_by_step": _month_by_step,
    "months": _months,
    "named_month_by_step": _named_month_by_step,
    "next_days": _next_days,
    "nth": _nth,
    "part_of_this": _part_of_this,
    "part_of_this_month": _part_of_this_month,
    "part_of_this_year": _part_of_this_year,
    "past_days": _past_days,
    "past_hours": _past_hours,
    "quarter": _quarter,
    "season": _season,
    "week": _week,
    "weekday": _weekday,
    "weekday_beside": _weekday_beside,
    "weekday_of_week": _weekday_of_week,
    "weekend": _weekend,
    "whole": _whole,
    "within": _within,
    "year": _year,
}
"""Every way of reading, by the name that the rule tables use."""
