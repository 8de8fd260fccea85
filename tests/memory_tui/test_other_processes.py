"""An assistant's server in its own process writes, edits and deletes while the browser is open;
signals end the browser in an orderly way."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from engine.bootstrap import open_engine
from memory_tui.widgets.body_area import BodyArea
from memory_tui.widgets.memory_list import MemoryList
from tests.engine.use_cases.shortcuts import HASHING, remember, remember_all
from tests.memory_tui.driving import Driver, drive

ROOT = Path(__file__).parents[2]


def server(home: Path) -> StdioServerParameters:
    environ = {**os.environ, **HASHING, "JIYI_HOME": str(home)}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "launchers.cli", "mcp"], env=environ, cwd=str(ROOT)
    )


@pytest.mark.slow
def test_what_an_assistant_does_appears_without_a_key_and_an_edit_is_kept(tmp_path: Path) -> None:
    with open_engine(tmp_path, environ=HASHING) as engine:
        ids = remember_all(engine, ["我喜欢绿茶", "会议在周三", "钥匙在抽屉里"])

        async def watch(driver: Driver) -> None:
            rows = driver.find("#list", MemoryList)
            await driver.press("j")
            async with Client(server(tmp_path)) as assistant:
                await assistant.call_tool("memorize", {"text": "助手写下的一句话"})
                await seen(driver, lambda: len(rows.ids) == 4 and "助手写下" in driver.text)
                assert rows.current == ids[1]
                await assistant.call_tool("delete_memory", {"id": f"#{ids[2]}"})
                await seen(driver, lambda: ids[2] not in rows.ids)
                assert rows.current == ids[1]
                await driver.press("e")
                driver.find("#body", BodyArea).text = "会议在周三，我来主持"
                fields = {"id": f"#{ids[1]}", "text": "会议改到周四"}
                await assistant.call_tool("edit_memory", fields)
                await seen(driver, lambda: "changed this memory meanwhile" in driver.text)
            assert driver.find("#body", BodyArea).text == "会议在周三，我来主持"
            await driver.press("ctrl+s")
            assert "会议改到周四" in driver.text and "我来主持" in driver.text
            assert engine.get(ids[1]).text == "会议改到周四"
            await driver.press("m")
            assert engine.get(ids[1]).text == "会议在周三，我来主持"

        drive(engine, watch)


async def seen(driver: Driver, holds: object) -> None:
    """Wait without a key until something is so."""
    assert callable(holds)
    for _ in range(100):
        if holds():
            return
        await driver.pilot.pause(0.1)
    raise AssertionError(driver.text)


# ---- a real terminal


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with open_engine(tmp_path, environ=HASHING) as engine:
        remember(engine, "something")
    yield tmp_path


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["term", "hup"])
def test_a_killed_browser_leaves_the_terminal_clean_and_keeps_the_draft(
    home: Path, number: signal.Signals
) -> None:
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.environ.update({**HASHING, "JIYI_HOME": str(home), "TERM": "xterm-256color"})
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "launchers.cli", "--lang", "en", "tui"])
    shown = read_until(terminal, b"something")
    # A mouse report in the old style, from beyond column 95, is no text and ends nothing.
    os.write(terminal, b"\x1b[M \xff\xff")
    # What comes in one piece with it is lost with it.
    time.sleep(0.5)
    os.write(terminal, b"n")
    shown += read_until(terminal, b"New memory")
    os.write(terminal, b"half a thought")
    shown += read_until(terminal, b"thought", timeout_s=5)
    os.kill(child, number)
    shown += read_until(terminal, b"never seen", timeout_s=10)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 128 + number
    for mode in (b"1000", b"1003", b"1006", b"1049", b"2004"):
        last = re.findall(rb"\x1b\[\?" + mode + rb"([hl])", shown)
        assert last == [] or last[-1] == b"l", mode
    with open_engine(home, environ=HASHING) as engine:
        draft = engine.drafts.find(None)
        assert draft is not None and "half a thought" in draft.text


def read_until(terminal: int, wanted: bytes, *, timeout_s: float = 40) -> bytes:
    """What the terminal was sent, until something was, or it was closed."""
    shown, end = b"", time.monotonic() + timeout_s
    while wanted not in shown and time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if not ready:
            continue
        try:
            part = os.read(terminal, 65_536)
        except OSError:
            break
        if not part:
            break
        shown += part
    return shown
