"""Shelf life, curves and states, by moving time."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from engine.config.schema import AtomSettings
from engine.domain.atom import ATOM_TYPES, CURVES, AtomLife
from engine.lifecycle.atoms import (
    SweepPolicy,
    due_transition,
    expires_at,
    temporal_factor,
    value_now,
)
from engine.lifecycle.curves import DAY_S, curve_value, ttl_days

DAYS = st.floats(0.01, 1_000.0)


def life(state: str = "active", curve: str = "linear", ttl: float = 10.0) -> AtomLife:
    return AtomLife(state, curve, 0.0, ttl, ttl * DAY_S, None)


def test_every_type_has_its_shelf_life_and_curve():
    settings = AtomSettings()
    found = {
        name: (getattr(settings, name).ttl_days, getattr(settings, name).curve)
        for name in ATOM_TYPES
    }
    assert found == {
        "episodic": (7.0, "exponential"),
        "planned": (2.0, "step"),
        "factual": (180.0, "exponential"),
        "relational": (90.0, "linear"),
        "preference": (60.0, "exponential"),
        "unknown": (30.0, "linear"),
    }


def test_importance_and_repetition_lengthen_the_shelf_life():
    assert ttl_days(7.0, 0.5, 0) == 7.0
    assert ttl_days(7.0, 1.0, 0) == 10.5
    assert ttl_days(7.0, 0.5, 2) == 14.0


@given(st.sampled_from(CURVES), DAYS, DAYS, DAYS)
def test_a_value_lies_between_0_and_1_and_never_rises_with_age(curve, age, later, ttl):
    early, late = curve_value(curve, age, ttl), curve_value(curve, age + later, ttl)
    assert 0.0 <= late <= early <= 1.0


def test_the_curves_have_their_forms():
    assert curve_value("exponential", 7.0, 7.0) == math.exp(-1)
    assert curve_value("linear", 2.5, 10.0) == 0.75
    assert [curve_value("step", age, 2.0) for age in (1.9, 2.0)] == [1.0, 0.0]


def test_a_plan_holds_until_its_deadline_and_not_beyond():
    end = 30 * DAY_S
    plan = AtomLife("active", "step", 0.0, 2.0, expires_at(0.0, 2.0, end), end)
    assert [value_now(plan, moment) for moment in (29 * DAY_S, end, 31 * DAY_S)] == [1.0, 0.0, 0.0]


def test_the_temporal_factor_is_the_mean_of_what_still_counts():
    assert temporal_factor([], 0.0) == 1.0
    assert temporal_factor([life()], 5 * DAY_S) == 0.5
    assert temporal_factor([life(), life("superseded")], 5 * DAY_S) == 0.5
    assert temporal_factor([life(), life("expired")], 5 * DAY_S) == 0.25
    assert temporal_factor([life("expired")], 5 * DAY_S) == 0.05


@given(st.floats(0.0, 80.0))
def test_one_late_sweep_leaves_what_daily_ones_leave(days):
    policy = SweepPolicy()
    daily = "active"
    for day in range(int(days) + 1):
        moved = due_transition(life(daily), day * DAY_S, policy)
        daily = moved.state if moved and daily != "purged" else daily
    if daily != "purged":
        last = due_transition(life(daily), days * DAY_S, policy)
        daily = last.state if last else daily
    once = due_transition(life(), days * DAY_S, policy)
    assert (once.state if once else "active") == daily


def test_a_sweep_twice_changes_nothing_more():
    policy = SweepPolicy()
    moved = due_transition(life(), 12 * DAY_S, policy)
    assert moved is not None
    assert (moved.state, moved.since) == ("expired", 10 * DAY_S)
    assert due_transition(life("expired"), 12 * DAY_S, policy) is None


def test_settings_know_every_type_and_curve():
    from typing import get_args

    from engine.config.schema import Curve

    assert get_args(get_args(Curve)[0]) == CURVES
    assert all(hasattr(AtomSettings(), name) for name in ATOM_TYPES)
