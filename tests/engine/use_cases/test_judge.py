"""What a person judged becomes the gold of the store."""

from __future__ import annotations

import pytest

from engine.domain.errors import InvalidInput, NotFound
from engine.evaluation.session import EvaluationRequest
from engine.use_cases.judge import JudgeRequest
from tests.engine.use_cases.shortcuts import CALLER, remember


def quiet(*_):
    pass


def judge(engine, query, *refs, **given):
    return engine.judge(JudgeRequest(query, tuple(refs), **given), CALLER)


def test_judgments_are_kept_with_who_and_when(engine):
    kettle, rent = remember(engine, "The kettle is broken"), remember(engine, "Rent is due")
    made = judge(engine, "kettle ", kettle, irrelevant=(f"#{rent}",), grade=2.0, category="things")
    assert [(j.query, j.relevant, j.grade, j.actor) for j in made] == [
        ("kettle", True, 2.0, "test"),
        ("kettle", False, None, "test"),
    ]
    assert engine.judgments("KETTLE") == made
    assert engine.judgments("rent") == []


def test_one_unknown_memory_and_nothing_is_kept(engine):
    kettle = remember(engine, "The kettle is broken")
    with pytest.raises(NotFound):
        judge(engine, "kettle", kettle, 999)
    assert engine.judgments() == []


@pytest.mark.parametrize("given", [{"grade": 0.0}, {"grade": -1.0}, {"grade": float("nan")}])
def test_a_grade_is_above_zero(engine, given):
    kettle = remember(engine, "The kettle is broken")
    with pytest.raises(InvalidInput, match="eval_grade"):
        judge(engine, "kettle", kettle, **given)


def test_a_blank_query_is_refused(engine):
    with pytest.raises(InvalidInput, match="empty_query"):
        judge(engine, "  ", 1)


def test_judgments_can_be_taken_back(engine):
    kettle = remember(engine, "The kettle is broken")
    judge(engine, "kettle", kettle)
    assert engine.remove_judgments("Kettle", None, [kettle]) == 1
    assert engine.judgments() == []


def test_the_store_is_measured_by_its_own_judgments(engine):
    kettle, rent = remember(engine, "The kettle is broken"), remember(engine, "Rent is due")
    judge(engine, "kettle", kettle, irrelevant=(rent,), category="things")
    judge(engine, "when is rent due", rent)
    judge(engine, "mayor", irrelevant=(rent,))
    (report,) = engine.evaluate(EvaluationRequest(judgments=True), quiet)
    assert report.name == "judgments"
    assert report.outcomes[0].overall.n == 2
    assert report.without_gold == 1
    assert report.outcomes[0].overall.values["recall@1"] == 1.0
    assert set(report.outcomes[0].by_category) == {"", "things"}
    assert engine.get(kettle).revision == 1


def test_a_store_without_judgments_has_nothing_to_measure(engine):
    with pytest.raises(InvalidInput, match="eval_no_queries"):
        engine.evaluate(EvaluationRequest(judgments=True), quiet)
