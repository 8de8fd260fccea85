"""English time expressions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from engine.language import calendar_spans as spans
from engine.language.calendar_spans import Span
from engine.language.time_expressions import Moment, Reading
from engine.language.time_zh import nearest_weekday

_STEPS = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_PARTS = {
    "early": "early",
    "beginning of": "early",
    "start of": "early",
    "the beginning of": "early",
    "the start of": "early",
    "mid": "mid",
    "mid-": "mid",
    "middle of": "mid",
    "the middle of": "mid",
    "late": "late",
    "end of": "late",
    "the end of": "late",
}
# Months that are names or words too: they need something beside them that makes them a date.
_AMBIGUOUS = "may|march|mar|april|june|jan|august|sun|sat|mon|wed"
_BEFORE_DATE = r"in|of|since|during|by|until|till|before|after|from|around|through|between|and|to"
_ORDINAL = r"(?:st|nd|rd|th)?"


@dataclass(frozen=True, slots=True)
class _Words:
    days: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    numbers: Mapping[str, int]
    holidays: Mapping[str, tuple[int, int, int]]
    seasons: Mapping[str, int]


Resolve = Callable[[re.Match[str], Moment], Span | None]


@cache
def _words() -> _Words:
    source = files("assets") / "language" / "time" / "en.toml"
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    holidays = {name: tuple(day) for name, day in tables.pop("holidays").items()}
    return _Words(**tables, holidays=holidays)


def read_english(text: str, moment: Moment) -> Iterator[Reading]:
    """Every reading of every rule, overlapping ones included."""
    if not _LETTERS.search(text):
        return
    plain = text.replace("’", "'")
    for pattern, resolve in _rules():
        for match in pattern.finditer(plain):
            span = resolve(match, moment)
            if span is not None:
                before = plain[: match.start()]
                recurring = before.rstrip().lower().endswith(("every", "each"))
                preposition = _PREPOSITION.search(before)
                begin = preposition.start() if preposition else match.start()
                relative = resolve in _RELATIVE and not _named(match, "year")
                yield Reading(begin, match.end(), span, relative=relative, recurring=recurring)
    yield from _hours(plain, moment)


_PREPOSITION = re.compile(r"(?<!\w)(?:in|on|during|at|around) $", re.IGNORECASE)
_LETTERS = re.compile(r"[A-Za-z]{3}|\d{4}")


@cache
def _rules() -> tuple[tuple[re.Pattern[str], Resolve], ...]:
    words = _words()
    month = rf"(?P<month>{_one_of(words.months)})\.?"
    sure_month = rf"(?P<month>(?!(?:{_AMBIGUOUS})\b){_one_of(words.months)})\.?"
    weekday = rf"(?P<weekday>{_one_of(words.weekdays)})\.?"
    full_weekday = r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    year = r"(?P<year>(?:19|20)\d\d)"
    day = rf"(?P<day>\d{{1,2}}){_ORDINAL}"
    part = rf"(?P<part>{_one_of(_PARTS)})[ -]?"
    step = rf"(?P<step>{_one_of(_STEPS)})"
    count = rf"(?P<count>\d{{1,3}}|{_one_of(words.numbers)})"
    units = r"(?P<unit>day|week|month|year)s?"
    season = rf"(?P<season>{_one_of(words.seasons)})"
    sources: tuple[tuple[str, Resolve], ...] = (
        (rf"{month} {day}(?!\d)(?:,? {year})?", _date),
        (rf"(?:the )?{day} (?:of )?{month}(?:,? {year})?", _date),
        (rf"(?:{part})?{month},? {year}", _month),
        (rf"{part}{month}", _month),
        (rf"(?:(?:{_BEFORE_DATE}) ){month}(?! \d)", _month),
        (rf"{sure_month}", _month),
        (rf"{step} {month}", _stepped_month),
        (rf"(?:{_one_of(words.days)})(?: (?:morning|afternoon|evening|night))?", _day),
        (rf"(?:the )?{step} (?P<what>week|month|year|weekend|night|quarter)", _stepped),
        (rf"{step} {weekday}(?: (?:morning|afternoon|evening|night))?", _stepped_weekday),
        (
            rf"(?:on |by |since |until |before |after )?{full_weekday}"
            r"(?: (?:morning|afternoon|evening|night))?",
            _weekday,
        ),
        (rf"(?:the )?(?:last|past|previous) {count} (?:of )?{units}", _last),
        (rf"(?:the )?(?:next|coming) {count} (?:of )?{units}", _next),
        (rf"{count} {units} (?P<side>ago|earlier|from now|later)", _away),
        (rf"(?P<side>in|within) {count} {units}", _away),
        (
            r"(?P<part>the end of|end of|the start of|start of|the beginning of|beginning of|"
            r"the middle of|middle of) (?:the|this) (?P<what>month|year|week)",
            _part_of_this,
        ),
        (rf"(?:(?P<step>last|this|next) )?{season}(?: of)? {year}", _season),
        (rf"(?P<step>last|this|next) {season}", _season),
        (rf"(?:in|of|since|during|by|before|after|until) {year}(?![-\d])", _year),
        (rf"(?:in )?(?P<part>early|mid|late)[ -]{year}", _year),
        (rf"q(?P<quarter>[1-4])(?: (?:of )?{year})?", _quarter),
        (rf"(?P<holiday>{_one_of(words.holidays)})(?:,? (?:of )?{year})?", _holiday),
        (
            rf"the (?P<what>week|weekend|day|month) (?P<side>before|after|of) "
            rf"(?:{day} {month}|{month} {day})(?:,? {year})?",
            _beside_date,
        ),
        (
            r"(?P<what>weekend) of "
            rf"(?:{day} {month}|{month} {day})(?:,? {year})?",
            _beside_date,
        ),
    )
    flags = re.IGNORECASE
    made = [(re.compile(rf"(?<![\w])(?:{_unique(s)})(?![\w])", flags), r) for s, r in sources]
    return tuple(made)


def _unique(source: str) -> str:
    """The pattern with the second use of a group's name told apart."""
    seen: set[str] = set()

    def rename(match: re.Match[str]) -> str:
        name = match[1]
        repeated = name in seen
        seen.add(name)
        return f"(?P<{name}2>" if repeated else match[0]

    return re.sub(r"\(\?P<(\w+)>", rename, source)


