"""Starting: imports, the MCP handshake against a bare server of the SDK, the first answer."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import psutil
from mcp import Client, StdioServerParameters

_BARE = "from mcp.server import MCPServer; MCPServer('bare').run()"
_RUNS = 5


def measure(home: Path) -> dict[str, float]:
    """Seconds and megabytes of starting a server on the store in ``home``."""
    ours = [sys.executable, "-m", "launchers.cli", "mcp", "--home", str(home)]
    bare = [sys.executable, "-c", _BARE]
    pairs = [(_handshake_s(bare, home), _handshake_s(ours, home)) for _ in range(_RUNS)]
    figures = {
        "import_engine_s": _import_s("engine.bootstrap"),
        "import_cli_s": _import_s("launchers.cli.main"),
        "initialize_bare_s": statistics.median(pair[0] for pair in pairs),
        "initialize_s": statistics.median(pair[1] for pair in pairs),
        "initialize_beyond_bare_s": statistics.median(pair[1] - pair[0] for pair in pairs),
    }
    return figures | asyncio.run(_first_answer(ours, home))


def _import_s(module: str) -> float:
    times = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _parameters(command: list[str], home: Path) -> StdioServerParameters:
    environment = {**os.environ, "JIYI_HOME": str(home)}
    return StdioServerParameters(command=command[0], args=command[1:], env=environment)


def _handshake_s(command: list[str], home: Path) -> float:
    async def connect() -> float:
        started = time.perf_counter()
        async with Client(_parameters(command, home), mode="legacy"):
            return time.perf_counter() - started

    return asyncio.run(connect())


async def _first_answer(command: list[str], home: Path) -> dict[str, float]:
    started = time.perf_counter()
    async with Client(_parameters(command, home)) as client:
        await client.call_tool("recall", {"query": "登山鞋 camera"})
        first_s = time.perf_counter() - started
        warm = [await _call_ms(client) for _ in range(50)]
        children = psutil.Process().children(recursive=True)
        rss_mb = max(child.memory_info().rss for child in children) / 1e6
    return {
        "first_answer_s": first_s,
        "warm_answer_ms_p50": statistics.median(warm),
        "server_rss_mb": rss_mb,
    }


async def _call_ms(client: Client) -> float:
    started = time.perf_counter()
    await client.call_tool("recall", {"query": "登山鞋 camera"})
    return (time.perf_counter() - started) * 1000
