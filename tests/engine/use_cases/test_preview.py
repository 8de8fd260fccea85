"""Preview: the order by other weights, from candidates that were fetched once."""

from __future__ import annotations

import math
from unittest.mock import patch

import pytest

from engine.bootstrap import Engine
from engine.config.presets import SIGNALS
from engine.domain.errors import ConfigInvalid, InvalidInput
from engine.retrieval import pool
from engine.use_cases import recall
from engine.use_cases.judge import JudgeRequest
from engine.use_cases.preview import Asked, WeightSet
from engine.use_cases.recall import RecallRequest
from tests.engine.use_cases.shortcuts import CALLER, remember

QUERY = "阳台上的花什么时候浇水"
IN_FORCE = WeightSet("balanced")
BY_IMPORTANCE = WeightSet("balanced", {"recall.weights.importance": 1.0})


@pytest.fixture
def garden(engine: Engine) -> dict[str, int]:
    """A few memories about flowers, one of them important."""
    return {
        "water": remember(engine, "阳台上的花每周三浇水", importance=0.1),
        "sun": remember(engine, "阳台上的花需要太阳", importance=1.0),
        "tea": remember(engine, "早上喝绿茶", importance=0.4),
    }


def ids(side):
    return [hit.memory.id for hit in side.hits]


@pytest.mark.parametrize("preset", ["balanced", "composite", "dual-route", "salience-first"])
def test_a_preview_shows_what_recall_answers(
    engine: Engine, garden: dict[str, int], preset: str
) -> None:
    shown = engine.tuning.preview(Asked(QUERY, shown=5), [WeightSet(preset)]).sides[0]
    answer = engine.recall(RecallRequest(QUERY, preset=preset))
    assert ids(shown) == [hit.memory.id for hit in answer.hits]
    assert [hit.score for hit in shown.hits] == [hit.score for hit in answer.hits]


def test_saved_weights_rank_as_previewed(engine: Engine, garden: dict[str, int]) -> None:
    shown = engine.tuning.preview(Asked(QUERY), [IN_FORCE, BY_IMPORTANCE]).sides
    assert ids(shown[0]) == [hit.memory.id for hit in engine.recall(RecallRequest(QUERY)).hits]
    engine.settings.change(dict(BY_IMPORTANCE.values), CALLER)
    assert engine.tuning.in_force() == BY_IMPORTANCE
    assert ids(shown[1]) == [hit.memory.id for hit in engine.recall(RecallRequest(QUERY)).hits]


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_previews_as_it_ranks(
    engine: Engine, garden: dict[str, int], signal: str
) -> None:
    tried = WeightSet("balanced", {f"recall.weights.{signal}": 0.8})
    shown = engine.tuning.preview(Asked(QUERY), [tried]).sides[0]
    engine.settings.change(dict(tried.values), CALLER)
    answer = engine.recall(RecallRequest(QUERY))
    assert [hit.score for hit in shown.hits] == [hit.score for hit in answer.hits]


def test_movement_is_counted_from_the_first_side(engine: Engine, garden: dict[str, int]) -> None:
    before, after = engine.tuning.preview(Asked(QUERY), [IN_FORCE, BY_IMPORTANCE]).sides
    assert ids(before)[0] == garden["water"]
    assert ids(after)[0] == garden["sun"]
    assert after.hits[0].before == ids(before).index(garden["sun"]) + 1
    assert [hit.before for hit in before.hits] == [None] * len(before.hits)


def test_weights_move_without_asking_the_channels_again(
    engine: Engine, garden: dict[str, int]
) -> None:
    asked = Asked(QUERY)
    assert engine.tuning.preview(asked, [IN_FORCE]).fetched
    with patch.object(recall, "gather", wraps=pool.gather) as gather:
        for step in range(5):
            tried = WeightSet("balanced", {"recall.weights.recency": step / 10})
            assert not engine.tuning.preview(asked, [IN_FORCE, tried]).fetched
        assert not gather.called
    remember(engine, "阳台上的花开了")
    assert engine.tuning.preview(asked, [IN_FORCE]).fetched


def test_the_parts_of_a_result_add_up_to_its_score(engine: Engine, garden: dict[str, int]) -> None:
    for preset in ("balanced", "composite", "dual-route", "hybrid-blend-rrf"):
        side = engine.tuning.preview(Asked(QUERY), [WeightSet(preset)]).sides[0]
        for hit in side.hits:
            total = sum(part.contribution for part in hit.parts)
            assert math.isclose(total, hit.score, abs_tol=1e-6)


def test_judgments_give_each_side_its_measure(engine: Engine, garden: dict[str, int]) -> None:
    asked = Asked(QUERY)
    assert engine.tuning.preview(asked, [IN_FORCE]).sides[0].ndcg is None
    request = JudgeRequest(QUERY, relevant=(garden["sun"],), irrelevant=(garden["tea"],))
    engine.judge(request, CALLER)
    before, after = engine.tuning.preview(asked, [IN_FORCE, BY_IMPORTANCE]).sides
    assert before.ndcg is not None and after.ndcg == 1.0
    assert before.ndcg < after.ndcg
    assert [h.judged for h in after.hits if h.memory.id == garden["sun"]] == [True]
    told = engine.tuning.evaluate([IN_FORCE, BY_IMPORTANCE], lambda done, of: None)
    assert [means["ndcg@10"] for means in told.means] == [before.ndcg, after.ndcg]
    assert (told.queries[0].query, told.queries[0].relevant) == (QUERY, 1)


def test_judgments_belong_to_the_workspace_they_were_made_in(
    engine: Engine, garden: dict[str, int]
) -> None:
    engine.judge(JudgeRequest(QUERY, relevant=(garden["sun"],), workspace="甲"), CALLER)
    assert engine.tuning.preview(Asked(QUERY), [IN_FORCE]).sides[0].ndcg is None


def test_nothing_counts_as_used(engine: Engine, garden: dict[str, int]) -> None:
    engine.tuning.preview(Asked(QUERY), [IN_FORCE])
    engine.upkeep.count_uses()
    strength = engine.browsing.strength(garden["water"])
    assert strength is not None and strength.access_count == 0


def test_what_is_no_weight_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="no_weight"):
        engine.tuning.preview(Asked("x"), [WeightSet("balanced", {"embedding.api_key": 1.0})])
    with pytest.raises(ConfigInvalid, match="config_value"):
        engine.tuning.preview(Asked("x"), [WeightSet("balanced", {"recall.weights.graph": -1.0})])
    with pytest.raises(ConfigInvalid, match="unknown_preset"):
        engine.tuning.preview(Asked("x"), [WeightSet("balancde")])
    with pytest.raises(InvalidInput, match="empty_query"):
        engine.tuning.preview(Asked("  "), [IN_FORCE])


def test_without_judgments_there_is_nothing_to_evaluate(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="eval_no_queries"):
        engine.tuning.evaluate([IN_FORCE], lambda done, of: None)
