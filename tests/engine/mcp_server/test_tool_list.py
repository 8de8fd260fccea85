"""What clients see before anything is called: small, flat, stable."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from engine import VERSION
from engine.domain.errors import InvalidInput
from engine.mcp_server import registry
from engine.mcp_server.instructions import instructions_for
from engine.mcp_server.toolset import CORE, TOOLSETS, chosen_tools
from tests.engine.mcp_server.talking import talk

SNAPSHOT = Path(__file__).parent / "snapshots" / "core.json"
TOKEN_LIMIT = 1_800


def tokens(text: str) -> float:
    """An estimate from the safe side."""
    return sum(0.25 if ord(character) < 128 else 1.0 for character in text)


@pytest.fixture(scope="module", params=["auto", "legacy"])
def listed(request, tmp_path_factory):
    with talk(tmp_path_factory.mktemp("home"), mode=request.param) as client:
        return [
            tool.model_dump(by_alias=True, exclude_none=True, mode="json")
            for tool in client.tools()
        ]


def test_the_list_is_as_recorded(listed):
    """Set UPDATE_SNAPSHOTS=1 to record it anew."""
    text = json.dumps(listed, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert text == SNAPSHOT.read_text(encoding="utf-8")


def test_the_list_costs_few_tokens(listed):
    cost = tokens(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))
    print(f"{len(listed)} tools, about {cost:.0f} tokens")
    assert len(listed) <= 8
    assert cost < TOKEN_LIMIT


def test_schemas_are_flat_with_plain_types(listed):
    for tool in listed:
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert len(schema["properties"]) <= 8
        for name, parameter in schema["properties"].items():
            assert parameter["type"] in ("string", "integer", "array"), (tool["name"], name)
            assert not {"anyOf", "oneOf", "allOf", "$ref", "title"} & set(parameter)
            if parameter["type"] == "array":
                assert parameter["items"] == {"type": "string"}
        assert "$defs" not in json.dumps(schema)


def test_every_tool_says_when_to_use_it_and_what_it_does_to_the_store(listed):
    for tool in listed:
        assert re.fullmatch(r"[a-z_]{3,30}", tool["name"])
        assert 0 < len(tool["description"].encode()) <= 1_000
        assert "readOnlyHint" in tool["annotations"]
        assert "outputSchema" not in tool
    readers = {tool["name"] for tool in listed if tool["annotations"]["readOnlyHint"]}
    assert readers == {"recall", "get_memory", "list_memories", "memory_context"}


def test_clients_that_load_on_demand_are_asked_to_load_two_tools_at_once(listed):
    always = {tool["name"] for tool in listed if tool.get("_meta", {}).get("anthropic/alwaysLoad")}
    assert always == {"memorize", "recall"}


NAMES = {tool.name for tools in TOOLSETS.values() for tool in tools}


def named_in(text):
    """Words of a text that are the name of some tool, or look like one."""
    words = set(re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", text))
    return {word for word in words if word in NAMES or re.search(r"_memor(y|ies)$", word)}


@pytest.mark.parametrize("chosen", [*TOOLSETS, "recall", "core,manage", ",".join(TOOLSETS)])
def test_instructions_are_short_and_name_only_tools_that_are_offered(tmp_path, chosen):
    offered = {tool.name for tool in chosen_tools(chosen.split(","))}
    with talk(tmp_path, toolsets=chosen.split(",")) as client:
        told = client.instructions
    assert told == instructions_for(offered)
    assert len(told.split()) <= 150 and len(told.encode()) <= 2_000
    assert named_in(told) - {"recall", "memorize"} <= offered
    if "recall" not in offered:
        assert "call recall" not in told.replace("\n", " ")


def test_instructions_follow_the_toolsets_of_settings_and_environment(tmp_path):
    with talk(tmp_path) as client:
        assert "call memorize" in client.instructions
    with talk(tmp_path, JIYI_TOOLSETS="trail") as client:
        assert "memorize" not in client.instructions
    (tmp_path / "config.yaml").write_text("mcp:\n  toolsets: [links]\n", encoding="utf-8")
    with talk(tmp_path) as client:
        assert "memorize" not in client.instructions


def test_descriptions_name_only_tools_that_exist():
    for tool in (tool for tools in TOOLSETS.values() for tool in tools):
        assert named_in(tool.about) <= NAMES, tool.name


def test_every_tool_of_every_toolset_is_described_flatly_and_briefly():
    for tool in (tool for tools in TOOLSETS.values() for tool in tools):
        properties = tool.schema()["properties"]
        assert isinstance(properties, dict)
        assert len(properties) <= 8 and 0 < len(tool.about.encode()) <= 1_000, tool.name
        for parameter in properties.values():
            assert parameter["type"] in ("string", "integer", "array"), tool.name
            assert not {"anyOf", "oneOf", "allOf", "$ref", "title"} & set(parameter)


def test_what_each_toolset_costs(tmp_path):
    """Prints the table; run with -s."""
    limits = {"core": TOKEN_LIMIT, "manage": 1_500, "admin": 1_900}
    with talk(tmp_path, toolsets=list(TOOLSETS)) as client:
        listed = {
            tool.name: tool.model_dump(by_alias=True, exclude_none=True, mode="json")
            for tool in client.tools()
        }
    costs = {}
    for name, tools in TOOLSETS.items():
        part = [listed[tool.name] for tool in tools]
        costs[name] = tokens(json.dumps(part, ensure_ascii=False, separators=(",", ":")))
        print(f"{name:14} {len(part):3} tools, about {costs[name]:5.0f} tokens")
    told = tokens(instructions_for([tool.name for tool in CORE]))
    print(f"{'all':14} {len(listed):3} tools, about {sum(costs.values()):5.0f} tokens")
    print(f"{'instructions':14} about {told:5.0f} tokens")
    assert all(cost < limits.get(name, 1_200) for name, cost in costs.items())
    assert told < 300


def test_every_listed_tool_can_be_called():
    listed = {tool.name for tools in TOOLSETS.values() for tool in tools}
    assert sorted(registry.names()) == sorted(listed)


def test_the_server_tells_the_version_of_the_product(tmp_path):
    with talk(tmp_path) as client:
        assert client.version == VERSION


def test_toolsets_are_chosen_by_name_of_set_or_tool_in_a_stable_order(tmp_path):
    with talk(tmp_path, toolsets=["recall", "memorize"]) as client:
        assert [tool.name for tool in client.tools()] == ["memorize", "recall"]
        assert "no tool delete_memory" in client.refused("delete_memory", id=1)
    with talk(tmp_path, JIYI_TOOLSETS="get_memory") as client:
        assert [tool.name for tool in client.tools()] == ["get_memory"]


def test_an_unknown_toolset_falls_back_to_the_default(tmp_path):
    with pytest.raises(InvalidInput, match="not_allowed"):
        chosen_tools(["cor"])
    with talk(tmp_path, toolsets=["cor"]) as client:
        assert len(client.tools()) == len(CORE)
