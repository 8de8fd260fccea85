"""The official client calls every tool of every toolset, in process and over stdio."""

from __future__ import annotations

import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from engine.mcp_server.toolset import TOOLSETS
from tests.engine.mcp_server.every_tool import json_of, steps
from tests.engine.mcp_server.process import SERVE, environment
from tests.engine.mcp_server.talking import talk

ALL = {tool.name: tool for tools in TOOLSETS.values() for tool in tools}
LIMIT = 9_000


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_answers_within_the_budget(tmp_path, mode):
    called = set()
    with talk(tmp_path, toolsets=list(TOOLSETS), mode=mode) as client:
        assert [tool.name for tool in client.tools()] == list(ALL)
        for tool, arguments, expected in steps(tmp_path):
            answer = client.ask(tool, **arguments)
            assert expected in answer, tool
            assert 0 < len(answer.encode()) <= LIMIT, tool
            called.add(tool)
    assert set(ALL) - called == {"evaluate_recall"}


def test_tools_with_a_form_answer_one_object_of_json_within_the_budget(tmp_path):
    with talk(tmp_path, toolsets=list(TOOLSETS)) as client:
        for tool, arguments, _ in steps(tmp_path):
            takes_form = any(parameter.name == "format" for parameter in ALL[tool].parameters)
            answer = client.ask(tool, **arguments, **({"format": "json"} if takes_form else {}))
            assert len(answer.encode()) <= LIMIT, tool
            if takes_form:
                json_of(answer)


def test_every_tool_explains_an_unknown_argument_in_one_sentence(tmp_path):
    with talk(tmp_path, toolsets=list(TOOLSETS)) as client:
        for name, tool in ALL.items():
            refused = client.refused(name, nonsense=1)
            assert name in refused and "nonsense" in refused
            for parameter in tool.parameters:
                near = client.refused(name, **{parameter.name + "x": 1})
                assert parameter.name in near


def test_every_tool_answers_over_stdio(tmp_path):
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", SERVE],
        env=environment(
            tmp_path, JIYI_TOOLSETS=",".join(TOOLSETS), CLAUDE_PROJECT_DIR=str(tmp_path)
        ),
        cwd=tmp_path,
    )

    async def converse() -> list[tuple[str, str, str]]:
        answers = []
        async with Client(parameters) as client:
            for tool, arguments, expected in steps(tmp_path):
                result = await client.call_tool(tool, arguments)
                (content,) = result.content
                assert isinstance(content, TextContent)
                assert not result.is_error, content.text
                answers.append((tool, content.text, expected))
        return answers

    for tool, answer, expected in anyio.run(converse):
        assert expected in answer, tool
