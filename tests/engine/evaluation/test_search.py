"""The search finds a weight that orders better, and reports what it did not see."""

from __future__ import annotations

import dataclasses

import pytest

from engine.config.presets import Weights, load_preset
from engine.evaluation.dataset import GoldQuery
from engine.evaluation.metrics import measure_named
from engine.evaluation.search import Pooled, SearchPlan, search, starting_values, value_of
from engine.retrieval.facts import Facts, QueryFacts

NOW = 1_700_000_000.0
REFS = {1: "old", 2: "new"}


def pooled(number: int, gold: str = "new") -> Pooled:
    """A question whose answer is the newer of two memories that match alike."""
    query = GoldQuery(str(number), "s", f"query {number}", {gold: 1.0})
    day = 86_400.0
    pool = (
        Facts(id=1, created_at=NOW - 90 * day, cosine=0.80, bm25=2.1, coverage=0.9),
        Facts(id=2, created_at=NOW - 1 * day, cosine=0.79, bm25=2.0, coverage=0.9),
    )
    return Pooled(query, pool, QueryFacts(NOW, word_count=3), REFS)


@pytest.fixture
def plan():
    preset = load_preset("balanced")
    (route,) = preset.routes
    plain = dataclasses.replace(route, weights=Weights(relevance=0.6, recency=0.01))
    return SearchPlan(
        dataclasses.replace(preset, routes=(plain,)), measure_named("recall@1"), max_trials=60
    )


def test_what_the_questions_want_is_found_and_helps_those_held_out(plan):
    found = search(plan, [pooled(1), pooled(2)], [pooled(3)], lambda done, total: None)
    assert found.searched == (0.0, 1.0)
    assert found.held_out == (0.0, 1.0)
    assert found.changed
    assert (found.searched_count, found.held_out_count) == (2, 1)
    assert found.trials <= 60


def test_what_is_held_out_does_not_decide(plan):
    found = search(plan, [pooled(1)], [pooled(2, gold="old")], lambda done, total: None)
    assert found.searched[1] == 1.0
    assert found.held_out == (1.0, 0.0)


def test_good_weights_are_left_alone(plan):
    found = search(plan, [pooled(1, "old")], [pooled(2, "old")], lambda done, total: None)
    assert found.changed == {}


def test_the_same_search_finds_the_same(plan):
    first, second = (
        search(plan, [pooled(1)], [pooled(2)], lambda done, total: None) for _ in range(2)
    )
    assert first == second


def test_the_search_starts_from_the_weights_in_force(plan):
    values = starting_values(plan.preset)
    assert values["recall.weights.relevance"] == 0.6
    assert "recall.weights.salience" not in values
    assert value_of(plan, values, [pooled(1, "old")]) == 1.0


def test_nothing_to_rank_by_is_worth_nothing(plan):
    nothing = dict.fromkeys(starting_values(plan.preset), 0.0)
    assert value_of(plan, nothing, [pooled(1)]) == 0.0
