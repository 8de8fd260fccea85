"""Groups of like memories, and the text that sums one up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.embedding import Thresholds
from engine.extraction.clusters import Grouping, Member, cluster, equivalent
from engine.extraction.summary import extractive, language_of

NEAR = Grouping(0.9)


def at(*degrees: float) -> dict[int, np.ndarray]:
    """Vectors in a plane, for the members 1, 2, …"""
    turned = np.radians(np.array(degrees))
    rows = np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)
    return dict(enumerate(rows, start=1))


def members(*importances: float, polarities: tuple[int, ...] = ()) -> list[Member]:
    signs = polarities or (0,) * len(importances)
    return [
        Member(number, importance, sign)
        for number, (importance, sign) in enumerate(zip(importances, signs, strict=True), start=1)
    ]


def test_seeds_are_taken_in_falling_importance_and_lead_their_group():
    assert cluster(members(0.2, 0.9, 0.5), at(0, 10, 20), NEAR) == [(2, 3, 1)]


def test_who_is_near_a_member_but_far_from_the_seed_does_not_join():
    assert cluster(members(0.9, 0.8, 0.7), at(0, 20, 40), NEAR) == [(1, 2)]


def test_nobody_is_in_two_groups():
    groups = cluster(members(0.9, 0.8, 0.7, 0.6), at(0, 40, 20, 60), NEAR)
    assert groups == [(1, 3), (2, 4)]


def test_opposite_polarities_never_share_a_group_not_even_through_a_neutral_seed():
    found = cluster(members(0.9, 0.8, 0.7, polarities=(0, 1, -1)), at(0, 5, 10), NEAR)
    assert found == [(1, 2)]


def test_small_groups_and_members_without_vectors_are_left_out():
    vectors = at(0, 5, 90)
    assert cluster(members(0.5, 0.5, 0.5), vectors, NEAR) == [(1, 2)]
    assert cluster(members(0.5, 0.5, 0.5), vectors, Grouping(0.9, 3)) == []
    del vectors[2]
    assert cluster(members(0.5, 0.5, 0.5), vectors, NEAR) == []
    assert cluster([], {}, NEAR) == []


@given(st.lists(st.tuples(st.integers(0, 359), st.floats(0, 1), st.integers(-1, 1)), max_size=40))
def test_every_group_keeps_the_rules(drawn):
    chosen = members(*(item[1] for item in drawn), polarities=tuple(item[2] for item in drawn))
    vectors = at(*(float(item[0]) for item in drawn)) if drawn else {}
    known = {member.id: member for member in chosen}
    groups = cluster(chosen, vectors, NEAR)
    ids = [memory_id for group in groups for memory_id in group]
    assert len(ids) == len(set(ids))
    for group in groups:
        assert len(group) >= 2
        assert len({known[i].polarity for i in group} - {0}) < 2
        assert all(vectors[group[0]] @ vectors[i] >= 0.89 for i in group)
        falling = [known[i].importance for i in group]
        assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize(
    ("value", "meant"), [(0.0, 0.0), (0.75, 0.833), (0.8, 0.846), (0.92, 0.919), (1.0, 1.0)]
)
def test_a_threshold_means_the_same_in_every_space(value, meant):
    reference = Thresholds(0.92, 0.80, 0.75, 0.40, 0.30)
    space = Thresholds(0.919, 0.846, 0.833, 0.465, 0.406)
    assert equivalent(space, reference, value) == pytest.approx(meant)


def test_between_measured_points_a_threshold_rises():
    reference = Thresholds(0.92, 0.80, 0.75, 0.40, 0.30)
    space = Thresholds(0.919, 0.846, 0.833, 0.465, 0.406)
    found = [equivalent(space, reference, number / 100) for number in range(101)]
    assert found == sorted(found)


def test_a_summary_says_of_how_many_and_begins_with_the_most_important():
    assert extractive(["Ana moved to Oslo", "Ana  likes\nit"], 512) == (
        "[summary of 2] Ana moved to Oslo; Ana likes it"
    )
    assert extractive(["搬到上海", "喜欢这里"], 512) == "〔归纳 2 条〕搬到上海；喜欢这里"


def test_equal_texts_stand_once_and_are_counted_all():
    assert extractive(["a b", "a  b", "c"], 512) == "[summary of 3] a b; c"


@given(st.lists(st.text(max_size=300), max_size=8), st.integers(64, 600))
def test_a_summary_is_never_longer_than_allowed(texts, most):
    assert len(extractive(texts, most)) <= most


def test_what_does_not_fit_is_cut_and_marked():
    found = extractive(["x" * 100, "y" * 100], 80)
    assert len(found) == 80 and found.endswith("…")


def test_the_language_is_that_of_most_of_the_writing():
    assert language_of(["用 PostgreSQL 做了迁移"]) == "zh"
    assert language_of(["We met at 上海 station and talked for hours"]) == "en"
    assert language_of([]) == "en"
