from __future__ import annotations

import pytest

from engine.config.messages import render
from engine.config.presets import (
    effective_weights,
    known_preset,
    load_preset,
    parse_preset,
    preset_names,
)
from engine.config.schema import WeightSettings
from engine.domain.errors import ConfigInvalid

GOOD = """
[fusion]
method = "blend"
vector_share = 0.6
lexical_share = 0.4
[weights]
relevance = 1
[recency]
days = 7
"""


def test_every_preset_in_the_assets_can_be_used():
    assert "balanced" in preset_names()
    for name in preset_names():
        assert load_preset(name).name == name


def test_values_left_out_have_their_defaults():
    preset = parse_preset("mine", GOOD)
    assert preset.weights.relevance == 1.0
    assert preset.weights.recency == 0.0
    assert preset.recency.basis == "created"
    assert preset.recency.days == 7.0


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("relevance = 1", "relevance = -1"),
        ("relevance = 1", "relevance = 0"),
        ("relevance = 1", "relevance = nan"),
        ("relevance = 1", "relevance = inf"),
        ("relevance = 1", "relevance = true"),
        ("relevance = 1", "relevance = 'much'"),
        ("relevance = 1", "relevanse = 1"),
        ("days = 7", "days = 0"),
        ("days = 7", "shape = 'circle'"),
        ("[recency]\ndays = 7", ""),
        ("[recency]\ndays = 7", "recency = 3"),
        ("[fusion]", "[fusion"),
    ],
)
def test_a_preset_that_cannot_rank_is_refused(good, bad):
    with pytest.raises(ConfigInvalid) as caught:
        parse_preset("mine", GOOD.replace(good, bad))
    assert "mine" in render(caught.value, "en")


@pytest.mark.parametrize("name", ["balansed", "../balanced", "", "Balanced"])
def test_an_unknown_preset_is_refused_with_the_known_ones(name):
    with pytest.raises(ConfigInvalid) as caught:
        load_preset(name)
    assert "balanced" in render(caught.value, "zh")


def test_a_known_preset_is_returned():
    assert known_preset("balanced") == "balanced"


def test_the_users_weights_replace_those_of_the_preset_one_by_one():
    preset = load_preset("balanced")
    weights = effective_weights(preset, WeightSettings(recency=0.0, salience=0.5))
    assert weights.relevance == preset.weights.relevance
    assert weights.recency == 0.0
    assert weights.salience == 0.5
