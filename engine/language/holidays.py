"""Holidays: fixed days, the nth weekday of a month, and days of the lunar calendar."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from engine.language import calendar_spans as spans
from engine.language.calendar_spans import Span


@dataclass(frozen=True, slots=True)
class Holidays:
    """What the calendar says: ``names`` by language give a holiday, each holiday stands in one
    of the other tables (month, day, length; month, weekday, which one, length; lunar table,
    offset, length)."""

    names: Mapping[str, Mapping[str, str]]
    fixed: Mapping[str, tuple[int, int, int]]
    weekday: Mapping[str, tuple[int, int, int, int]]
    lunar: Mapping[str, tuple[str, int, int]]
    lunar_days: Mapping[str, Mapping[int, date]]


def holiday_names(language: str) -> tuple[str, ...]:
    """The names of holidays in a language."""
    return tuple(_holidays().names[language])


def holiday_span(name: str, year: int) -> Span | None:
    """The days of a holiday, by any of its names, in a year; ``None`` where they are not known."""
    known = _holidays()
    holiday = next(names[name] for names in known.names.values() if name in names)
    if holiday in known.fixed:
        month, day, length = known.fixed[holiday]
        return _days(date(year, month, day), length)
    if holiday in known.weekday:
        month, weekday, nth, length = known.weekday[holiday]
        found = spans.nth_weekday(year, month, weekday, nth)
        return found and _days(found.first, length)
    calendar, offset, length = known.lunar[holiday]
    first = lunar_day(calendar, year)
    return _days(first + timedelta(days=offset), length) if first else None


def lunar_day(calendar: str, year: int) -> date | None:
    """The day of a lunar table (``spring`` is the first of the lunar year) in a common year."""
    return _holidays().lunar_days[calendar].get(year)


def _days(first: date, length: int) -> Span:
    return spans.days_from(first, length, "day" if length == 1 else "span")


@cache
def _holidays() -> Holidays:
    source = files("assets") / "language" / "time" / "holidays.toml"
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    return Holidays(
        names=tables["names"],
        fixed={name: tuple(day) for name, day in tables["fixed"].items()},
        weekday={name: tuple(day) for name, day in tables["weekday"].items()},
        lunar={name: tuple(day) for name, day in tables["lunar"].items()},
        lunar_days={
            name: {day.year: day for day in map(date.fromisoformat, days)}
            for name, days in tables["lunar_days"].items()
        },
    )
