"""The server as a process: its start, and what it puts on standard output."""

from __future__ import annotations

import json
import signal
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from tests.engine.mcp_server.process import SERVE, ServerProcess, environment

HEAVY = ("engine.bootstrap", "engine.storage", "numpy", "sqlite_utils", "ruamel", "jieba", "rich")
REPORTS_MODULES_AT_FIRST_MESSAGE = """\
import sys
from engine.mcp_server.opening import Store
at_start = Store.open_soon
def report(self):
    loaded = [name for name in {heavy!r} if name in sys.modules]
    print("loaded", loaded, file=sys.stderr, flush=True)
    at_start(self)
Store.open_soon = report
"""
FAILS_AND_PRINTS = """\
import engine.mcp_server.core_tools as core_tools
def broken(call):
    print("stray words")
    raise ZeroDivisionError("secret")
core_tools.RUN["list_memories"] = broken
"""


def test_the_handshake_needs_nothing_of_the_engine(tmp_path):
    code = REPORTS_MODULES_AT_FIRST_MESSAGE.format(heavy=HEAVY) + SERVE
    with ServerProcess(tmp_path, code) as server:
        answer = server.initialize()
        assert answer["serverInfo"]["name"] == "jiyi"  # type: ignore[index]
        server.ask("memorize", text="x")
        assert server.errors.splitlines()[0] == "loaded []"


def test_handshake_and_tool_list_do_not_wait_for_a_store_that_cannot_be_opened(tmp_path):
    (tmp_path / "store").write_text("a file where the folder should be", encoding="utf-8")
    with ServerProcess(tmp_path) as server:
        server.initialize()
        assert len(server.request("tools/list", {})["tools"]) == 7
        result = server.request("tools/call", {"name": "list_memories", "arguments": {}})
        assert result["isError"] and str(tmp_path / "store") in result["content"][0]["text"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM there")
def test_every_line_on_standard_output_is_json_rpc(tmp_path):
    with ServerProcess(tmp_path, FAILS_AND_PRINTS + SERVE) as server:
        server.initialize()
        server.ask("memorize", text="我们在杭州西湖边讨论了分词")
        assert "西湖" in server.ask("recall", query="杭州讨论了什么")
        failed = server.request("tools/call", {"name": "list_memories", "arguments": {}})
        assert failed["isError"]
        server.send({"no": "message"})
        server.process.stdin.write(b"not json at all\n\xff\xfe\n\n")  # type: ignore[union-attr]
        server.ask("recall", query="分词")
        server.process.send_signal(signal.SIGTERM)
        assert server.exit_code(within_s=6) == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)
        assert "Traceback" not in server.errors and "secret" not in server.errors


def test_half_an_emoji_in_a_message_gets_its_answer(tmp_path):
    with ServerProcess(tmp_path) as server:
        server.initialize()
        assert "Stored #1" in server.ask("memorize", text="\ud83d 截断的表情", tags=["\ude00"])
        assert "Stored #2" in server.ask("memorize", text="整个 \U0001f600 和 \\ud83d 的写法")
        assert "\ufffd 截断的表情" in server.ask("recall", query="截断 \ud83d")
        assert "\U0001f600 和 \\ud83d 的写法" in server.ask("get_memory", id=2)
        wrong = server.request("tools/call", {"name": "\ud83d", "arguments": {"\ude00": 1}})
        assert wrong["isError"]


def test_the_last_answer_is_sent_when_input_ends_right_after_the_request(tmp_path):
    with ServerProcess(tmp_path) as server:
        server.initialize()
        number = server.begin(
            "tools/call", {"name": "memorize", "arguments": {"text": "last words"}}
        )
        server.close_input()
        assert server.exit_code(within_s=6) == 0
        assert number in [json.loads(line).get("id") for line in server.lines]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_works_over_stdio(tmp_path, mode):
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", SERVE],
        env=environment(tmp_path),
        cwd=tmp_path,
    )

    async def converse() -> str:
        async with Client(parameters, mode=mode) as client:
            await client.call_tool("memorize", {"text": "周五交报告", "importance": "9"})
            result = await client.call_tool("recall", {"query": "报告什么时候交"})
            content = result.content[0]
            assert isinstance(content, TextContent)
            return content.text

    assert "│ 周五交报告" in anyio.run(converse)


def test_no_file_is_made_in_the_current_folder(tmp_path):
    with ServerProcess(tmp_path) as server:
        server.initialize()
        server.ask("memorize", text="x")
        made = {path.name for path in tmp_path.iterdir() if not path.name.startswith("stderr")}
        assert made <= {"store"}
        assert (tmp_path / "store" / "jiyi.db").exists()
