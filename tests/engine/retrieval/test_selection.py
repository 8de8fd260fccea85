"""Floor, reranker, duplicates, MMR and cut, in this order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from engine.config.presets import load_preset
from engine.domain.errors import InvalidInput, ModelUnavailable
from engine.retrieval.diversity import words_similarity
from engine.retrieval.explanation import explain
from engine.retrieval.facts import Facts, QueryFacts
from engine.retrieval.scoring import Ranking, rank
from engine.retrieval.selection import Cut, Rerank, select

NOW = 1.7e9


def ranking(preset: str = "composite", pinned: Sequence[int] = ()) -> Ranking:
    """Memories 1 to 6, the first the best, with cosines .9, .8, … .4."""
    pool = [
        Facts(id=i, created_at=NOW, cosine=1.0 - i / 10, salience=i / 10, pinned=i in pinned)
        for i in range(1, 7)
    ]
    return rank(load_preset(preset), pool, QueryFacts(now=NOW))


def ids(selection) -> list[int]:
    return [choice.id for choice in selection.choices]


STRENGTHS = {i: 1.0 - i / 10 for i in range(1, 7)}


def test_the_best_k_are_selected():
    selection = select(ranking(), Cut(k=3))
    assert ids(selection) == [1, 2, 3]
    assert selection.cut == 0
    assert [choice.first_place for choice in selection.choices] == [1, 2, 3]


def test_what_is_weaker_than_the_floor_is_cut_and_counted():
    selection = select(ranking(), Cut(k=6, strengths=STRENGTHS, min_strength=0.65))
    assert (ids(selection), selection.cut) == ([1, 2, 3], 3)
    nothing = select(ranking(), Cut(k=6, strengths=STRENGTHS, min_strength=0.95))
    assert (nothing.choices, nothing.cut) == ((), 6)


def test_salience_first_ranks_only_what_matches():
    selection = select(ranking("salience-first"), Cut(k=6, strengths=STRENGTHS | {6: 0.2}))
    assert ids(selection) == [5, 4, 3, 2, 1]


def test_a_floor_on_the_cosine_spares_what_came_by_a_link():
    cut = Cut(k=6, min_cosine=0.75, exempt=frozenset({6}))
    assert ids(select(ranking(), cut)) == [1, 2, 6]


def test_a_pinned_memory_is_in_from_its_cosine_on_whatever_its_place():
    selection = select(ranking(pinned=(5,)), Cut(k=2))
    assert ids(selection) == [1, 5]
    assert [choice.by_pin for choice in selection.choices] == [False, True]
    assert ids(select(ranking(pinned=(5,)), Cut(k=2, pinned_from=0.51))) == [1, 2]
    assert ids(select(ranking("balanced", pinned=(5,)), Cut(k=2))) == [1, 2]


def test_a_pinned_memory_passes_the_floor():
    cut = Cut(k=6, strengths=STRENGTHS, min_strength=0.75)
    assert ids(select(ranking(pinned=(5,)), cut)) == [1, 2, 5]


def test_pinned_memories_never_make_more_than_k():
    assert ids(select(ranking(pinned=(2, 3, 5, 6)), Cut(k=3))) == [2, 3, 5]


def test_near_duplicates_make_room():
    alike = words_similarity({1: "ab", 2: "ab", 3: "cd"})
    selection = select(ranking(), Cut(k=2, dedup_threshold=0.9), alike)
    assert ids(selection) == [1, 3]
    assert selection.duplicates == {2: 1}
    assert explain(ranking(), 2, selection).duplicate_of == 1


def test_the_presets_mmr_holds_unless_the_call_says_otherwise():
    alike = words_similarity({1: "ab", 2: "ab", 3: "cd"})
    pool = [
        Facts(id=i, created_at=NOW, ranks={"text": i, "vector": i}, importance=0.5 + 0.1 / i)
        for i in (1, 2, 3)
    ]
    ranked = rank(load_preset("dual-route"), pool, QueryFacts(now=NOW))
    assert ids(select(ranked, Cut(k=2, mmr_lambda=0.3), alike)) == [1, 3]
    assert ids(select(ranked, Cut(k=2, mmr_lambda=1.0), alike)) == [1, 2]


@pytest.mark.parametrize(
    "cut",
    [
        Cut(k=1, mmr_lambda=1.1),
        Cut(k=1, dedup_threshold=-0.1),
        Cut(k=1, min_cosine=-1.5),
        Cut(k=1, min_strength=math.nan),
    ],
)
def test_a_number_outside_its_range_is_refused(cut):
    with pytest.raises(InvalidInput):
        select(ranking(), cut)


# ---- reranker


def texts(ids: Sequence[int]) -> list[str]:
    return [f"text {i}" for i in ids]


def rerank(reranker, pool: int = 3) -> Rerank:
    return Rerank("question", reranker, texts, pool)


def test_a_reranker_orders_the_head_and_the_explanation_shows_both_places():
    asked = []

    def reranker(query: str, given: Sequence[str]) -> list[float]:
        asked.append((query, list(given)))
        return [0.1, 5.0, 2.0]

    ranked = ranking()
    selection = select(ranked, Cut(k=5), rerank=rerank(reranker))
    assert asked == [("question", ["text 1", "text 2", "text 3"])]
    assert ids(selection) == [2, 3, 1, 4, 5]
    choice = explain(ranked, 2, selection).choice
    assert choice is not None
    assert (choice.score, choice.first_place, choice.reranked) == (5.0, 2, True)
    assert choice.first_score == next(item.score for item in ranked.ordered if item.id == 2)
    assert not selection.choices[3].reranked


def test_what_was_not_reranked_stays_behind_what_was_even_with_mmr():
    reverse = rerank(lambda query, given: [1.0, 2.0, 3.0])
    selection = select(ranking(), Cut(k=6, mmr_lambda=0.9), words_similarity({}), reverse)
    assert ids(selection) == [3, 2, 1, 4, 5, 6]


def fails(query: str, given: Sequence[str]) -> list[float]:
    raise ModelUnavailable("error.provider_timeout")


@pytest.mark.parametrize(
    ("reranker", "key"),
    [
        (lambda query, given: [1.0, 2.0], "error.reranker_count"),
        (lambda query, given: [1.0] * 9, "error.reranker_count"),
        (lambda query, given: [1.0, math.nan, 2.0], "error.reranker_number"),
        (lambda query, given: ["much"] * 3, "error.reranker_failed"),
        (lambda query, given: 1 / 0, "error.reranker_failed"),
        (fails, "error.reranker_failed"),
    ],
)
def test_a_reranker_that_fails_is_reported_and_the_first_order_kept(reranker, key):
    selection = select(ranking(), Cut(k=4), rerank=rerank(reranker))
    assert ids(selection) == [1, 2, 3, 4]
    assert selection.degraded is not None
    assert selection.degraded.key == key
    assert not any(choice.reranked for choice in selection.choices)


def test_a_reranker_is_not_asked_about_nothing():
    cut = Cut(k=4, strengths={}, min_strength=0.5)
    selection = select(ranking(), cut, rerank=rerank(fails))
    assert (selection.choices, selection.degraded) == ((), None)