def _one_of(names: Mapping[str, object]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})"


def _named(match: re.Match[str], name: str) -> str:
    groups = match.groupdict()
    return (groups.get(name) or groups.get(f"{name}2") or "").lower()


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _words().numbers[text]


def _in_year(
    match: re.Match[str], moment: Moment, build: Callable[[int], Span | None]
) -> Span | None:
    year = _named(match, "year")
    if year:
        return build(int(year))
    return spans.nearest(build, moment.today, moment.prefer)


def _is_name(match: re.Match[str]) -> bool:
    """A month in small letters is a word ("it may rain", "march on") unless a date makes it one."""
    month = _named(match, "month")
    if month not in _AMBIGUOUS.split("|"):
        return False
    start = match.start("month") if match["month"] else match.start("month2")
    return match.string[start].islower() and not _named(match, "day")


def _date(match: re.Match[str], moment: Moment) -> Span | None:
    month, day = _words().months[_named(match, "month")], int(_named(match, "day"))
    return _in_year(match, moment, lambda year: spans.real_day(year, month, day))


def _month(match: re.Match[str], moment: Moment) -> Span | None:
    if _is_name(match):
        return None
    month, part = _words().months[_named(match, "month")], _named(match, "part")

    def build(year: int) -> Span:
        span = spans.month_span(year, month)
        return spans.part_of(span, _PARTS[part]) if part else span

    return _in_year(match, moment, build)


def _tense(step: int) -> str:
    return "past" if step < 0 else "future" if step > 0 else "any"


def _stepped_month(match: re.Match[str], moment: Moment) -> Span | None:
    month, step = _words().months[_named(match, "month")], _STEPS[_named(match, "step")]
    prefer = {-1: "past", 1: "future"}.get(step)
    if prefer is None:
        return spans.month_span(moment.today.year, month)
    span = spans.nearest(lambda year: spans.month_span(year, month), moment.today, prefer)
    if span is not None and span.first <= moment.today < span.after:
        span = spans.month_span(span.first.year + step, month)
    return span and Span(span.first, span.after, "month", prefer)


def _day(match: re.Match[str], moment: Moment) -> Span | None:
    words = _words().days
    text = match[0].lower()
    days = words[max((name for name in words if text.startswith(name)), key=len)]
    return spans.moved(moment.today, "day", days) if days else spans.day_span(moment.today)


def _stepped(match: re.Match[str], moment: Moment) -> Span | None:
    step, what, today = _STEPS[_named(match, "step")], _named(match, "what"), moment.today
    tense = _tense(step)
    if what == "week":
        return spans.week_span(today, step, tense)
    if what == "weekend":
        return spans.weekend_span(today, step, tense)
    if what == "month":
        return spans.month_span(today.year, today.month + step, tense)
    if what == "quarter":
        first = (today.month - 1) // 3 * 3 + 1
        return spans.months_span(today.year, first + 3 * step, 3, tense)
    if what == "year":
        return spans.year_span(today.year + step, tense)
    return spans.day_span(today + timedelta(days=step), tense)


