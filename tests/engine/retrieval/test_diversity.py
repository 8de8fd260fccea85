"""Results that do not repeat each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.diversity import (
    Spread,
    diversify,
    vector_similarity,
    words_similarity,
)

WORDS = {
    1: ("tea", "with", "milk"),
    2: ("tea", "with", "milk", "please"),
    3: ("a", "red", "bicycle"),
    4: (),
}
CANDIDATES = [(1, 1.0), (2, 0.9), (3, 0.6), (4, 0.5)]


def ids(found) -> list[int]:
    return [item.id for item in found.picked]


def test_words_are_alike_by_what_they_share_of_all():
    similarity = words_similarity(WORDS)
    assert similarity(1, [2, 3, 4, 99]) == [0.75, 0.0, 0.0, 0.0]
    assert similarity(4, [4]) == [0.0]


def test_vectors_are_alike_by_their_cosine():
    vectors = {1: np.array([1.0, 0.0]), 2: np.array([0.6, 0.8]), 3: np.array([0.0, 1.0])}
    similarity = vector_similarity(vectors)
    assert similarity(1, [2, 3, 9]) == pytest.approx([0.6, 0.0, 0.0])
    assert similarity(9, [1, 2]) == [0.0, 0.0]
    assert vector_similarity({})(1, [2]) == [0.0]


def test_what_repeats_the_best_result_gives_way():
    """
    .7*.9 - .3*.75 = .405 for 2, .7*.6 - 0 = .42 for 3: 3 comes second;
    then 2 still has .405 and 4 .7*.5 = .35.
    """
    found = diversify(CANDIDATES, 4, Spread(mmr_lambda=0.7), words_similarity(WORDS))
    assert ids(found) == [1, 3, 2, 4]
    assert [(item.similarity, item.nearest) for item in found.picked] == [
        (0.0, None),
        (0.0, 1),
        (0.75, 1),
        (0.0, 1),
    ]


def test_lambda_1_keeps_the_order():
    found = diversify(CANDIDATES, 3, Spread(mmr_lambda=1.0), words_similarity(WORDS))
    assert ids(found) == [1, 2, 3]


def test_without_a_similarity_the_order_stays():
    assert ids(diversify(CANDIDATES, 2, Spread(mmr_lambda=0.1), None)) == [1, 2]


def test_near_duplicates_are_dropped_and_named():
    spread = Spread(mmr_lambda=1.0, dedup_threshold=0.75)
    found = diversify(CANDIDATES, 3, spread, words_similarity(WORDS))
    assert ids(found) == [1, 3, 4]
    assert found.duplicates == {2: 1}


def test_a_protected_candidate_is_not_dropped():
    spread = Spread(mmr_lambda=1.0, dedup_threshold=0.75, protected=frozenset({2}))
    assert ids(diversify(CANDIDATES, 3, spread, words_similarity(WORDS))) == [1, 2, 3]


numbers = st.floats(0.0, 1.0)


@given(
    st.dictionaries(st.integers(1, 30), numbers, max_size=15),
    st.integers(1, 20),
    numbers,
    st.none() | numbers,
    st.dictionaries(st.integers(1, 30), st.sets(st.sampled_from("abcde"))),
)
def test_nobody_is_chosen_twice_and_nobody_is_lost(scores, k, share, threshold, words):
    candidates = sorted(scores.items(), key=lambda item: -item[1])
    found = diversify(candidates, k, Spread(share, threshold), words_similarity(words))
    chosen = ids(found)
    assert len(set(chosen)) == len(chosen) <= k
    assert chosen[:1] == [candidates[0][0]] if candidates else not chosen
    assert not set(chosen) & found.duplicates.keys()
    assert set(found.duplicates.values()) <= set(chosen)
    assert len(chosen) == min(k, len(candidates) - len(found.duplicates)) or len(chosen) == k
