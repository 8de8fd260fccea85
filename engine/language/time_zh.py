"""Chinese time expressions."""

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

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "日": 7,
    "天": 7,
}
_NUMBER = r"(?:\d{1,3}|[零〇一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_YEAR = r"(?:\d{4}|[一二][零〇一二三四五六七八九]{3})"
_PART = r"(?:上旬|中旬|下旬|月初|月中|月底|月末|初|底|末|中)"
# Words that begin with a month or a number of days and are none.
_NO_MONTH = r"(?![亮饼球薪租票光台嫂子天季])"
_NO_DAY = r"(?![楼线店机码桌位院选员房库门车房厅])"
_PARTS = {
    "初": "early",
    "上旬": "early",
    "月初": "early",
    "中": "mid",
    "中旬": "mid",
    "月中": "mid",
    "底": "late",
    "末": "late",
    "下旬": "late",
    "月底": "late",
    "月末": "late",
}
_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "个星期": "week",
    "个礼拜": "week",
    "个月": "month",
    "月": "month",
    "年": "year",
}
_STEPS = {"上上": -2, "上": -1, "前": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
_TIME_OF_DAY = r"(?:清晨|凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|深夜|早|晚)?"
_FEW = 3


@dataclass(frozen=True, slots=True)
class _Words:
    days: Mapping[str, int]
    years: Mapping[str, int]
    holidays: Mapping[str, tuple[int, int, int]]
    lunar: Mapping[str, tuple[str, int, int]]
    lunar_dates: Mapping[str, tuple[date, ...]]
    seasons: Mapping[str, int]


Resolve = Callable[[re.Match[str], Moment], Span | None]


@cache
def _words() -> _Words:
    source = files("assets") / "language" / "time" / "zh.toml"
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    return _Words(
        days=tables["days"],
        years=tables["years"],
        holidays={name: tuple(day) for name, day in tables["holidays"].items()},
        lunar={name: tuple(day) for name, day in tables["lunar"].items()},
        lunar_dates={
            name: tuple(map(date.fromisoformat, days))
            for name, days in tables["lunar_dates"].items()
        },
        seasons=tables["seasons"],
    )


def read_chinese(text: str, moment: Moment) -> Iterator[Reading]:
    """Every reading of every rule, overlapping ones included."""
    for pattern, resolve in _rules():
        for match in pattern.finditer(text):
            span = resolve(match, moment)
            if span is not None:
                recurring = text[max(0, match.start() - 2) : match.start()].endswith(("每", "每个"))
                yield Reading(
                    match.start(),
                    match.end(),
                    span,
                    relative=resolve in _RELATIVE and not match.groupdict().get("year"),
                    recurring=recurring,
                )
    yield from _hours(text, moment)


@cache
def _rules() -> tuple[tuple[re.Pattern[str], Resolve], ...]:
    words = _words()
    year = rf"(?:(?P<year>{_YEAR})年|(?P<relative>{_one_of(words.years)})的?)"
    month = rf"(?P<month>{_NUMBER})月(?:份)?"
    days = f"{_one_of(words.days)}"
    units = "天|日|周|个?星期|个?礼拜|个月|年"
    sources: tuple[tuple[str, Resolve], ...] = (
        (r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", _date),
        (
            rf"{year}?{month}(?P<day>{_NUMBER})[日号](?:至|到|[-—~～])(?P<until>{_NUMBER})[日号]?",
            _days,
        ),
        (rf"{year}?{month}(?P<day>{_NUMBER})[日号]{_TIME_OF_DAY}{_NO_DAY}", _date),
        (rf"{year}?{month}(?P<day>\d{{1,2}})(?![\d年月个])", _date),
        (rf"{year}?{month}(?P<part>{_PART})?{_NO_MONTH}", _month),
        (rf"{year}(?P<part>初|底|末|年初|年底|年中|上半年|下半年)?", _year),
        (rf"{year}?(?<![秋春])(?P<season>{_one_of(words.seasons)})", _season),
        (
            r"(?:(?P<year>\d{4})年?)?第?(?P<quarter>[一二三四1-4])季度|[Qq](?P<q>[1-4])(?![\w])",
            _quarter,
        ),
        (
            rf"(?P<step>上上|下下|上|下|这|本|当|前)(?:个)?月(?P<part>初|底|末|中|中旬|上旬|下旬)?"
            rf"(?:(?P<day>{_NUMBER})[日号]){{0,1}}",
            _stepped_month,
        ),
        (r"(?<![\w个])(?P<part>月初|月中|月底|月末)", _this_month_part),
        (r"(?<!\d)(?P<part>年初|年中|年底|年末)", _this_year_part),
        (
            r"(?<!个)(?:(?P<step>上上|下下|上|下|这|本)个?)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
            rf"{_TIME_OF_DAY}(?!年)",
            _weekday,
        ),
        (r"(?P<step>上上|下下|上|下|这|本)(?:个)?(?:周|星期|礼拜)(?![一二三四五六日天末])", _week),
        (r"(?<!个)(?:(?P<step>上上|下下|上|下|这|本)个?)?周末", _weekend),
        (rf"(?:{days}){_TIME_OF_DAY}", _day),
        (rf"(?P<count>{_NUMBER}|半|几)(?P<unit>{units})(?P<side>之前|以前|前|之后|以后|后)", _away),
        (rf"(?:最近|近|过去|这|前)(?:的)?(?P<count>{_NUMBER}|几)(?P<unit>{units})", _last),
        (rf"(?:未来|接下来|今后|往后)(?:的)?(?P<count>{_NUMBER}|几)(?P<unit>{units})", _next),
        (
            rf"(?<![\d一二三四五六七八九十月第])(?P<day>\d{{1,2}}|[一二]?十[一二三四五六七八九]?)号"
            rf"{_TIME_OF_DAY}{_NO_DAY}",
            _day_of_month,
        ),
        (rf"{year}?(?P<holiday>{_one_of(words.holidays)})", _holiday),
        (rf"{year}?(?P<holiday>{_one_of(words.lunar)})", _lunar_holiday),
    )
    return tuple((re.compile(source), resolve) for source, resolve in sources)


def _one_of(names: Mapping[str, object]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


def number(text: str) -> int:
    """The number that Arabic or Chinese digits name, below a thousand, or a year."""
    if text.isdigit() and text.isascii():
        return int(text)
    if len(text) == 4:
        return int("".join(str(_DIGITS[c]) for c in text))
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return _DIGITS[text]
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)


def _year_of(match: re.Match[str], moment: Moment) -> int | None:
    named = match.groupdict()
    if named.get("year"):
        return number(named["year"])
    if named.get("relative"):
        return moment.today.year + _words().years[named["relative"]]
    return None


def _in_year(
    match: re.Match[str], moment: Moment, build: Callable[[int], Span | None]
) -> Span | None:
    year = _year_of(match, moment)
    if year is None:
        return spans.nearest(build, moment.today, moment.prefer)
    return build(year) if 1000 <= year <= 9000 else None


def _date(match: re.Match[str], moment: Moment) -> Span | None:
    month, day = number(match["month"]), number(match["day"])
    return _in_year(match, moment, lambda year: spans.real_day(year, month, day))


def _days(match: re.Match[str], moment: Moment) -> Span | None:
    """Some days of a month, from one to another."""
    first = _date(match, moment)
    if first is None:
        return None
    last = spans.real_day(first.first.year, first.first.month, number(match["until"]))
    if last is None or last.first <= first.first:
        return None
    return Span(first.first, last.after, "span")


def _month(match: re.Match[str], moment: Moment) -> Span | None:
    month = number(match["month"])
    if not 1 <= month <= 12:
        return None

    def build(year: int) -> Span:
        return _with_part(spans.month_span(year, month), match["part"])

    return _in_year(match, moment, build)


def _with_part(span: Span, part: str | None) -> Span:
    return spans.part_of(span, _PARTS[part]) if part else span


def _year(match: re.Match[str], moment: Moment) -> Span | None:
    year = _year_of(match, moment)
    if year is None or not 1900 <= year <= 2200:
        return None
    part = (match["part"] or "").removeprefix("年")
    if part in ("上半年", "下半年"):
        return spans.months_span(year, 1 if part == "上半年" else 7, 6)
    if part in ("初", "底", "末"):
        return spans.months_span(year, 1 if part == "初" else 11, 2)
    return spans.year_span(year, _tense(year - moment.today.year))


def _tense(step: int) -> str:
    return "past" if step < 0 else "future" if step > 0 else "any"


def _season(match: re.Match[str], moment: Moment) -> Span | None:
    month = _words().seasons[match["season"]]
    return _in_year(match, moment, lambda year: spans.months_span(year, month, 3))


def _quarter(match: re.Match[str], moment: Moment) -> Span | None:
    quarter = number(match["quarter"] or match["q"])
    return _in_year(match, moment, lambda year: spans.months_span(year, quarter * 3 - 2, 3))


def _stepped_month(match: re.Match[str], moment: Moment) -> Span | None:
    step, today = _STEPS[match["step"]], moment.today
    month = spans.month_span(today.year, today.month + step, _tense(step))
    if match["day"]:
        day = spans.real_day(month.first.year, month.first.month, number(match["day"]))
        return Span(day.first, day.after, "day", _tense(step)) if day else None
    return _with_part(month, match["part"])


def _this_month_part(match: re.Match[str], moment: Moment) -> Span | None:
    return _with_part(spans.month_span(moment.today.year, moment.today.month), match["part"])


def _this_year_part(match: re.Match[str], moment: Moment) -> Span | None:
    def build(year: int) -> Span:
        first = {"年初": 1, "年中": 6}.get(match["part"], 11)
        return spans.months_span(year, first, 2)

    return spans.nearest(build, moment.today, moment.prefer)


def _weekday(match: re.Match[str], moment: Moment) -> Span | None:
    weekday = _DIGITS[match["weekday"]] - 1
    if match["step"]:
        step = _STEPS[match["step"]]
        monday = spans.week_span(moment.today, step).first
        return spans.day_span(monday + timedelta(days=weekday), _tense(step))
    return spans.day_span(nearest_weekday(moment, weekday))


def nearest_weekday(moment: Moment, weekday: int) -> date:
    """The last or the next such day of the week, today included."""
    ahead = (weekday - moment.today.weekday()) % 7
    back = (moment.today.weekday() - weekday) % 7
    days = -back if moment.prefer == "past" else ahead
    return moment.today + timedelta(days=days)


def _week(match: re.Match[str], moment: Moment) -> Span | None:
    step = _STEPS[match["step"]]
    return spans.week_span(moment.today, step, _tense(step))


def _weekend(match: re.Match[str], moment: Moment) -> Span | None:
    step = _STEPS[match["step"] or "这"]
    if not match["step"] and moment.prefer == "past" and moment.today.weekday() < 5:
        step = -1
    return spans.weekend_span(moment.today, step, _tense(step) if match["step"] else "any")


def _day(match: re.Match[str], moment: Moment) -> Span | None:
    words = _words().days
    name = next(name for name in sorted(words, key=len, reverse=True) if match[0].startswith(name))
    return (
        spans.moved(moment.today, "day", words[name])
        if words[name]
        else spans.day_span(moment.today)
    )


def _count(match: re.Match[str]) -> int:
    return _FEW if match["count"] == "几" else number(match["count"])


def _away(match: re.Match[str], moment: Moment) -> Span | None:
    unit = _UNITS[match["unit"]]
    back = "前" in match["side"]
    if match["count"] == "半":
        if unit not in ("month", "year"):
            return None
        unit, count = ("day", 15) if unit == "month" else ("month", 6)
    else:
        count = _count(match)
    return spans.moved(moment.today, unit, -count if back else count) if count else None


def _last(match: re.Match[str], moment: Moment) -> Span | None:
    return spans.last_days(moment.today, _UNITS[match["unit"]], _count(match))


def _next(match: re.Match[str], moment: Moment) -> Span | None:
    return spans.next_days(moment.today, _UNITS[match["unit"]], _count(match))


def _day_of_month(match: re.Match[str], moment: Moment) -> Span | None:
    day, today = number(match["day"]), moment.today
    steps = (0, -1) if moment.prefer == "past" else (0, 1)
    for step in steps:
        month = spans.month_span(today.year, today.month + step).first
        span = spans.real_day(month.year, month.month, day)
        passed = span is not None and span.first <= today
        if span and (passed if moment.prefer == "past" else span.first >= today):
            return span
    return None


def _holiday(match: re.Match[str], moment: Moment) -> Span | None:
    month, day, length = _words().holidays[match["holiday"]]
    return _in_year(match, moment, lambda year: spans.days_from(date(year, month, day), length))


def _lunar_holiday(match: re.Match[str], moment: Moment) -> Span | None:
    words = _words()
    table, offset, length = words.lunar[match["holiday"]]
    dates = {day.year: day for day in words.lunar_dates[table]}

    def build(year: int) -> Span | None:
        day = dates.get(year)
        return spans.days_from(day + timedelta(days=offset), length) if day else None

    return _in_year(match, moment, build)


_HOUR = re.compile(
    rf"(?P<count>{_NUMBER}|半)(?:个)?(?P<unit>小时|钟头|分钟)(?P<side>之前|以前|前|之后|以后|后)"
)


def _hours(text: str, moment: Moment) -> Iterator[Reading]:
    for match in _HOUR.finditer(text):
        unit_s = 60.0 if match["unit"] == "分钟" else 3600.0
        count = 0.5 if match["count"] == "半" else float(number(match["count"]))
        back = "前" in match["side"]
        at = moment.now + count * unit_s * (-1 if back else 1)
        reach = count * unit_s / 2 if back else 0.0
        yield Reading(
            match.start(),
            match.end(),
            None,
            (at - reach, at + reach),
            relative=True,
            tense="past" if back else "future",
        )


# What these mean depends on the day it is said.
_RELATIVE: frozenset[Resolve] = frozenset(
    {
        _season,
        _stepped_month,
        _this_month_part,
        _this_year_part,
        _weekday,
        _week,
        _weekend,
        _day,
        _away,
        _last,
        _next,
        _day_of_month,
        _holiday,
        _lunar_holiday,
    }
)
