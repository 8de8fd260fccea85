"""Measures against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.errors import InvalidInput
from engine.evaluation.metrics import (
    mean,
    measure_named,
    ndcg_at,
    percentile,
    precision_at,
    recall_at,
    reciprocal_rank,
)

RANKED = ["a", "x", "b", "y", "c"]
GOLD = {"a": 1.0, "b": 1.0, "d": 1.0}
LOG3 = math.log2(3)


def test_recall_is_the_share_of_gold_that_was_found():
    assert recall_at(RANKED, GOLD, 1) == pytest.approx(1 / 3)
    assert recall_at(RANKED, GOLD, 3) == pytest.approx(2 / 3)
    assert recall_at(RANKED, GOLD, 10) == pytest.approx(2 / 3)


def test_recall_at_one_cannot_reach_all_of_several():
    assert recall_at(["a"], {"a": 1.0, "b": 1.0}, 1) == 0.5


def test_precision_counts_empty_places():
    assert precision_at(RANKED, GOLD, 4) == 0.5
    assert precision_at(["a"], GOLD, 10) == 0.1


def test_reciprocal_rank_is_that_of_the_first_hit():
    assert reciprocal_rank(["x", "y", "b", "a"], GOLD, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "y", "b"], GOLD, 2) == 0.0
    assert reciprocal_rank([], GOLD, 10) == 0.0


def test_ndcg_of_binary_gold():
    # Found at ranks 1 and 3: 1 + 1/log2(4); the best would be ranks 1, 2 and 3.
    best = 1 + 1 / LOG3 + 1 / 2
    assert ndcg_at(RANKED, GOLD, 10) == pytest.approx((1 + 0.5) / best)
    assert ndcg_at(RANKED, GOLD, 10) == pytest.approx(0.703918, abs=1e-6)


def test_ndcg_at_k_compares_with_the_best_k():
    assert ndcg_at(["a"], GOLD, 1) == 1.0
    assert ndcg_at(["x", "a"], {"a": 1.0}, 2) == pytest.approx(1 / LOG3)
    assert ndcg_at(["x", "a"], {"a": 1.0}, 1) == 0.0


def test_ndcg_of_graded_gold():
    # Gains 2^g - 1: a 7, b 3, c 1. Order b, a, x, c against a, b, c.
    gold = {"a": 3.0, "b": 2.0, "c": 1.0}
    found = 3 + 7 / LOG3 + 0 + 1 / math.log2(5)
    best = 7 + 3 / LOG3 + 1 / 2
    assert ndcg_at(["b", "a", "x", "c"], gold, 4) == pytest.approx(found / best)
    assert ndcg_at(["b", "a", "x", "c"], gold, 4) == pytest.approx(0.835448, abs=1e-6)
    assert ndcg_at(["a", "b", "c"], gold, 4) == pytest.approx(1.0)


def test_a_result_that_comes_twice_gains_once():
    assert ndcg_at(["a", "a", "a"], {"a": 1.0, "b": 1.0}, 3) == pytest.approx(1 / (1 + 1 / LOG3))


def test_nothing_relevant_measures_nothing():
    for measure in (recall_at, precision_at, ndcg_at, reciprocal_rank):
        assert measure(RANKED, {}, 5) == 0.0


def test_a_measure_has_a_name_and_a_depth():
    assert measure_named("Precision@3")(["a", "b", "x"], GOLD) == pytest.approx(2 / 3)
    assert measure_named("mrr").depth == 10
    assert measure_named("ndcg@20").depth == 20


@pytest.mark.parametrize("name", ["", "recall", "recall@0", "recall@101", "hit@1", "recall@-1"])
def test_other_names_are_refused(name):
    with pytest.raises(InvalidInput, match="eval_measure"):
        measure_named(name)


def test_percentile_is_one_of_the_values():
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.95) == 4.0
    assert percentile([], 0.5) == 0.0
    assert mean([]) == 0.0


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.1, 5.0), min_size=1),
    st.integers(1, 10),
)
def test_measures_lie_between_0_and_1_and_the_best_order_is_1(ranked, gold, k):
    for measure in (recall_at, precision_at, ndcg_at, reciprocal_rank):
        assert 0.0 <= measure(ranked, gold, k) <= 1.0 + 1e-12
    assert ndcg_at(sorted(gold, key=lambda ref: -gold[ref]), gold, k) == pytest.approx(1.0)
