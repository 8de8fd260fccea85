"""Who works on the store in a soak: a server's client, the command line, maintenance."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parents[2]
WORDS = ("早上", "会议", "meeting", "项目", "project", "报告", "喝茶", "deadline", "周末", "travel")
_ID = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class Post:
    """Where a role shows the process that may be killed, and hears that it is to stop."""

    pid: Any
    stopped: Any

    def stop(self) -> None:
        """Tell the role to stop."""
        self.stopped.value = 1


@dataclass(frozen=True, slots=True)
class Task:
    """What each role has to do: ``each`` writes, edits and recalls, for at least ``seconds``."""

    home: str
    each: int
    seconds: float
    provider: str

    @property
    def environ(self) -> dict[str, str]:
        """The settings of every process."""
        return {"JIYI_HOME": self.home, "JIYI_EMBEDDING__PROVIDER": self.provider}


@dataclass(slots=True)
class Log:
    """What a role did. ``texts`` holds for each memory the text acknowledged last and, after a
    death in the middle of an edit, the one that may be there as well."""

    texts: dict[int, list[str]] = field(default_factory=dict)
    write_s: list[float] = field(default_factory=list)
    recall_s: list[float] = field(default_factory=list)
    deaths: int = 0
    faults: list[str] = field(default_factory=list)


class Died(Exception):
    """The process was killed before it answered."""


class Hands(Protocol):
    """A way to the store. Each method raises :class:`Died` when it got no answer. ``ready``
    starts what must be started, so that it does not count as part of a write."""

    def ready(self) -> None: ...

    def remember(self, text: str) -> int: ...

    def edit(self, memory_id: int, text: str) -> None: ...

    def recall(self, query: str) -> list[int]: ...


def work(name: str, hands: Hands, task: Task) -> Log:
    """Write, edit and recall until the share is done and the time is over."""
    log, dice = Log(), random.Random(name)
    deadline, turn = time.monotonic() + task.seconds, 0
    while turn < task.each or (time.monotonic() < deadline and name != "command"):
        words = " ".join(dice.sample(WORDS, 4))
        try:
            _turn(hands, log, f"{name} 第 {turn} 条 {words}", f"{name}x{turn}", dice)
        except Died:
            log.deaths += 1
        turn += 1
    return log


def _turn(hands: Hands, log: Log, text: str, marker: str, dice: random.Random) -> None:
    hands.ready()
    started = time.perf_counter()
    memory_id = hands.remember(f"{text} mk{marker}")
    log.write_s.append(time.perf_counter() - started)
    log.texts[memory_id] = [f"{text} mk{marker}"]
    chosen = dice.choice(list(log.texts))
    changed = f"{text} 改过 ed{marker}"
    acknowledged = log.texts[chosen]
    log.texts[chosen] = [*acknowledged, changed]
    started = time.perf_counter()
    hands.edit(chosen, changed)
    log.write_s.append(time.perf_counter() - started)
    log.texts[chosen] = [changed]
    started = time.perf_counter()
    if chosen not in hands.recall(f"ed{marker}"):
        log.faults.append(f"#{chosen} was not found by ed{marker} right after its edit")
    log.recall_s.append(time.perf_counter() - started)


class ServerHands:
    """An MCP server of one's own, started again whenever it died."""

    def __init__(self, post: Post, task: Task, loop: asyncio.AbstractEventLoop) -> None:
        self._post, self._task, self._loop = post, task, loop
        self._client: Any = None

    def ready(self) -> None:
        if self._client is None:
            self._call("list_memories", {"limit": 1})

    def remember(self, text: str) -> int:
        return int(_ID.findall(self._call("memorize", {"text": text}))[0])

    def edit(self, memory_id: int, text: str) -> None:
        self._call("edit_memory", {"id": f"#{memory_id}", "text": text})

    def recall(self, query: str) -> list[int]:
        return [int(found) for found in _ID.findall(self._call("recall", {"query": query}))]

    def close(self) -> None:
        self._loop.run_until_complete(self._end())

    def _call(self, tool: str, arguments: dict[str, object]) -> str:
        return self._loop.run_until_complete(self._answered(tool, arguments))

    async def _answered(self, tool: str, arguments: dict[str, object]) -> str:
        try:
            if self._client is None:
                await self._start()
            result = await asyncio.wait_for(self._client.call_tool(tool, arguments), 60)
        # Whatever a client raises when its server is gone, the call was not acknowledged.
        except Exception as error:
            await self._end()
            raise Died(str(error)) from error
        text = "".join(content.text for content in result.content)
        assert not result.is_error, text
        return text

    async def _start(self) -> None:
        from mcp import Client, StdioServerParameters

        before = _children()
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "launchers.cli", "mcp"],
            env={**os.environ, **self._task.environ, "JIYI_LOG__LEVEL": "error"},
            cwd=str(ROOT),
        )
        client = Client(parameters)
        await client.__aenter__()
        self._client = client
        (self._post.pid.value,) = _children() - before

    async def _end(self) -> None:
        self._post.pid.value = 0
        client, self._client = self._client, None
        if client is not None:
            try:
                await client.__aexit__(None, None, None)
            # A client may complain that its server is gone; that is why it is closed.
            except Exception:
                return


class CommandHands:
    """One command after the other, each a process."""

    def __init__(self, post: Post, task: Task) -> None:
        self._post, self._task = post, task

    def ready(self) -> None:
        """Each command starts anew; its start counts."""

    def remember(self, text: str) -> int:
        return int(self._run("remember", text)["id"])

    def edit(self, memory_id: int, text: str) -> None:
        self._run("edit", f"#{memory_id}", "--text", text)

    def recall(self, query: str) -> list[int]:
        return [int(hit["id"]) for hit in self._run("recall", query)["results"]]

    def _run(self, *arguments: str) -> Any:
        process = subprocess.Popen(
            [sys.executable, "-m", "launchers.cli", *arguments, "--json"], cwd=ROOT,
            env={**os.environ, **self._task.environ}, text=True, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._post.pid.value = process.pid
        output, complaint = process.communicate()
        self._post.pid.value = 0
        if process.returncode < 0:
            raise Died
        assert process.returncode == 0, complaint
        return json.loads(output)


def serve(name: str, post: Post, task: Task) -> Log:
    """Work through an MCP server."""
    loop = asyncio.new_event_loop()
    hands = ServerHands(post, task, loop)
    try:
        return work(name, hands, task)
    finally:
        hands.close()
        loop.close()


def command(name: str, post: Post, task: Task) -> Log:
    """Work through the command line."""
    return work(name, CommandHands(post, task), task)


def upkeep(name: str, post: Post, task: Task) -> Log:
    """Maintenance ticks until told to stop."""
    hands, log = CommandHands(post, task), Log()
    while not post.stopped.value:
        try:
            hands._run("maintenance", "tick")
        except Died:
            log.deaths += 1
    return log


ROLES: dict[str, Callable[[str, Post, Task], Log]] = {
    "server": serve,
    "command": command,
    "upkeep": upkeep,
}


def _children() -> set[int]:
    """Processes that this one started."""
    own = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return {int(pid) for pid in own.read_text(encoding="utf-8").split()}
