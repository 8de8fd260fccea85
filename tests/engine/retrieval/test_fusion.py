"""Fusion, for whatever the channels may say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.preset_file import FUSION_METHODS
from engine.config.presets import Fusion
from engine.retrieval.facts import CHANNELS, Facts, QueryFacts
from engine.retrieval.fusion import METHODS, fuse

NOW = QueryFacts(now=0.0)
ranks = st.dictionaries(st.sampled_from(CHANNELS), st.integers(0, 300), max_size=3)
facts = st.builds(
    Facts,
    id=st.just(0),
    created_at=st.just(0.0),
    cosine=st.none() | st.floats(-1.0, 1.0),
    bm25=st.floats(0.0, 1e6),
    coverage=st.floats(0.0, 1.0),
    rare_words=st.floats(0.0, 6.0),
    ranks=ranks,
)
pools = st.lists(facts, max_size=12)
shares = st.floats(0.0, 1.0)
fusions = st.builds(Fusion, st.sampled_from(FUSION_METHODS), shares, shares).filter(
    lambda fusion: fusion.vector_share + fusion.lexical_share > 0
)
queries = st.builds(QueryFacts, now=st.just(0.0), word_count=st.integers(0, 8))


def known(cosine: float | None = None, bm25: float = 0.0, coverage: float = 0.0, **more) -> Facts:
    return Facts(id=0, created_at=0.0, cosine=cosine, bm25=bm25, coverage=coverage, **more)


def at_least(more: Facts, less: Facts) -> bool:
    """The first has as much of everything that a blend reads as the second."""
    if less.cosine is not None and (more.cosine is None or more.cosine < less.cosine):
        return False
    return more.bm25 >= less.bm25 and more.coverage >= less.coverage


def test_every_method_a_preset_may_name_exists():
    assert tuple(sorted(METHODS)) == tuple(sorted(FUSION_METHODS))


@given(pools, fusions, queries)
def test_relevance_lies_between_0_and_1_and_the_best_has_1(pool, fusion, query):
    values = fuse(pool, fusion, query).values
    assert len(values) == len(pool)
    assert all(0.0 <= value <= 1.0 for value in values)
    assert not any(math.isnan(value) for value in values)
    assert not values or max(values) in (0.0, 1.0)


@given(pools, fusions.filter(lambda fusion: fusion.method != "rrf"), queries)
def test_more_evidence_never_ranks_lower(pool, fusion, query):
    values = fuse(pool, fusion, query).values
    for one, value in zip(pool, values, strict=True):
        for other, less in zip(pool, values, strict=True):
            if at_least(one, other):
                assert value >= less - 1e-12


@given(pools, fusions, queries)
def test_the_order_of_the_pool_does_not_matter(pool, fusion, query):
    turned = fuse(pool[::-1], fusion, query).values
    assert turned[::-1] == fuse(pool, fusion, query).values


@given(pools, fusions, queries)
def test_the_parts_add_up_to_the_relevance(pool, fusion, query):
    fused = fuse(pool, fusion, query)
    for place, value in enumerate(fused.values):
        total = sum(part.weight * part.values[place] for part in fused.parts)
        assert value == pytest.approx(total / fused.best if fused.best else 0.0, abs=1e-12)


@pytest.mark.parametrize(
    "fusion",
    [
        Fusion("blend", vector_share=0.7, lexical_share=0.3),
        Fusion("blend", 0.1, 0.9),
        Fusion("earned", 0.6, 0.4),
    ],
)
def test_a_list_of_function_words_cannot_drown_the_vectors(fusion):
    near = known(0.8)
    wordy = [known(0.2, bm25=0.4, coverage=0.05) for _ in range(28)]
    values = fuse([near, *wordy], fusion, QueryFacts(now=0.0, word_count=5)).values
    assert values[0] == max(values) == 1.0
    assert max(values[1:]) < 0.5


@pytest.mark.parametrize("method", ["blend", "earned"])
@pytest.mark.parametrize("word_count", [0, 2])
def test_with_all_the_share_on_one_side_the_other_is_not_heard(method, word_count):
    pool = [known(0.9, 1.0, 0.2), known(0.5, 9.0, 1.0), known(0.7, 5.0, 0.5), known(None, 7.0, 0.9)]
    query = QueryFacts(now=0.0, word_count=word_count)
    by_vector = fuse(pool, Fusion(method, vector_share=1.0, lexical_share=0.0), query).values
    by_words = fuse(pool, Fusion(method, vector_share=0.0, lexical_share=1.0), query).values
    assert sorted(range(4), key=lambda i: -by_vector[i]) == [0, 2, 1, 3]
    assert sorted(range(4), key=lambda i: -by_words[i]) == [1, 3, 2, 0]


def test_a_name_held_whole_wins_over_a_nearer_vector():
    """Two words, held whole: the words get .4 + .6 / 2 * .9 = .67 of the whole."""
    pool = [known(0.9), known(0.4, bm25=6.0, coverage=1.0, rare_words=2.0)]
    fused = fuse(pool, Fusion("earned", 0.6, 0.4), QueryFacts(now=0.0, word_count=2))
    assert [round(part.weight, 6) for part in fused.parts] == [0.33, 0.67]
    assert fused.values == [pytest.approx(0.33 / 0.67), 1.0]


def test_what_is_no_number_counts_as_not_known():
    values = fuse([known(math.nan), known(0.5), known(0.4)], Fusion(), NOW).values
    assert values == [0.0, 1.0, 0.0]


def test_reciprocal_ranks_add_up_over_the_channels_of_a_route():
    pool = [known(ranks={"text": 0, "vector": 2}), known(ranks={"vector": 0, "time": 0}), known()]
    values = fuse(pool, Fusion("rrf"), NOW, ("text", "vector")).values
    best = 1 / 61 + 1 / 63
    assert values == pytest.approx([1.0, (1 / 61) / best, 0.0])
