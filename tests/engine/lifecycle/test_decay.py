"""Fading by day: the numbers, the floors, and late runs that equal daily ones."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.memory import Strength
from engine.lifecycle.curves import DAY_S
from engine.lifecycle.decay import DecayPolicy, daily_rate, decayed, faded
from engine.lifecycle.salience import accessed, after_access, after_reinforcement, after_rest
from engine.lifecycle.schedule import DailyMoment

POLICY = DecayPolicy()
START = 1_800_000_000.0


def days(count: int, start: float = START) -> list[float]:
    return [start + (day + 1) * DAY_S for day in range(count)]


@pytest.mark.parametrize(
    ("accesses", "share"), [(0, 1.0), (1, 0.9), (2.5, 0.75), (7, 0.3), (10, 0.3), (99, 0.3)]
)
def test_use_slows_fading_to_three_tenths_at_most(accesses: float, share: float):
    assert daily_rate(0.01, accesses) == pytest.approx(0.01 * share)


def test_a_day_takes_a_hundredth_and_never_goes_below_the_floor():
    assert faded(0.5, 0.01) == pytest.approx(0.495)
    assert faded(0.0501, 0.01) == 0.05
    assert faded(0.02, 0.01) == 0.02


def test_accesses_count_half_the_next_day_and_nothing_after_the_window():
    used = Strength(0.5, last_access=START, access_count=4, access_window=4.0)
    after = decayed(used, START, days(2), POLICY)
    assert after.importance_now == pytest.approx(0.5 * (1 - 0.006) * (1 - 0.008))
    assert after.access_window == 1.0
    long_ago = decayed(used, START, [START + 31 * DAY_S], POLICY)
    assert long_ago.importance_now == pytest.approx(0.5 * 0.99)
    assert long_ago.access_window == 0.0


def test_salience_rests_after_thirty_days_without_access():
    used = Strength(0.5, salience=1.0, last_access=START)
    assert decayed(used, 0.0, days(30), POLICY).salience == 1.0
    assert decayed(used, 0.0, days(33), POLICY).salience == pytest.approx(0.95**3)
    unused = Strength(0.5)
    assert decayed(unused, START, days(31), POLICY).salience == pytest.approx(0.95)
    assert decayed(unused, START, days(2000), POLICY).salience == 0.01


def test_an_immune_memory_keeps_all_but_its_accesses():
    used = Strength(0.7, 1.5, START, 8, 8.0)
    after = decayed(used, START, days(400), POLICY, immune=True)
    assert (after.importance_now, after.salience, after.access_count) == (0.7, 1.5, 8)
    assert after.access_window == 0.0


def test_salience_moves_by_fixed_factors_between_its_bounds():
    assert after_access(1.0) == pytest.approx(1.05)
    assert after_reinforcement(1.0) == pytest.approx(1.20)
    assert after_access(1.99) == after_reinforcement(1.99) == 2.0
    assert after_rest(0.0101) == 0.01
    assert after_rest(0.005) == 0.005


def test_an_access_counts_once_and_a_clock_set_back_moves_nothing_back():
    once = accessed(Strength(0.5), START, 30)
    assert (once.access_count, once.access_window, once.last_access) == (1, 1.0, START)
    back = accessed(once, START - DAY_S, 30)
    assert (back.access_count, back.access_window, back.last_access) == (2, 2.0, START)
    late = accessed(back, START + 31 * DAY_S, 30)
    assert (late.access_count, late.access_window) == (3, 1.0)


strengths = st.builds(
    Strength,
    importance_now=st.floats(0, 1),
    salience=st.floats(0.01, 2),
    last_access=st.none() | st.floats(START - 60 * DAY_S, START),
    access_count=st.integers(0, 100),
    access_window=st.floats(0, 40),
)
policies = st.builds(
    DecayPolicy,
    rate=st.floats(0, 1),
    access_window_days=st.floats(0, 60),
    access_multiplier=st.floats(0, 1),
)


@given(strengths, policies, st.booleans(), st.integers(0, 23), st.integers(1, 500), st.data())
def test_missed_days_equal_daily_runs_exactly(strength, policy, immune, hour, count, data):
    daily = DailyMoment(hour, 30, ZoneInfo("Europe/Berlin"))
    until = START + count * DAY_S
    whole = decayed(strength, START, daily.between(START, until), policy, immune=immune)
    cuts = sorted(data.draw(st.lists(st.floats(START, until), max_size=8)))
    by_parts, since = strength, START
    for end in (*cuts, until):
        by_parts = decayed(by_parts, START, daily.between(since, end), policy, immune=immune)
        since = end
    by_days = strength
    for moment in daily.between(START, until):
        by_days = decayed(by_days, START, [moment], policy, immune=immune)
    assert whole == by_parts == by_days


@given(strengths, policies, st.integers(0, 300))
def test_fading_never_raises_anything_and_keeps_its_floors(strength, policy, count):
    after = decayed(strength, START, days(count), policy)
    assert min(0.05, strength.importance_now) <= after.importance_now <= strength.importance_now
    assert 0.01 <= after.salience <= strength.salience
    assert 0 <= after.access_window <= strength.access_window
