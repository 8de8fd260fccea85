"""Recall and time: words of time in a question, local days, old memories, use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from tests.engine.use_cases.shortcuts import KEYWORDS, found, hits, remember, remember_all

DAY_S = 86_400.0
SHANGHAI = ZoneInfo("Asia/Shanghai")
# A Wednesday.
NOW = datetime(2026, 3, 18, 10, tzinfo=SHANGHAI).timestamp()

Opened = Callable[[str], Engine]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def opened(home: Path, clock: FixedClock) -> Iterator[Opened]:
    """Opens a store that finds by keyword only, in a time zone."""
    engines = []

    def opened_in(zone: str) -> Engine:
        environ = KEYWORDS | {"JIYI_TIMEZONE": zone}
        engines.append(open_engine(home / zone.replace("/", "-"), environ=environ, clock=clock))
        return engines[-1]

    yield opened_in
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(opened: Opened) -> Engine:
    return opened("Asia/Shanghai")


def at(clock: FixedClock, moment: float) -> None:
    clock.advance(moment - clock.now())


@pytest.mark.parametrize(
    ("question", "age_days"),
    [
        ("昨天会议讲了什么", 1),
        ("上周的会议", 8),
        ("最近三天的会议", 1),
        ("the meeting 8 days ago", 8),
        ("meeting last week", 8),
        ("上个月的会议", 40),
        ("meeting last month", 40),
        ("yesterday's meeting", 1),
    ],
)
def test_a_time_in_the_question_brings_what_is_of_that_time_first(
    engine: Engine, clock: FixedClock, question: str, age_days: int
) -> None:
    ages = {}
    for age in (1, 8, 40, 200):
        at(clock, NOW - age * DAY_S)
        ages[remember(engine, f"会议 meeting 记录第{age}份")] = age
    at(clock, NOW)
    assert ages[found(engine, question)[0]] == age_days


def test_a_time_in_the_question_favours_and_does_not_filter(
    engine: Engine, clock: FixedClock
) -> None:
    at(clock, NOW - 40 * DAY_S)
    old = remember(engine, "服务器机房的门禁密码换过")
    at(clock, NOW)
    assert found(engine, "昨天门禁密码怎么了") == [old]


def test_an_event_counts_by_when_it_happened(engine: Engine) -> None:
    happened = datetime(2026, 1, 14, 9, tzinfo=SHANGHAI).timestamp()
    then = remember(engine, "电缆抢修到半夜", event_time=happened)
    later = remember(engine, "电缆抢修的总结会")
    assert found(engine, "1月14日电缆抢修")[0] == then
    assert found(engine, "今天电缆抢修")[0] == later


def test_a_name_is_not_turned_into_a_date(engine: Engine) -> None:
    cat = remember(engine, "小May喜欢猫")
    remember(engine, "五月份交房租")
    (hit, *_) = hits(engine, "May")
    assert hit.memory.id == cat


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
def test_a_memory_of_half_past_midnight_belongs_to_the_day_that_has_begun(
    opened: Opened, clock: FixedClock, zone: str
) -> None:
    """Half past midnight on 1 September, local, and questions about the two days beside it."""
    engine = opened(zone)
    local = ZoneInfo(zone)
    for moment in (datetime(2025, 9, 1, 0, 30), datetime(2025, 8, 31, 12, 0)):
        at(clock, moment.replace(tzinfo=local).timestamp())
        remember(engine, f"夜班值班记录 {moment:%m}")
    at(clock, datetime(2025, 9, 10, 12, tzinfo=local).timestamp())
    assert found(engine, "9月1日的值班记录")[0] == 1
    assert found(engine, "8月31日的值班记录")[0] == 2


def test_an_old_exact_match_is_not_buried_by_fresh_ones(engine: Engine, clock: FixedClock) -> None:
    at(clock, NOW - 242 * DAY_S)
    rule = remember(engine, "保险箱口令规则：生日倒写加门牌")
    at(clock, NOW)
    remember_all(engine, [f"第{n}次散步走了{n + 3}公里，天气不错" for n in range(200)])
    assert found(engine, "保险箱口令规则")[0] == rule


def test_what_is_recalled_often_does_not_stay_on_top(engine: Engine) -> None:
    often = remember(engine, "周会在三楼会议室开")
    seldom = remember(engine, "周会在三楼会议室开始前要签到")
    for _ in range(100):
        engine.get(often)
    fresh = remember(engine, "周会改到五楼会议室开，三楼装修")
    order = found(engine, "周会改到几楼会议室")
    assert order[0] == fresh
    assert seldom in order[:3]
