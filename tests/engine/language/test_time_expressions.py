"""Times in texts: where they stand, and which stretch of time they mean."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.time_expressions import find_times

SHANGHAI = ZoneInfo("Asia/Shanghai")
# A Wednesday.
NOW = datetime(2026, 3, 18, 10, tzinfo=SHANGHAI).timestamp()


def days(text: str, prefer: str = "past", zone: ZoneInfo = SHANGHAI) -> list[tuple[str, str]]:
    """First and last local day of each time in a text."""
    found = find_times(text, NOW, zone, prefer=prefer)
    return [(_day(time.start, zone), _day(time.end, zone)) for time in found]


def _day(moment: float, zone: ZoneInfo) -> str:
    return datetime.fromtimestamp(moment, zone).date().isoformat()


ONE_DAY = {
    "昨天": "2026-03-17",
    "前天": "2026-03-16",
    "大前天晚上": "2026-03-15",
    "今晚八点": "2026-03-18",
    "明早带护照": "2026-03-19",
    "大后天": "2026-03-21",
    "1月14日": "2026-01-14",
    "十月三号": "2025-10-03",
    "2025年11月2日": "2025-11-02",
    "2026/01/05": "2026-01-05",
    "去年8月14日早晨": "2025-08-14",
    "14号": "2026-03-14",
    "20号": "2026-02-20",
    "上个月5号": "2026-02-05",
    "下下周三": "2026-04-01",
    "上周五": "2026-03-13",
    "周一": "2026-03-16",
    "星期天": "2026-03-15",
    "三天前": "2026-03-15",
    "元旦": "2026-01-01",
    "2024年除夕": "2024-02-09",
    "yesterday": "2026-03-17",
    "the day before yesterday": "2026-03-16",
    "3 days ago": "2026-03-15",
    "on 8 May, 2023": "2023-05-08",
    "May 7, 2023": "2023-05-07",
    "June 3rd": "2025-06-03",
    "the 2nd of February 2026": "2026-02-02",
    "last Friday": "2026-03-13",
    "last Wednesday": "2026-03-11",
    "on Sunday": "2026-03-15",
    "last night": "2026-03-17",
    "2026-01-05": "2026-01-05",
}

STRETCHES = {
    "最近三天": ("2026-03-15", "2026-03-18"),
    "过去两周": ("2026-03-04", "2026-03-18"),
    "前几天": ("2026-03-15", "2026-03-18"),
    "上周": ("2026-03-09", "2026-03-15"),
    "上上周": ("2026-03-02", "2026-03-08"),
    "上周末": ("2026-03-14", "2026-03-15"),
    "上个月": ("2026-02-01", "2026-02-28"),
    "五月": ("2025-05-01", "2025-05-31"),
    "二月份": ("2026-02-01", "2026-02-28"),
    "2025年3月": ("2025-03-01", "2025-03-31"),
    "3月中旬": ("2026-03-10", "2026-03-20"),
    "一月底": ("2026-01-20", "2026-01-31"),
    "去年夏天": ("2025-06-01", "2025-08-31"),
    "2025年上半年": ("2025-01-01", "2025-06-30"),
    "去年": ("2025-01-01", "2025-12-31"),
    "第三季度": ("2025-07-01", "2025-09-30"),
    "春节": ("2026-02-16", "2026-02-23"),
    "2024年国庆": ("2024-10-01", "2024-10-07"),
    "last 3 days": ("2026-03-15", "2026-03-18"),
    "last seven days": ("2026-03-11", "2026-03-18"),
    "the past two weeks": ("2026-03-04", "2026-03-18"),
    "last week": ("2026-03-09", "2026-03-15"),
    "last month": ("2026-02-01", "2026-02-28"),
    "in May": ("2025-05-01", "2025-05-31"),
    "last March": ("2025-03-01", "2025-03-31"),
    "early July 2023": ("2023-07-01", "2023-07-10"),
    "in June 2023": ("2023-06-01", "2023-06-30"),
    "in 2022": ("2022-01-01", "2022-12-31"),
    "summer 2022": ("2022-06-01", "2022-08-31"),
    "the week before 9 June 2023": ("2023-06-02", "2023-06-08"),
    "10 years ago": ("2016-01-01", "2016-12-31"),
    "Q3 2024": ("2024-07-01", "2024-09-30"),
    "two weeks ago": ("2026-03-01", "2026-03-07"),
}

AHEAD = {
    "in three days": "2026-03-21",
    "in two weeks": "2026-04-01",
    "两周后": "2026-04-01",
    "下周一": "2026-03-23",
    "周五前": "2026-03-20",
    "下个月5号": "2026-04-05",
    "4月10号": "2026-04-10",
    "年底前": "2026-12-31",
    "next week": "2026-03-29",
    "before the end of the year": "2026-12-31",
    "on Sunday": "2026-03-22",
    "May 12": "2026-05-12",
    "一小时后": "2026-03-18",
}

NO_TIMES = (
    "小May喜欢猫",
    "May likes cats",
    "it may rain, they march on",
    "五月天的演唱会",
    "三号楼的钥匙",
    "一个半小时的车程",
    "月亮和月饼",
    "version 2.10.3 of the tool",
    "周到的服务",
    "call 555-0199",
    "",
)


@pytest.mark.parametrize(("text", "day"), ONE_DAY.items())
def test_a_day_is_understood(text: str, day: str) -> None:
    assert days(text) == [(day, day)]


@pytest.mark.parametrize(("text", "stretch"), STRETCHES.items())
def test_a_stretch_is_understood(text: str, stretch: tuple[str, str]) -> None:
    assert days(text) == [stretch]


@pytest.mark.parametrize(("text", "last"), AHEAD.items())
def test_in_plans_a_date_lies_ahead(text: str, last: str) -> None:
    assert [end for _, end in days(text, "future")] == [last]


@pytest.mark.parametrize("text", NO_TIMES)
def test_names_and_words_that_look_like_times_are_none(text: str) -> None:
    assert days(text) == []


def test_the_longest_reading_wins_and_places_are_those_of_the_text() -> None:
    text = "我大后天要交 report，in two weeks 再说"
    found = find_times(text, NOW, SHANGHAI, prefer="future")
    assert [text[time.begin : time.stop] for time in found] == ["大后天", "in two weeks"]


def test_what_comes_again_and_again_is_marked() -> None:
    (weekly,) = find_times("每周三开例会", NOW, SHANGHAI)
    (english,) = find_times("standup every Friday", NOW, SHANGHAI)
    assert weekly.recurring and english.recurring


def test_some_weekdays_of_a_month_are_the_month() -> None:
    assert days("十一月的三个周三晚上") == [("2025-11-01", "2025-11-30")]


def test_a_day_begins_and_ends_at_local_midnight() -> None:
    (time,) = find_times("昨天", NOW, SHANGHAI)
    midnight = datetime(2026, 3, 17, tzinfo=SHANGHAI).timestamp()
    assert time.start == midnight
    assert midnight + 86_399 < time.end < midnight + 86_400


def test_a_day_follows_the_zone() -> None:
    """At 10:00 in Shanghai it is still the evening before in New York."""
    assert days("昨天", zone=ZoneInfo("America/New_York")) == [("2026-03-16", "2026-03-16")]


def test_a_day_of_23_hours_is_as_long_as_it_is() -> None:
    zone = ZoneInfo("America/New_York")
    (time,) = find_times("2026-03-08", NOW, zone)
    assert round((time.end - time.start) / 3600) == 23


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for time in find_times(text, NOW, SHANGHAI):
        assert time.start <= time.end
        assert text[time.begin : time.stop] == time.text
