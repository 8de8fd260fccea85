"""A server as its own process, spoken to line by line."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import psutil

ROOT = Path(__file__).parents[3]
SERVE = """\
import os, sys
from engine.mcp_server.server import serve_stdio
sys.exit(serve_stdio(None, os.environ, None))
"""


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a server process sees."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return (
        kept
        | {
            "HOME": str(home),
            "USERPROFILE": str(home),
            "JIYI_HOME": str(home / "store"),
            "JIYI_EMBEDDING__PROVIDER": "hashing",
            "LANG": "en_US.UTF-8",
            "PYTHONPATH": str(ROOT),
        }
        | more
    )


class ServerProcess:
    """A running server; every line it prints must be a message of the protocol."""

    def __init__(self, home: Path, code: str = SERVE, **environ: str) -> None:
        self._errors = (home / f"stderr-{time.monotonic_ns()}.txt").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=home,
            env=environment(home, **environ),
        )
        self.lines: list[bytes] = []
        self._messages: queue.Queue[bytes] = queue.Queue()
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self._errors.close()

    def initialize(self, client: str = "notebook") -> dict[str, object]:
        """Shake hands as clients of 2025 do."""
        answer = self.request(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": client, "version": "1"},
            },
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def ask(self, tool: str, **arguments: object) -> str:
        """The text of a successful call."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        assert not result.get("isError"), text
        return str(text)

    def request(self, method: str, params: Mapping[str, object], wait_s: float = 30.0) -> dict:
        """The result of a request."""
        number = self.begin(method, params)
        deadline = time.monotonic() + wait_s
        while True:
            message = json.loads(self._messages.get(timeout=deadline - time.monotonic()))
            if message.get("id") == number:
                assert "result" in message, message
                return dict(message["result"])

    def begin(self, method: str, params: Mapping[str, object]) -> int:
        """Send a request and do not wait."""
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(request)
        return self._number

    def send(self, message: Mapping[str, object]) -> None:
        """Send one message; half surrogates go out as JSON escapes."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
        self.process.stdin.flush()

    def close_input(self) -> None:
        """The client is done."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def exit_code(self, within_s: float) -> int:
        """The code it ends with, by itself, in time, after all it printed was read."""
        code = self.process.wait(timeout=within_s)
        self._reader.join()
        return code

    @property
    def errors(self) -> str:
        """What it wrote to standard error."""
        self._errors.flush()
        return Path(self._errors.name).read_text(encoding="utf-8", errors="replace")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._messages.put(line)


def is_running(pid: int) -> bool:
    """True unless the process is gone, or dead and only not yet collected."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
