"""The server over HTTP, with a process of its own and the official client."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from engine.mcp_server.toolset import TOOLSETS
from tests.engine.mcp_server.every_tool import steps

ROUTES = ("/mcp", "/health", "/ready", "/anything")


@dataclass
class Running:
    """A server that runs, on its own store."""

    home: Path
    process: subprocess.Popen[str]
    url: str

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> tuple[int, str]:
        """The answer to a request with exactly these headers, and ``Host`` by default."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body=body or None, headers=dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def bearer(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}

    def call(self, *calls: tuple[str, dict[str, object]], mode: str = "auto") -> list[str]:
        """The texts of tool calls of one client."""

        async def converse() -> list[str]:
            async with (
                httpx2.AsyncClient(headers=self.bearer(), timeout=60) as web,
                Client(streamable_http_client(self.url, http_client=web), mode=mode) as client,
            ):
                texts = []
                for name, arguments in calls:
                    result = await client.call_tool(name, arguments)
                    (content,) = result.content
                    assert isinstance(content, TextContent)
                    assert not result.is_error, content.text
                    texts.append(content.text)
                return texts

        return anyio.run(converse)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)
        return self.process.returncode


def start(home: Path, port: int = 0, toolsets: str = "core") -> Running:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("JIYI_")}
    environ |= {"JIYI_HOME": str(home), "JIYI_EMBEDDING__PROVIDER": "hashing"}
    command = [sys.executable, "-m", "launchers.cli", "mcp", "--http", "--port", str(port)]
    command += ["--toolsets", toolsets]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return Running(home, process, process.stdout.readline().strip())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("http") / "home")
    yield running
    assert running.end() == 0


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_memorizes_and_recalls(server: Running, mode: str) -> None:
    stored, found = server.call(
        ("memorize", {"text": f"灯塔 {mode} 在海边"}),
        ("recall", {"query": f"灯塔 {mode}"}),
        mode=mode,
    )
    assert "workspace global" in stored and f"灯塔 {mode} 在海边" in found


def test_every_tool_answers(tmp_path: Path) -> None:
    running = start(tmp_path / "home", toolsets=",".join(TOOLSETS))
    try:
        wanted = list(steps(running.home))
        answers = running.call(*((tool, arguments) for tool, arguments, _ in wanted))
        for (tool, _, expected), answer in zip(wanted, answers, strict=True):
            assert expected in answer, tool
    finally:
        assert running.end() == 0


def test_twenty_clients_at_once_lose_nothing(server: Running) -> None:
    def write(number: int) -> str:
        return server.call(("memorize", {"text": f"client {number} was here"}))[0]

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(write, range(20)))
    assert len({answer.split()[1] for answer in answers}) == 20
    (listed,) = server.call(("list_memories", {"limit": 100, "scope": "all"}))
    assert all(f"client {number} was here" in listed for number in range(20))


def test_a_client_goes_on_after_a_restart(tmp_path: Path) -> None:
    first = start(tmp_path / "home")
    port, body = first.port, json.dumps(_initialize()).encode()
    headers = first.bearer(**_MCP, **{"Mcp-Session-Id": "of-another-life"})
    first.call(("memorize", {"text": "written before the restart"}))
    assert first.end() == 0
    second = start(tmp_path / "home", port)
    try:
        assert second.port == port
        assert "before the restart" in second.call(("list_memories", {}))[0]
        # A session that nobody knows is no obstacle, since none are kept.
        assert second.ask("POST", "/mcp", headers, body)[0] in (200, 404)
    finally:
        assert second.end() == 0


_MCP = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def _initialize() -> dict[str, object]:
    client = {"name": "probe", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "PUT"])
@pytest.mark.parametrize("path", ROUTES)
def test_strangers_get_nothing_on_any_route(server: Running, method: str, path: str) -> None:
    own = f"127.0.0.1:{server.port}"
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert server.ask(method, path, server.bearer(Host=host))[0] in (400, 421)
    for origin in ("http://evil.example", "null", "https://" + own, f"http://{own}.evil.example"):
        assert server.ask(method, path, server.bearer(Origin=origin))[0] == 403
    if path not in ("/health", "/ready"):
        for given in ({}, {"Authorization": "Bearer x"}, {"Authorization": server.token}):
            status, text = server.ask(method, path, given)
            assert status == 401 and server.token not in text


def test_health_and_readiness_are_open_and_say_little(server: Running) -> None:
    status, text = server.ask("GET", "/health")
    assert status == 200 and json.loads(text).keys() == {"status", "count"}
    assert server.ask("GET", "/ready") == (200, '{"store":true,"writable":true}')
    assert server.ask("HEAD", "/health") == (200, "")
    assert server.ask("POST", "/health")[0] == 405


def test_a_store_that_cannot_be_opened_is_not_said_to_be_opening(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "jiyi.db").write_bytes(b"no database at all" * 500)
    running = start(tmp_path / "home")
    try:
        assert json.loads(running.ask("GET", "/health")[1])["status"] == "failing"
        assert running.ask("GET", "/ready")[0] == 503
    finally:
        running.end()


def test_a_request_beyond_the_limit_is_refused_and_the_server_goes_on(server: Running) -> None:
    large = b'{"x": "' + b"a" * (5 * 1024 * 1024) + b'"}'
    try:
        status = server.ask("POST", "/mcp", server.bearer(**_MCP), large)[0]
    except (BrokenPipeError, ConnectionResetError):
        status = 413
    assert status == 413
    for body in (b"", b"{", b"[]", b"\xff"):
        assert 400 <= server.ask("POST", "/mcp", server.bearer(**_MCP), body)[0] < 500
    assert server.ask("GET", "/health")[0] == 200


def test_slow_and_broken_off_requests_keep_nobody(server: Running) -> None:
    held = []
    for _ in range(20):
        one = socket.create_connection(("127.0.0.1", server.port))
        one.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Le" % server.port)
        held.append(one)
    assert server.ask("GET", "/health")[0] == 200
    for one in held:
        one.close()
    assert server.ask("GET", "/ready")[0] == 200


def test_the_token_is_the_owners_alone_and_stays(server: Running, tmp_path: Path) -> None:
    assert (server.home / "token").stat().st_mode & 0o777 == 0o600
    assert len(server.token) >= 40


def test_a_port_that_is_taken_is_said_in_one_sentence(server: Running, tmp_path: Path) -> None:
    environ = dict(os.environ) | {"JIYI_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "launchers.cli", "mcp", "--http", "--port", str(server.port)]
    answer = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 1 and answer.stdout == ""
    assert str(server.port) in answer.stderr and "Traceback" not in answer.stderr
