"""The daily moment: one a day, whatever clocks do."""

from __future__ import annotations

import os
import time
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lifecycle.curves import DAY_S
from engine.lifecycle.schedule import DailyMoment

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ("Europe/Berlin", "Asia/Shanghai", "America/New_York", "Pacific/Apia", "UTC")


def at(zone: ZoneInfo, *parts: int) -> float:
    return datetime(*parts, tzinfo=zone).timestamp()  # type: ignore[misc, arg-type]


def test_one_moment_a_day_excluding_the_start_and_including_the_end():
    daily = DailyMoment(0, 5, BERLIN)
    first, last = at(BERLIN, 2026, 5, 1, 0, 5), at(BERLIN, 2026, 5, 4, 0, 5)
    assert len(daily.between(first, last)) == 3
    assert daily.between(first, last)[-1] == last
    assert daily.between(first - 1, last - 1)[0] == first
    assert daily.between(last, last) == daily.between(last, first) == []
    assert daily.last_before(last) == last
    assert daily.last_before(last - 1) == at(BERLIN, 2026, 5, 3, 0, 5)


@pytest.mark.parametrize(("month", "day"), [(3, 29), (10, 25)])
@pytest.mark.parametrize("hour", [0, 2, 3, 23])
def test_a_day_with_a_change_of_clocks_has_one_moment(month: int, day: int, hour: int):
    daily = DailyMoment(hour, 30, BERLIN)
    start, end = at(BERLIN, 2026, month, day), at(BERLIN, 2026, month, day + 1)
    assert len(daily.between(start, end)) == 1
    assert len(daily.between(at(BERLIN, 2026, 1, 1), at(BERLIN, 2027, 1, 1))) == 365


def test_a_skipped_calendar_day_is_not_counted():
    apia = ZoneInfo("Pacific/Apia")
    moments = DailyMoment(0, 5, apia).between(at(apia, 2011, 12, 28), at(apia, 2012, 1, 2))
    assert len(moments) == len(set(moments)) == 4


@given(
    zone=st.sampled_from(ZONES),
    hour=st.integers(0, 23),
    start=st.floats(0, 2e9),
    cuts=st.lists(st.floats(0, 40 * DAY_S), max_size=6),
)
def test_moments_of_parts_are_those_of_the_whole(
    zone: str, hour: int, start: float, cuts: list[float]
):
    daily = DailyMoment(hour, 30, ZoneInfo(zone))
    edges = [start, *(start + cut for cut in sorted(cuts)), start + 40 * DAY_S]
    parts = [moment for begin, end in pairwise(edges) for moment in daily.between(begin, end)]
    assert parts == daily.between(start, edges[-1])
    assert parts == sorted(set(parts))


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the machine's zone cannot be set here")
def test_the_machines_zone_is_used_when_none_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        start, end = at(BERLIN, 2026, 3, 1), at(BERLIN, 2026, 11, 1)
        machine = DailyMoment(2, 30).between(start, end)
        assert machine == DailyMoment(2, 30, BERLIN).between(start, end)
    finally:
        os.environ.pop("TZ", None)
        monkeypatch.undo()
        time.tzset()


def test_times_before_1970_are_cut_off():
    moments = DailyMoment(12, 0, BERLIN).between(-3e10, 10 * DAY_S)
    assert 0 < len(moments) <= 10
