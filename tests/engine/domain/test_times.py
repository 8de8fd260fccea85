"""Moments and durations, in zones with and without summer time."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from engine.domain.errors import InvalidInput
from engine.domain.times import (
    day,
    iso,
    minute_with_offset,
    parse_duration,
    parse_instant,
    zone_named,
)

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    "text",
    [
        "2026-08-31T16:30:00Z",
        "2026-09-01T00:30:00+08:00",
        "2026-09-01 00:30:00",
        "2026-09-01T00:30",
        "1788193800",
    ],
)
def test_one_moment_written_in_many_ways(text: str) -> None:
    assert parse_instant(text, SHANGHAI) == at(2026, 8, 31, 16, 30)


def test_a_time_without_zone_follows_the_configured_zone() -> None:
    assert parse_instant("2026-09-01 00:30", NEW_YORK) == at(2026, 9, 1, 4, 30)
    assert parse_instant("2026-12-01 00:30", NEW_YORK) == at(2026, 12, 1, 5, 30)


@pytest.mark.parametrize("text", ["2026-09-01", "2026-9-1", "2026/09/01", "2026/9/1"])
def test_a_bare_date_is_a_whole_local_day(text: str) -> None:
    start = parse_instant(text, SHANGHAI)
    end = parse_instant(text, SHANGHAI, end_of_day=True)
    assert start == at(2026, 8, 31, 16)
    assert end == pytest.approx(start + 86_400, abs=0.001)
    assert end < start + 86_400


@pytest.mark.parametrize(("date", "hours"), [("2026-03-08", 23), ("2026-11-01", 25)])
def test_a_day_of_a_clock_change_has_its_own_length(date: str, hours: int) -> None:
    start = parse_instant(date, NEW_YORK)
    end = parse_instant(date, NEW_YORK, end_of_day=True)
    assert end - start == pytest.approx(hours * 3600, abs=0.001)


def test_an_hour_that_comes_twice_is_the_first_one() -> None:
    assert parse_instant("2026-11-01 01:30", NEW_YORK) == at(2026, 11, 1, 5, 30)


@pytest.mark.parametrize(
    "value",
    [
        "", "now", "昨天", "2026", "2026-13-01", "2026-02-30", "2026-9", "0999-12-31", "9001-01-01",
        "9999-12-31", "1788193800000", "-99999999999999", math.nan, math.inf, 1e18,
        "2026-09-01T25:00",
    ],
)  # fmt: skip
def test_what_is_no_moment_or_out_of_range_is_refused(value: str | float) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_instant(value, SHANGHAI, end_of_day=True)
    assert caught.value.key == "error.bad_time"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("90m", 5_400), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600), ("30", 30),
        (" 1.5 H ", 5_400), (2.5, 2.5), ("3S", 3),
    ],
)  # fmt: skip
def test_a_duration_has_a_unit_or_counts_seconds(value: str | float, seconds: float) -> None:
    assert parse_duration(value) == seconds


@pytest.mark.parametrize(
    "value", ["", "0", "-5", "0d", "abc", "1y", "1d2h", "d", "1e9", "9" * 400, math.nan, math.inf]
)
def test_a_duration_that_is_none_or_not_positive_is_refused(value: str | float) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_duration(value)
    assert caught.value.key == "error.bad_duration"


def test_ten_million_years_are_no_duration() -> None:
    with pytest.raises(InvalidInput):
        parse_duration(f"{10_000_000 * 365}d")


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", "\x00"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        zone_named(name)


def test_moments_are_shown_with_their_offset() -> None:
    moment = at(2026, 8, 31, 16, 30)
    assert iso(moment, SHANGHAI) == "2026-09-01T00:30:00+08:00"
    assert iso(moment, NEW_YORK) == "2026-08-31T12:30:00-04:00"
    assert day(moment, SHANGHAI) == "2026-09-01"
    assert minute_with_offset(moment, SHANGHAI) == "2026-09-01 00:30 +08:00"


@pytest.mark.parametrize("year", [1000, 1969, 2026, 8999])
def test_what_is_shown_is_read_back_as_the_same_moment(year: int) -> None:
    moment = at(year, 6, 1, 12, 0, 1)
    assert parse_instant(iso(moment, UTC), SHANGHAI) == moment


def test_a_compact_date_is_a_date_and_no_number_of_seconds():
    assert parse_instant("20260501", UTC) == parse_instant("2026-05-01", UTC)


@pytest.mark.parametrize("value", [10**400, -(10**400), "9" * 400])
def test_numbers_beyond_all_bounds_are_refused(value):
    with pytest.raises(InvalidInput):
        parse_instant(value, UTC)
