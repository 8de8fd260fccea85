from __future__ import annotations

import pytest

from engine.config.messages import render
from engine.config.presets import (
    SIGNALS,
    effective,
    effective_weights,
    known_preset,
    load_preset,
    parse_preset,
    preset_names,
)
from engine.config.schema import ShareSettings, WeightSettings, check_together
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


ROUTES = """
both_hit_bonus = 0.08
cap = 1
floor = 0.2
[routes.document]
weight = 0.65
channels = ["text", "vector"]
fusion = { method = "rrf" }
weights = { relevance = 0.5, importance = 0.5 }
recency = { basis = "later", shape = "exp_tau", days = 30 }
[routes.graph]
weight = 0.35
channels = ["graph_text"]
factor = "temporal_factor"
weights = { relevance = 1 }
recency = { days = 7 }
[intent.temporal]
graph = 0.1
[source_boost]
chat = 1.1
"""


def test_every_preset_in_the_assets_can_be_used():
    assert set(preset_names()) == {
        "balanced",
        "composite",
        "dual-route",
        "hybrid-blend",
        "hybrid-blend-rrf",
        "salience-first",
    }
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


def test_several_routes_are_read_with_what_joins_them():
    preset = parse_preset("mine", ROUTES)
    document, graph = preset.routes
    assert (document.name, document.weight, document.channels) == (
        "document",
        0.65,
        ("text", "vector"),
    )
    assert (document.fusion.method, document.recency.basis) == ("rrf", "later")
    assert (graph.factor, graph.form) == ("temporal_factor", "sum")
    assert (preset.both_hit_bonus, preset.cap, preset.floor) == (0.08, 1.0, 0.2)
    assert preset.intent == {"temporal": {"graph": 0.1}}
    assert preset.source_boost == {"chat": 1.1}


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("weight = 0.65", "weight = -1"),
        ("weight = 0.65", "weigth = 0.65"),
        ('channels = ["graph_text"]', 'channels = "graph_text"'),
        ('channels = ["graph_text"]', "channels = [1]"),
        ('method = "rrf"', 'method = "sum"'),
        ('method = "rrf"', "method = 1"),
        ('method = "rrf"', "coverage_from = 0.9"),
        ('method = "rrf"', "onset = 1"),
        ('method = "rrf"', "vector_share = 0, lexical_share = 0"),
        ('basis = "later"', 'basis = "born"'),
        ('factor = "temporal_factor"', 'factor = "luck"'),
        ("graph = 0.1", "grahp = 0.1"),
        ("chat = 1.1", "chat = nan"),
        ("cap = 1", "cap = -1"),
        ("floor = 0.2", "floor = 1.2"),
        ("floor = 0.2", "mmr_lambda = 2"),
        ("floor = 0.2", 'mmr_similarity = "looks"'),
        ("floor = 0.2", 'order = ["luck"]'),
        ("floor = 0.2", "share_out = ['luck']"),
        ("floor = 0.2", "pool_lexical = { k2 = 1 }"),
        ("floor = 0.2", "fusion = {}"),
    ],
)
def test_routes_that_cannot_rank_are_refused(good, bad):
    assert good in ROUTES
    with pytest.raises(ConfigInvalid) as caught:
        parse_preset("mine", ROUTES.replace(good, bad, 1))
    assert "mine" in render(caught.value, "zh")


def test_all_routes_without_weight_are_refused():
    with pytest.raises(ConfigInvalid):
        parse_preset("mine", ROUTES.replace("0.65", "0").replace("0.35", "0"))


def test_every_signal_has_a_setting_of_its_name():
    assert tuple(WeightSettings.model_fields) == SIGNALS


def test_the_users_numbers_hold_in_every_route():
    preset = effective(load_preset("dual-route"), WeightSettings(recency=0.4))
    assert [route.weights.recency for route in preset.routes] == [0.4, 0.4]
    assert [route.weights.relevance for route in preset.routes] == [0.5, 0.55]
    shares = ShareSettings(lexical=0.0)
    assert effective(load_preset("balanced"), None, shares).fusion.lexical_share == 0.0
    assert effective(load_preset("balanced"), WeightSettings()) == load_preset("balanced")


NOTHING = {f"recall.weights.{signal}": 0.0 for signal in SIGNALS}


@pytest.mark.parametrize("name", preset_names())
def test_settings_that_leave_nothing_to_rank_by_are_refused(name):
    values: dict[str, object] = {"recall.preset": name} | NOTHING
    with pytest.raises(ConfigInvalid) as caught:
        check_together(values)
    assert name in render(caught.value, "zh")
    check_together(values | {"recall.weights.importance": 0.1})


def test_relevance_without_any_share_is_nothing_to_rank_by():
    none: dict[str, object] = {"recall.shares.vector": 0.0, "recall.shares.lexical": 0.0}
    check_together(none)
    with pytest.raises(ConfigInvalid):
        check_together(none | NOTHING | {"recall.weights.relevance": 1.0})


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf")])
def test_a_weight_that_is_no_amount_is_refused(weight):
    given = WeightSettings.model_construct(relevance=weight)
    with pytest.raises(ConfigInvalid):
        effective(load_preset("balanced"), given)
