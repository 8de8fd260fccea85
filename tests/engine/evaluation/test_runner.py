"""Scores are means over questions: as a whole, by category and by space."""

from __future__ import annotations

import pytest

from engine.domain.errors import ModelUnavailable
from engine.evaluation.dataset import GoldQuery
from engine.evaluation.metrics import MEASURES, measure_named
from engine.evaluation.runner import Found, outcome, run

QUERIES = (
    GoldQuery("1", "a", "first", {"x": 1.0}, "easy"),
    GoldQuery("2", "a", "second", {"x": 1.0, "y": 1.0}, "hard"),
    GoldQuery("3", "b", "third", {"y": 1.0}, "hard"),
)
ANSWERS = {"first": ("x",), "second": ("z", "x"), "third": ()}


def ask(query):
    off = ModelUnavailable("error.model_off")
    return Found(ANSWERS[query.query], float(query.ref), {"text": 2.0}, (off,))


@pytest.fixture
def result():
    return outcome(run(QUERIES, ask, MEASURES, lambda done, total: None), MEASURES)


def test_the_whole_is_the_mean_over_questions(result):
    assert result.overall.n == 3
    assert result.overall.values["recall@1"] == pytest.approx((1 + 0 + 0) / 3)
    assert result.overall.values["recall@10"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert result.overall.values["mrr"] == pytest.approx((1 + 0.5 + 0) / 3)


def test_parts_are_scored_alone(result):
    assert {name: score.n for name, score in result.by_category.items()} == {"easy": 1, "hard": 2}
    assert result.by_category["hard"].values["recall@5"] == pytest.approx(0.25)
    assert result.by_space["b"].values["recall@10"] == 0.0


def test_times_and_reasons_are_reported(result):
    assert (result.query_ms_p50, result.query_ms_p95) == (2.0, 3.0)
    assert result.stages_ms == {"text": 2.0}
    assert [reason.key for reason in result.degraded] == ["error.model_off"]


def test_progress_reaches_the_end():
    seen: list[tuple[int, int]] = []
    run(QUERIES, ask, [measure_named("mrr")], lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
