"""Whole lines with times in them, as people write them, and lines that only look like it."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from engine.language.time_expressions import TimeMention, find_times

SHANGHAI = ZoneInfo("Asia/Shanghai")
# A Wednesday.
NOW = datetime(2026, 5, 20, 15, tzinfo=SHANGHAI).timestamp()


def seen(time: TimeMention) -> tuple[str, str, str]:
    """The words, and the first and last day, ``05-19`` for days of this year."""
    return time.text, _day(time.start), _day(time.end)


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, SHANGHAI).date().isoformat().removeprefix("2026-")


LINES: dict[str, list[tuple[str, str, str]]] = {
    "他说明天来": [("明天", "05-21", "05-21")],
    "马上周五了": [("周五", "05-15", "05-15")],
    "上週五的會": [("上週五", "05-15", "05-15")],
    "２０２５年３月的账单": [("２０２５年３月", "2025-03-01", "2025-03-31")],
    "1 月 14 日晚上八点半": [("1 月 14 日晚上八点半", "01-14", "01-14")],
    "25年3月的体检": [("25年3月", "2025-03-01", "2025-03-31")],
    "陆师傅在一月两次作业后腰疼": [("一月", "01-01", "01-31")],
    "2025年3月一次壁球活动": [("2025年3月", "2025-03-01", "2025-03-31")],
    "在2月11日至13日期间": [("2月11日至13日", "02-11", "02-13")],
    "12月30日到1月2日休假": [("12月30日到1月2日", "2025-12-30", "01-02")],
    "6月9日、12日和14日帮邻居": [
        ("6月9日", "2025-06-09", "2025-06-09"),
        ("12日", "2025-06-12", "2025-06-12"),
        ("14日", "2025-06-14", "2025-06-14"),
    ],
    "3月到5月很忙": [("3月到5月", "03-01", "05-31")],
    "3月以来一直在跑步": [("3月以来", "03-01", "05-20")],
    "今年以来的开销": [("今年以来", "01-01", "05-20")],
    "6月9日前一周在哪": [("6月9日前一周", "2025-06-02", "2025-06-08")],
    "最近半年的账": [("最近半年", "2025-11-19", "05-20")],
    "过去24小时": [("过去24小时", "05-19", "05-20")],
    "上两周": [("上两周", "05-06", "05-20")],
    "好几天前": [("好几天前", "05-14", "05-18")],
    "2023春节在老家": [("2023春节", "2023-01-21", "2023-01-28")],
    "去年七夕": [("去年七夕", "2025-08-29", "2025-08-29")],
    "正月十五看灯": [("正月十五", "03-03", "03-03")],
    "母亲节送花": [("母亲节", "05-10", "05-10")],
    "寒假作业": [("寒假", "01-01", "02-28")],
    "last week我们去了海边": [("last week", "05-11", "05-17")],
    "在May 7见面": [("May 7", "05-07", "05-07")],
    "我昨天 met John": [("昨天", "05-19", "05-19")],
    "I met May in May": [("in May", "05-01", "05-31")],
    "what did i do in may": [("in may", "05-01", "05-31")],
    "the picture of December 1,2023": [("December 1,2023", "2023-12-01", "2023-12-01")],
    "on the Monday before July 24, 2023": [
        ("on the Monday before July 24, 2023", "2023-07-17", "2023-07-17")
    ],
    "two weeks before August 11, 2023": [
        ("two weeks before August 11, 2023", "2023-07-28", "2023-08-10")
    ],
    "the first weekend of August 2023": [
        ("the first weekend of August 2023", "2023-08-05", "2023-08-06")
    ],
    "in the last week of October 2023": [
        ("in the last week of October 2023", "2023-10-25", "2023-10-31")
    ],
    "the first half of September 2022": [
        ("the first half of September 2022", "2022-09-01", "2022-09-15")
    ],
    "between August 11 and August 15 2023": [
        ("August 11 and August 15 2023", "2023-08-11", "2023-08-15")
    ],
    "from March to May 2024": [("from March to May 2024", "2024-03-01", "2024-05-31")],
    "since March": [("March", "03-01", "05-20")],
    "the end of summer 2023": [("the end of summer 2023", "2023-07-31", "2023-08-31")],
    "in the fall": [("in the fall", "2025-09-01", "2025-11-30")],
    "a few years back": [("a few years back", "2020-05-21", "2024-05-20")],
    "over the past month": [("over the past month", "04-20", "05-20")],
    "in the last 24 hours": [("in the last 24 hours", "05-19", "05-20")],
    "25.12.2023": [("25.12.2023", "2023-12-25", "2023-12-25")],
    "12/25/2023": [("12/25/2023", "2023-12-25", "2023-12-25")],
    "on the 14th": [("on the 14th", "05-14", "05-14")],
    "Thanksgiving 2023": [("Thanksgiving 2023", "2023-11-23", "2023-11-23")],
    "Chinese New Year": [("Chinese New Year", "02-16", "02-23")],
    "friday morning at 9 am": [("friday morning at 9 am", "05-15", "05-15")],
}


@pytest.mark.parametrize(("line", "times"), LINES.items())
def test_the_times_of_a_line_are_found(line: str, times: list[tuple[str, str, str]]) -> None:
    assert [seen(time) for time in find_times(line, NOW, SHANGHAI)] == times


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("三天内交报告", "05-23"),
        ("within two weeks", "06-03"),
        ("过几天去看牙", "05-26"),
        ("再过两周", "06-03"),
        ("14号之前", "06-14"),
        ("下半年换车", "12-31"),
        ("月底交房租", "05-31"),
        ("by the end of next month", "06-30"),
        ("early next year", "2027-04-30"),
        ("未来三天", "05-23"),
    ],
)
def test_what_lies_ahead_ends_when_it_is_due(line: str, last: str) -> None:
    assert [_day(time.end) for time in find_times(line, NOW, SHANGHAI, prefer="future")] == [last]


NAMES_AND_WORDS = """
    May said hello
    May喜欢猫
    王三月喜欢猫
    三月是我的猫
    June and April went out
    April is my sister
    march to the store
    arriving late may cause trouble
    Sun is hot
    Good Friday
    I might fall in love
    on the 3rd floor
    How many years passed
    in 2000 words
    version 10.0.0.1
    call 2023-555-0199
    order 20230501123
    http://example.org/2024/05/01/x
    高三月考
    十月怀胎
    二月兰
    晚上月亮很圆
    早上周会
    线上周报
    晚上周末聚餐
    以上周报
    三周年纪念
    一周一次
    每周三次
    每周二十块
    今后天气
    此后天天下雨
    光明天地
    明日方舟
    过去年轻时
    王国庆说
    五一路
    过年龄
    清明上河图
    圣诞老人
    14号线
    5号公路
    14日游
    第14号
    经过三天
    前一天
    通过考核的两天后
    三天两头
""".strip().splitlines()


@pytest.mark.parametrize("line", [line.strip() for line in NAMES_AND_WORDS])
def test_names_and_other_words_are_no_times(line: str) -> None:
    assert find_times(line, NOW, SHANGHAI) == ()


@pytest.mark.parametrize(
    "line",
    [
        "每年春节回家",
        "每月15号还款",
        "每个周末",
        "每个周五",
        "every other Friday",
        "on weekends",
        "Fridays",
    ],
)
def test_what_comes_again_is_no_single_time(line: str) -> None:
    (time,) = find_times(line, NOW, SHANGHAI)
    assert time.recurring


def test_hours_count_from_this_moment() -> None:
    (ago,) = find_times("一个小时前", NOW, SHANGHAI)
    (ahead,) = find_times("in 30 minutes", NOW, SHANGHAI)
    assert (ago.kind, ago.start, ago.end) == ("hour", NOW - 5400, NOW - 1800)
    assert (ahead.kind, ahead.start, ahead.tense) == ("hour", NOW + 1800, "future")
