"""Fusion and strength, for whatever the channels may say."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from engine.config.presets import Fusion
from engine.domain.embedding import Calibration
from engine.retrieval.fusion import Evidence, relevance, strength
from engine.retrieval.lexical import LexicalScore

CALIBRATION = Calibration(middle=0.45, slope=12.0)
cosines = st.none() | st.floats(-1.0, 1.0)
lexicals = st.none() | st.builds(
    LexicalScore, st.floats(0.0, 1e6), st.floats(0.0, 1.0), st.just(())
)
evidence = st.builds(Evidence, cosines, lexicals)
pools = st.dictionaries(st.integers(1, 50), evidence, max_size=12)
shares = st.floats(0.0, 1.0)
fusions = st.builds(Fusion, st.just("blend"), shares, shares).filter(
    lambda fusion: fusion.vector_share + fusion.lexical_share > 0
)


def at_least(more: Evidence, less: Evidence) -> bool:
    """The first has as much of everything that channels can know as the second."""
    cosine, other = more.cosine, less.cosine
    if other is not None and (cosine is None or cosine < other):
        return False
    if less.lexical is None:
        return True
    return (
        more.lexical is not None
        and more.lexical.bm25 >= less.lexical.bm25
        and more.lexical.coverage >= less.lexical.coverage
    )


@given(pools, fusions)
def test_relevance_lies_between_0_and_1_and_the_best_has_1(
    pool: dict[int, Evidence], fusion: Fusion
) -> None:
    values = relevance(pool, fusion)
    assert values.keys() == pool.keys()
    assert all(0.0 <= value <= 1.0 for value in values.values())
    assert not any(math.isnan(value) for value in values.values())
    assert not values or max(values.values()) in (0.0, 1.0)


@given(pools, fusions)
def test_more_evidence_never_ranks_lower(pool: dict[int, Evidence], fusion: Fusion) -> None:
    values = relevance(pool, fusion)
    for one in pool:
        for other in pool:
            if at_least(pool[one], pool[other]):
                assert values[one] >= values[other] - 1e-12


@given(pools, fusions)
def test_the_order_of_the_pool_does_not_matter(pool: dict[int, Evidence], fusion: Fusion) -> None:
    turned = dict(reversed(pool.items()))
    assert relevance(turned, fusion) == relevance(pool, fusion)


@given(evidence)
def test_strength_lies_between_0_and_1(known: Evidence) -> None:
    assert 0.0 <= strength(known, CALIBRATION) <= 1.0


@given(evidence, evidence)
def test_more_evidence_is_never_weaker(one: Evidence, other: Evidence) -> None:
    if at_least(one, other):
        assert strength(one, CALIBRATION) >= strength(other, CALIBRATION) - 1e-12


def test_strength_does_not_depend_on_what_else_was_found() -> None:
    alone = Evidence(0.7, LexicalScore(3.0, 0.5, ("a",)))
    assert strength(alone, CALIBRATION) > 0.9
    assert strength(Evidence(0.0, None), CALIBRATION) < 0.01
    assert strength(Evidence(None, LexicalScore(1.0, 1.0, ("a",))), CALIBRATION) == 1.0
    assert strength(Evidence(None, None), CALIBRATION) == 0.0


def test_a_list_of_function_words_cannot_drown_the_vectors() -> None:
    near = Evidence(0.8, LexicalScore(0.0, 0.0, ()))
    wordy = {i: Evidence(0.2, LexicalScore(0.4, 0.05, ("the",))) for i in range(2, 30)}
    for fusion in (Fusion(vector_share=0.7, lexical_share=0.3), Fusion("blend", 0.1, 0.9)):
        values = relevance({1: near} | wordy, fusion)
        assert max(values, key=lambda i: values[i]) == 1
