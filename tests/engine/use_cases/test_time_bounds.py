"""Words of time as filters: exactly the memories of that time, in the configured zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.scope import Filters
from engine.use_cases.recall import RecallRequest
from engine.use_cases.time_bounds import time_bounds
from tests.engine.use_cases.shortcuts import KEYWORDS, remember

DAY_S = 86_400.0
SHANGHAI = ZoneInfo("Asia/Shanghai")
# A Wednesday.
NOW = datetime(2026, 6, 10, 15, tzinfo=SHANGHAI).timestamp()
AGES = (1, 3, 8, 40)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def engine(home: Path, clock: FixedClock) -> Iterator[Engine]:
    environ = KEYWORDS | {"JIYI_TIMEZONE": "Asia/Shanghai"}
    with open_engine(home, environ=environ, clock=clock) as opened:
        yield opened


def ages(engine: Engine, clock: FixedClock, words: str) -> list[int]:
    """The ages in days of what both list and recall find within some words of time."""
    by_id: dict[int, int] = {}
    for age in AGES:
        clock.advance(NOW - age * DAY_S - clock.now())
        by_id[remember(engine, f"会议 meeting 第{age}份")] = age
    clock.advance(NOW - clock.now())
    since, until = time_bounds(words, words, NOW, SHANGHAI)
    filters = Filters(since=since, until=until)
    listed = sorted(by_id[memory.id] for memory in engine.list(filters, limit=10).memories)
    recalled = engine.recall(RecallRequest(query="会议", k=10, filters=filters)).hits
    assert sorted(by_id[hit.memory.id] for hit in recalled) == listed
    return listed


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("昨天", [1]),
        ("前天", []),
        ("最近三天", [1, 3]),
        ("三天前", [3]),
        ("上周", [3, 8]),
        ("上个月", [40]),
        ("五月", [40]),
        ("last 3 days", [1, 3]),
        ("3 days ago", [3]),
        ("last week", [3, 8]),
        ("last seven days", [1, 3]),
        ("in May", [40]),
        ("40 days ago", [40]),
    ],
)
def test_words_of_time_narrow_to_what_is_of_that_time(
    engine: Engine, clock: FixedClock, words: str, expected: list[int]
) -> None:
    assert ages(engine, clock, words) == expected


def test_a_memory_after_midnight_is_found_under_its_local_day_only(
    engine: Engine, clock: FixedClock
) -> None:
    clock.advance(datetime(2026, 9, 1, 0, 30, tzinfo=SHANGHAI).timestamp() - clock.now())
    night = remember(engine, "凌晨的想法")
    clock.advance(9 * DAY_S)
    for words, expected in (("9月1日", [night]), ("8月31日", [])):
        since, until = time_bounds(words, words, clock.now(), SHANGHAI)
        page = engine.list(Filters(since=since, until=until), limit=10)
        assert [memory.id for memory in page.memories] == expected


def test_a_name_that_looks_like_a_month_is_searched_as_a_word(
    engine: Engine, clock: FixedClock
) -> None:
    remember(engine, "小May喜欢猫")
    remember(engine, "五月去了海边")
    found = engine.recall(RecallRequest(query="May")).hits
    assert [hit.memory.text for hit in found] == ["小May喜欢猫"]
