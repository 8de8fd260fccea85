"""Tuning proposes; it never applies."""

from __future__ import annotations

import pytest

from engine.domain.errors import InvalidInput
from engine.evaluation.session import EvaluationRequest
from engine.use_cases.tune import TuneRequest
from tests.engine.evaluation.sets import write_set


def tune(engine, folder, **given):
    request = TuneRequest(EvaluationRequest(paths=(folder,)), max_trials=12, **given)
    return engine.tune(request, lambda *_: None)


def test_one_part_is_searched_and_the_other_reported(engine, tmp_path):
    before = engine.context.live.version()
    found = tune(engine, write_set(tmp_path / "small"), tune_on=("a",))
    assert (found.searched_count, found.held_out_count) == (2, 1)
    assert found.searched == (1.0, 1.0)
    assert found.changed == {}
    assert engine.context.live.version() == before


def test_without_a_choice_every_second_space_is_searched(engine, tmp_path):
    found = tune(engine, write_set(tmp_path / "small"))
    assert (found.searched_count, found.held_out_count) == (2, 1)


def test_both_parts_need_questions(engine, tmp_path):
    with pytest.raises(InvalidInput, match="tune_one_part"):
        tune(engine, write_set(tmp_path / "small"), tune_on=("c",))
