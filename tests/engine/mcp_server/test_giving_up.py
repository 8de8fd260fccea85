"""A client that gives a call up: the work ends and nothing half done is left."""

from __future__ import annotations

import threading

import anyio

from engine.interface.links import Links
from tests.engine.mcp_server.talking import talk


def test_work_that_nobody_waits_for_ends_at_its_next_step(tmp_path, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def endless(self, query, on_progress):
        begun.set()
        try:
            for step in range(2_000):
                on_progress(step, 2_000)
                threading.Event().wait(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(Links, "conflicts", endless)

    async def give_up(client):
        with anyio.move_on_after(10) as waiting:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "find_conflicts", {})
                while not begun.is_set():
                    await anyio.sleep(0.02)
                group.cancel_scope.cancel()
        assert not waiting.cancelled_caught

    with talk(tmp_path, toolsets=["core", "links"]) as one:
        one.ask("memorize", text="the lighthouse is by the sea")
        one.run(give_up)
        assert ended.wait(5)
        assert "lighthouse" in one.ask("recall", query="lighthouse")
