"""Rough use: random keys and clicks, tiny windows, input methods, pastes."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from engine.bootstrap import Engine
from memory_tui.actions import ACTIONS
from memory_tui.widgets.body_area import BodyArea
from memory_tui.widgets.memory_list import MemoryList
from memory_tui.widgets.search_line import SearchLine
from tests.engine.use_cases.shortcuts import remember, remember_all
from tests.memory_tui.driving import Driver, drive
from tests.memory_tui.stores import fill, open_store

SIZES = [(120, 40), (80, 24), (60, 20), (30, 8), (9, 3), (1, 1)]
OTHER_KEYS = [
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "shift+tab"),
    *("enter", "escape", "j", "k", "h", "l", "G", "你", "好", "[", "/", "]", "a", " ", "backspace"),
]
PRESSES = int(os.environ.get("JIYI_TUI_PRESSES", "150"))
"""``JIYI_TUI_PRESSES=2000`` for the long run."""


@pytest.mark.parametrize("seed", [1])
@pytest.mark.timeout(1_800)
def test_random_keys_and_clicks_crash_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    keys = [key for action in ACTIONS if action.name != "quit" for key in action.keys]
    with open_store(tmp_path / "store") as engine:
        fill(engine, "hostile")
        fill(engine, "many")

        async def use(driver: Driver) -> None:
            for number in range(PRESSES):
                await one_step(driver, chance, keys)
                if number % 50 == 49:
                    await driver.settle()
                assert driver.app.is_running, number

        drive(engine, use, size=(100, 30))


async def one_step(driver: Driver, chance: random.Random, keys: list[str]) -> None:
    """A key, now and then a click or another size."""
    what = chance.random()
    width, height = driver.app.size
    if what < 0.12:
        at = (chance.randrange(max(1, width)), chance.randrange(max(1, height)))
        await driver.pilot.click(offset=at)
    elif what < 0.15:
        await driver.pilot.resize_terminal(*chance.choice(SIZES))
    else:
        await driver.pilot.press(chance.choice(keys if what < 0.6 else OTHER_KEYS))


def test_after_every_size_a_click_hits_the_row_it_is_on(engine: Engine) -> None:
    ids = remember_all(engine, [f"memory number {number}" for number in range(40)])

    async def resize(driver: Driver) -> None:
        for size in [(200, 60), (40, 10), (20, 5), (1, 1), (100, 30)]:
            await driver.pilot.resize_terminal(*size)
            await driver.settle()
            rows = driver.find("#list", MemoryList)
            if rows.size.height > 3 and rows.region.width:
                await driver.press("home")
                x, y = rows.region.offset
                await driver.pilot.click(offset=(x + 1, y + 2))
                await driver.settle()
                assert rows.current == ids[::-1][2], size
                await driver.press("escape")
        assert "memory number 39" in driver.text

    drive(engine, resize)


def test_the_wheel_scrolls_a_thousand_rows(engine: Engine) -> None:
    remember_all(engine, [f"memory number {number}" for number in range(300)])

    async def scroll(driver: Driver) -> None:
        rows = driver.find("#list", MemoryList)
        for _ in range(100):
            rows._on_mouse_scroll_down(_wheel(rows))
        await driver.settle()
        assert rows.scroll_offset.y > 100
        line = rows.render_line(0).text
        assert "memory number" in line

    drive(engine, scroll)


def _wheel(rows: MemoryList) -> events.MouseScrollDown:
    return events.MouseScrollDown(rows, 1, 1, 0, 1, 0, shift=False, meta=False, ctrl=False)


def test_what_an_input_method_commits_arrives_whole_and_in_order(engine: Engine) -> None:
    remember(engine, "something to edit")

    async def write(driver: Driver) -> None:
        await driver.press("slash", *"你好世界", *"用AI写memo")
        line = driver.find("#search", SearchLine)
        assert line.value == "你好世界用AI写memo"
        await driver.press("home", "right", "right", "backspace")
        assert line.value == "你世界用AI写memo"
        assert driver.app.cursor_position.x == line.cursor_screen_offset.x
        await driver.press("escape", "escape", "n", *"写d一q条")
        body = driver.find("#body", BodyArea)
        assert body.text == "写d一q条"
        assert driver.app.cursor_position == body.cursor_screen_offset

    drive(engine, write)


def test_three_lines_and_300_kb_are_pasted_whole(engine: Engine) -> None:
    async def paste(driver: Driver) -> None:
        await driver.press("n")
        driver.app.post_message(events.Paste("第一行\r\n第二行\n第三行"))
        await driver.settle()
        body = driver.find("#body", BodyArea)
        assert body.text.splitlines() == ["第一行", "第二行", "第三行"]
        body.text = ""
        driver.app.post_message(events.Paste("字" * 100_000))
        await driver.settle()
        assert len(body.text) == 100_000 and not body.soft_wrap
        await driver.press("escape", "slash")
        driver.app.post_message(events.Paste("字" * 100_000))
        await driver.settle()
        assert len(driver.find("#search", Input).value) == 100_000

    drive(engine, paste)


def test_a_long_edit_survives_every_way_out(engine: Engine) -> None:
    memory_id = remember(engine, "before")
    text = "\n".join(f"line {number}" for number in range(20))

    async def leave(driver: Driver) -> None:
        await driver.press("e")
        body = driver.find("#body", BodyArea)
        body.insert(text, (0, 0))
        await driver.press("ctrl+z")
        assert body.text == "before"
        await driver.press("ctrl+y")
        assert body.text == text + "before"
        await driver.pilot.resize_terminal(40, 10)
        x, y = driver.find("#list", MemoryList).region.offset
        await driver.pilot.click(offset=(x + 1, y))
        await driver.settle()
        assert body.text == text + "before"
        await driver.press("ctrl+q")

    drive(engine, leave)
    draft = engine.drafts.find(memory_id)
    assert draft is not None and draft.text == text + "before"


def test_a_fault_in_a_handler_keeps_what_was_typed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(driver: Driver) -> None:
        await driver.press("n")
        driver.find("#body", BodyArea).text = "half a thought"

        def broken() -> None:
            raise RuntimeError("a fault")

        driver.app.call_later(broken)
        await driver.pilot.pause(0.2)

    with pytest.raises(RuntimeError, match="a fault"):
        drive(engine, fail)
    draft = engine.drafts.find(None)
    assert draft is not None and draft.text == "half a thought"
