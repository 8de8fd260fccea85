from __future__ import annotations

from engine.config.environment import read_environment, source_variable
from engine.config.messages import render


def test_variables_set_values_of_their_type():
    layer = read_environment(
        {
            "JIYI_RECALL__K": "7",
            "JIYI_LANGUAGE": "en",
            "JIYI_RECALL__WEIGHTS__RECENCY": "0.1",
            "JIYI_RECALL__WEIGHTS__SALIENCE": "null",
            "JIYI_TEXT__ENABLED": "false",
            "JIYI_HOME": "/somewhere",
            "PATH": "/bin",
        }
    )
    assert layer.problem is None
    assert layer.warnings == ()
    assert layer.values == {
        "recall.k": 7,
        "language": "en",
        "recall.weights.recency": 0.1,
        "recall.weights.salience": None,
        "text.enabled": False,
    }


def test_an_empty_variable_counts_as_not_set():
    assert read_environment({"JIYI_RECALL__K": " "}).values == {}


def test_a_bad_value_is_named_with_variable_and_range_and_the_others_hold():
    layer = read_environment({"JIYI_RECALL__K": "500", "JIYI_RECALL__POOL": "50"})
    assert layer.values == {"recall.pool": 50}
    assert layer.problem is not None
    sentence = render(layer.problem, "en")
    assert "JIYI_RECALL__K" in sentence
    assert "500" in sentence
    assert "1-100" in sentence


def test_an_unknown_variable_is_reported_with_the_nearest():
    (warning,) = read_environment({"JIYI_RECALL__KK": "5"}).warnings
    assert "JIYI_RECALL__K?" in render(warning, "en")


def test_the_short_name_of_toolsets_gives_way_to_the_long_one():
    short = {"JIYI_TOOLSETS": "core,manage"}
    both = short | {"JIYI_MCP__TOOLSETS": "core"}
    assert read_environment(short).values == {"mcp.toolsets": ("core", "manage")}
    assert read_environment(both).values == {"mcp.toolsets": ("core",)}
    assert source_variable("mcp.toolsets", short) == "JIYI_TOOLSETS"
    assert source_variable("mcp.toolsets", both) == "JIYI_MCP__TOOLSETS"