def _stepped_weekday(match: re.Match[str], moment: Moment) -> Span | None:
    weekday, step = _words().weekdays[_named(match, "weekday")], _STEPS[_named(match, "step")]
    today = moment.today
    if step < 0:
        back = (today.weekday() - weekday) % 7 or 7
        return spans.day_span(today - timedelta(days=back), "past")
    ahead = (weekday - today.weekday()) % 7
    if step > 0:
        monday = spans.week_span(today, 1).first
        return spans.day_span(monday + timedelta(days=weekday), "future")
    return spans.day_span(today + timedelta(days=ahead))


def _weekday(match: re.Match[str], moment: Moment) -> Span | None:
    if match.string[match.start("weekday")].islower():
        return None
    return spans.day_span(nearest_weekday(moment, _words().weekdays[_named(match, "weekday")]))


def _last(match: re.Match[str], moment: Moment) -> Span | None:
    return spans.last_days(moment.today, _named(match, "unit"), _number(_named(match, "count")))


def _next(match: re.Match[str], moment: Moment) -> Span | None:
    return spans.next_days(moment.today, _named(match, "unit"), _number(_named(match, "count")))


def _away(match: re.Match[str], moment: Moment) -> Span | None:
    count, unit = _number(_named(match, "count")), _named(match, "unit")
    if not count:
        return None
    back = _named(match, "side") in ("ago", "earlier")
    return spans.moved(moment.today, unit, -count if back else count)


def _part_of_this(match: re.Match[str], moment: Moment) -> Span | None:
    today, what = moment.today, _named(match, "what")
    whole = {
        "month": spans.month_span(today.year, today.month),
        "year": spans.year_span(today.year),
        "week": spans.week_span(today, 0),
    }[what]
    return spans.part_of(whole, _PARTS[_named(match, "part")])


def _season(match: re.Match[str], moment: Moment) -> Span | None:
    month = _words().seasons[_named(match, "season")]
    step, year = _named(match, "step"), _named(match, "year")
    if year or not step:
        return _in_year(match, moment, lambda year: spans.months_span(year, month, 3))
    if step == "this":
        return spans.months_span(moment.today.year, month, 3)
    prefer = "past" if step == "last" else "future"
    return spans.nearest(lambda year: spans.months_span(year, month, 3), moment.today, prefer)


def _year(match: re.Match[str], moment: Moment) -> Span | None:
    year = int(_named(match, "year"))
    span = spans.year_span(year, _tense(year - moment.today.year))
    part = _named(match, "part")
    return spans.part_of(span, part) if part else span


def _quarter(match: re.Match[str], moment: Moment) -> Span | None:
    first = int(_named(match, "quarter")) * 3 - 2
    return _in_year(match, moment, lambda year: spans.months_span(year, first, 3))


def _holiday(match: re.Match[str], moment: Moment) -> Span | None:
    month, day, length = _words().holidays[_named(match, "holiday")]
    return _in_year(match, moment, lambda year: spans.days_from(date(year, month, day), length))


def _beside_date(match: re.Match[str], moment: Moment) -> Span | None:
    there = _date(match, moment)
    if there is None:
        return None
    side, what = _named(match, "side"), _named(match, "what")
    step = {"before": -1, "after": 1}.get(side, 0)
    day = there.first
    if what == "day":
        return spans.day_span(day + timedelta(days=step))
    if what == "weekend":
        return spans.weekend_span(day, step)
    if what == "month":
        return spans.month_span(day.year, day.month + step)
    if step == 0:
        return spans.week_span(day, 0)
    first = day - timedelta(days=7) if step < 0 else day + timedelta(days=1)
    return spans.days_from(first, 7, "week")


_HOUR = re.compile(
    r"(?<!\w)(?:in )?(?P<count>\d{1,3}|an?|one|two|three|half an) (?P<unit>hour|minute)s?"
    r"(?: (?P<side>ago|from now|later))?(?!\w)",
    re.IGNORECASE,
)


def _hours(text: str, moment: Moment) -> Iterator[Reading]:
    for match in _HOUR.finditer(text):
        ahead = match[0].lower().startswith("in ") or match["side"] in ("from now", "later")
        if not ahead and match["side"] != "ago":
            continue
        unit_s = 60.0 if match["unit"].lower() == "minute" else 3600.0
        named = match["count"].lower()
        seconds = unit_s * (0.5 if named == "half an" else float(_number(named)))
        at = moment.now + (seconds if ahead else -seconds)
        spread = 0.0 if ahead else seconds / 2
        yield Reading(
            match.start(),
            match.end(),
            None,
            (at - spread, at + spread),
            relative=True,
            tense="future" if ahead else "past",
        )


# What these mean depends on the day it is said.
_RELATIVE: frozenset[Resolve] = frozenset(
    {
        _stepped_month,
        _day,
        _stepped,
        _stepped_weekday,
        _weekday,
        _last,
        _next,
        _away,
        _part_of_this,
        _season,
        _holiday,
    }
)
