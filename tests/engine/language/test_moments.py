"""Bounds of time filters, as people write them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from engine.domain.errors import InvalidInput
from engine.language.moments import parse_moment
from engine.use_cases.time_bounds import time_bounds

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")
# A Wednesday.
NOW = datetime(2026, 5, 20, 15, tzinfo=SHANGHAI).timestamp()


def shown(text: str, *, end: bool = False, zone: ZoneInfo = SHANGHAI) -> str:
    moment = parse_moment(text, NOW, zone, end=end)
    return datetime.fromtimestamp(moment, zone).strftime("%Y-%m-%d %H:%M")


DAYS = {
    "昨天": ("2026-05-19", "2026-05-19"),
    "前天": ("2026-05-18", "2026-05-18"),
    "最近三天": ("2026-05-17", "2026-05-20"),
    "上周": ("2026-05-11", "2026-05-17"),
    "上个月": ("2026-04-01", "2026-04-30"),
    "五月": ("2026-05-01", "2026-05-31"),
    "三天前": ("2026-05-17", "2026-05-17"),
    "三天": ("2026-05-17", "2026-05-20"),
    "从上周": ("2026-05-11", "2026-05-17"),
    "到昨天为止": ("2026-05-19", "2026-05-19"),
    "2025年3月": ("2025-03-01", "2025-03-31"),
    "春节": ("2026-02-16", "2026-02-23"),
    "14号": ("2026-05-14", "2026-05-14"),
    "last 3 days": ("2026-05-17", "2026-05-20"),
    "3 days ago": ("2026-05-17", "2026-05-17"),
    "three days": ("2026-05-17", "2026-05-20"),
    "last week": ("2026-05-11", "2026-05-17"),
    "since last week": ("2026-05-11", "2026-05-17"),
    "last seven days": ("2026-05-13", "2026-05-20"),
    "in May": ("2026-05-01", "2026-05-31"),
    "May": ("2026-05-01", "2026-05-31"),
    "May 7": ("2026-05-07", "2026-05-07"),
    "sat": ("2026-05-16", "2026-05-16"),
    "2024": ("2024-01-01", "2024-12-31"),
    "2026-05": ("2026-05-01", "2026-05-31"),
    "2026-05-01": ("2026-05-01", "2026-05-01"),
    "2026/5/1": ("2026-05-01", "2026-05-01"),
    "20260501": ("2026-05-01", "2026-05-01"),
}


@pytest.mark.parametrize(("text", "days"), DAYS.items())
def test_words_and_dates_are_whole_local_days(text: str, days: tuple[str, str]) -> None:
    assert shown(text) == f"{days[0]} 00:00"
    assert shown(text, end=True) == f"{days[1]} 23:59"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("24h", "2026-05-19 15:00"),
        ("7d", "2026-05-13 15:00"),
        ("2w", "2026-05-06 15:00"),
        ("1.5h", "2026-05-20 13:30"),
        ("now", "2026-05-20 15:00"),
        ("现在", "2026-05-20 15:00"),
        ("2026-05-01T09:30", "2026-05-01 09:30"),
        ("2026-05-01T01:30:00Z", "2026-05-01 09:30"),
        ("1788193800", "2026-09-01 00:30"),
    ],
)
def test_a_moment_is_the_same_as_start_and_as_end(text: str, moment: str) -> None:
    assert shown(text) == shown(text, end=True) == moment


@pytest.mark.parametrize(
    "text",
    [
        "blah",
        "someday",
        "最近",
        "昨天和今天",
        "小May喜欢猫",
        "每周五",
        "",
        "5",
        "before 2024",
        "上周我去了",
    ],
)
def test_what_is_not_understood_is_said(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_moment(text, NOW, SHANGHAI)
    assert caught.value.key == "error.time_not_understood"


@pytest.mark.parametrize("text", ["2026-13-01", "2026-02-30", "99999999999999"])
def test_a_date_that_does_not_exist_is_said(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_moment(text, NOW, SHANGHAI)
    assert caught.value.key == "error.bad_time"


def test_half_past_midnight_belongs_to_the_day_that_begins() -> None:
    """Created at 00:30 on 1 September in Shanghai, still 31 August in UTC."""
    created = datetime(2026, 9, 1, 0, 30, tzinfo=SHANGHAI).timestamp()
    now = datetime(2026, 9, 10, tzinfo=SHANGHAI).timestamp()
    start, end = time_bounds("9月1日", "9月1日", now, SHANGHAI)
    assert start is not None and end is not None and start <= created <= end
    _, until = time_bounds("8月31日", "8月31日", now, SHANGHAI)
    assert until is not None and until < created
    start, end = time_bounds("8月31日", "8月31日", now, NEW_YORK)
    assert start is not None and end is not None and start <= created <= end


def test_bounds_that_can_match_nothing_are_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        time_bounds("昨天", "上周", NOW, SHANGHAI)
    assert caught.value.key == "error.time_order"
    assert time_bounds(None, None, NOW, SHANGHAI) == (None, None)
