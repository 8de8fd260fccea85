from __future__ import annotations

from math import log

import pytest

from engine.config.presets import load_preset
from engine.retrieval.pool_lexical import pool_bm25


def test_bm25_is_computed_over_the_pool_alone():
    """
    Three documents of 2, 4 and 3 tokens, mean 3. "tea" is in two, "cup" in one.
    idf(tea) = ln(1 + 1.5/2.5) = ln 1.6, idf(cup) = ln(1 + 2.5/1.5) = ln(8/3).
    Damping 1.5 * (.25 + .75 * length / 3): 1.125, 1.875, 1.5.
      1: ln 1.6 * 1 * 2.5 / 2.125
      2: ln 1.6 * 2 * 2.5 / 3.875 + ln(8/3) * 1 * 2.5 / 2.875
    """
    parameters = load_preset("hybrid-blend").pool_lexical
    assert parameters is not None
    assert (parameters.per_result, parameters.k1, parameters.b) == (4.0, 1.5, 0.75)
    pool = [["green", "tea"], ["tea", "tea", "cup", "red"], ["a", "big", "dog"]]
    scores = pool_bm25(["tea", "cup", "tea"], pool, parameters)
    first = log(1.6) * 2.5 / 2.125
    second = log(1.6) * 5.0 / 3.875 + log(8 / 3) * 2.5 / 2.875
    assert scores == pytest.approx([first, second, 0.0], abs=1e-12)
    assert [round(score, 6) for score in scores] == [0.552945, 1.459351, 0.0]


def test_an_empty_pool_or_query_scores_nothing():
    parameters = load_preset("hybrid-blend").pool_lexical
    assert parameters is not None
    assert pool_bm25(["tea"], [], parameters) == []
    assert pool_bm25([], [["tea"], []], parameters) == [0, 0]
