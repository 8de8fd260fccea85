from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.presets import load_preset, parse_preset
from engine.retrieval.intent import INTENTS, Sign, intents_of, moved_weights, read_signs

RELATIONAL, TEMPORAL, FACTUAL = INTENTS


@pytest.mark.parametrize(
    ("query", "intents"),
    [
        ("小明和阿丽是什么关系", {RELATIONAL}),
        ("誰認識阿麗？", {RELATIONAL}),
        ("上次开会是几点", {TEMPORAL}),
        ("他们哪天搬的家", {TEMPORAL}),
        ("向量检索是什么", {FACTUAL}),
        ("为什么要用 WAL", {FACTUAL}),
        ("谁上次来过", {RELATIONAL, TEMPORAL}),
        ("Who knows Mia?", {RELATIONAL}),
        ("WHEN DID we move", {TEMPORAL}),
        ("What is the difference between the two plans", {FACTUAL}),
        ("what's her family like", {FACTUAL, RELATIONAL}),
        ("the whole knowledge beforehand", set()),
        ("今天吃什么", set()),
        ("", set()),
    ],
)
def test_intents_are_read_from_the_surface(query, intents):
    assert intents_of(query) == intents


def test_a_longer_sign_hides_those_inside_it():
    assert read_signs("小明和阿丽是什么关系") == (Sign(RELATIONAL, "是什么关系"),)


@given(st.text(max_size=60))
def test_any_text_can_be_read(query):
    assert intents_of(query) <= set(INTENTS)


@pytest.mark.parametrize(
    ("traits", "document"),
    [
        ((), 0.65),
        ((RELATIONAL,), 0.45),
        ((TEMPORAL,), 0.55),
        ((FACTUAL,), 0.80),
        ((RELATIONAL, TEMPORAL), 0.35),
        ((RELATIONAL, FACTUAL), 0.60),
        (("ongoing",), 0.65),
    ],
)
def test_the_adjustments_add_up_and_the_other_route_takes_the_rest(traits, document):
    weights = moved_weights(load_preset("dual-route"), frozenset(traits))
    assert weights == pytest.approx((document, 1.0 - document))


def test_weights_are_clamped():
    text = """
        [routes.a]
        weight = 0.3
        weights = { relevance = 1 }
        recency = { days = 1 }
        [routes.b]
        weight = 0.7
        weights = { relevance = 1 }
        recency = { days = 1 }
        [intent.temporal]
        b = 0.9
    """
    assert moved_weights(parse_preset("two", text), frozenset({TEMPORAL})) == (0.0, 1.0)


def test_with_three_routes_the_weights_are_scaled_to_1():
    routes = "".join(
        f"[routes.{name}]\nweight = {weight}\nweights = {{ relevance = 1 }}\nrecency = {{}}\n"
        for name, weight in (("a", 0.5), ("b", 0.3), ("c", 0.2))
    )
    preset = parse_preset("three", f"{routes}[intent.temporal]\nc = 0.5\na = 0.1\n")
    weights = moved_weights(preset, frozenset({TEMPORAL}))
    assert weights == pytest.approx((0.6 / 1.6, 0.3 / 1.6, 0.7 / 1.6))
    assert sum(weights) == pytest.approx(1.0)
