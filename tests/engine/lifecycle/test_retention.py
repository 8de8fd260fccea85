"""The retention score, its half-life, and the moment it falls too low."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.retention import Kept
from engine.lifecycle.curves import DAY_S
from engine.lifecycle.retention import (
    RetentionPolicy,
    at_risk_from,
    half_life_days,
    retention_score,
)

START = 1_800_000_000.0
UNUSED = Kept(0.5, START, None, 0)


@pytest.mark.parametrize(("rate", "days"), [(0.01, 69), (0.05, 14), (0.1, 7), (0.2, 3.5)])
def test_half_lives(rate: float, days: float):
    half_life = half_life_days(rate)
    assert half_life == pytest.approx(days, abs=0.5)
    assert half_life is not None
    score = retention_score(UNUSED, START + half_life * DAY_S, RetentionPolicy(rate))
    assert score == pytest.approx(0.25)


def test_a_rate_of_a_tenth_puts_the_middle_at_risk_on_day_23():
    policy = RetentionPolicy(rate=0.1)
    moment = at_risk_from(UNUSED, policy)
    assert moment is not None
    assert (moment - START) / DAY_S == pytest.approx(23.03, abs=0.01)


def test_days_count_from_the_last_access_and_use_adds_when_it_is_weighed():
    used = Kept(0.5, START - 90 * DAY_S, START, 9)
    assert retention_score(used, START, RetentionPolicy()) == 0.5
    weighed = RetentionPolicy(frequency_weight=0.2)
    assert retention_score(used, START, weighed) == pytest.approx(0.5 * (1 + 0.2 * math.log(10)))


def test_a_clock_set_back_makes_no_score_above_the_fresh_one():
    assert retention_score(UNUSED, START - 40 * DAY_S, RetentionPolicy()) == 0.5


def test_what_never_fades_is_never_at_risk():
    assert at_risk_from(UNUSED, RetentionPolicy(rate=0.0)) is None
    assert at_risk_from(UNUSED, RetentionPolicy(min_score=0.0)) is None
    assert at_risk_from(Kept(0.01, START, None, 0), RetentionPolicy()) == START
    assert half_life_days(0.0) is None


@given(
    st.floats(0.06, 1),
    st.floats(0.001, 1),
    st.floats(0, 10),
    st.integers(0, 1000),
    st.floats(0.001, 0.05),
)
def test_the_score_crosses_the_limit_at_the_moment_foretold(
    importance, rate, weight, count, min_score
):
    kept = Kept(importance, START, None, count)
    policy = RetentionPolicy(rate, weight, min_score)
    moment = at_risk_from(kept, policy)
    assert moment is not None
    assert retention_score(kept, moment - 10.0, policy) >= min_score
    assert retention_score(kept, moment + 10.0, policy) < min_score
