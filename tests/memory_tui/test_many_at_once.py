"""Marked memories: joined, tagged, stopped halfway; what comes with the program; settings."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.use_cases.bulk import BulkDone, BulkRequest
from engine.use_cases.links import NeighbourQuery
from memory_tui.widgets.body_area import BodyArea
from memory_tui.widgets.memory_list import MemoryList
from tests.engine.use_cases.shortcuts import HASHING, remember, remember_all
from tests.memory_tui.driving import Driver, drive


def rows(driver: Driver) -> MemoryList:
    return driver.find("#list", MemoryList)


async def answer(driver: Driver, text: str) -> None:
    driver.find("#prompt", Input).value = text
    await driver.press("enter")


def test_the_sample_is_offered_loaded_and_taken_back(engine: Engine) -> None:
    async def try_it(driver: Driver) -> None:
        await driver.press("i")
        assert engine.statistics().total == 32 and len(rows(driver).ids) == 32
        await driver.press("i")
        assert engine.statistics().total == 32
        await driver.press("u")
        assert len(rows(driver).ids) == 0

    drive(engine, try_it)


def test_marked_memories_are_merged_into_the_one_under_the_cursor(
    engine: Engine, clock: FixedClock
) -> None:
    one, two, stays = (
        remember(engine, text, tags=[tag])
        for text, tag in (("早饭吃面", "a"), ("早餐是面条", "b"), ("每天早上吃面", "c"))
    )

    async def merge(driver: Driver) -> None:
        await driver.press("j", "space", "space", "home", "m")
        assert engine.get(stays).tags == ("c", "b", "a")
        assert {engine.get(other).state(clock.now()) for other in (one, two)} == {"deleted"}
        assert list(rows(driver).ids) == [stays]
        await driver.press("u")
        assert engine.get(stays).tags == ("c",)
        assert {engine.get(other).state(clock.now()) for other in (one, two)} == {"live"}

    drive(engine, merge)


def test_the_one_under_the_cursor_takes_the_place_of_marked_ones(engine: Engine) -> None:
    old, new = remember_all(engine, ["小雨住在北京", "小雨搬到了上海"])

    async def supersede(driver: Driver) -> None:
        await driver.press("j", "space", "home", "s")
        assert engine.get(old).superseded_by == new
        await driver.press("u")
        assert engine.get(old).superseded_by is None

    drive(engine, supersede)


def test_marked_ones_are_linked_and_the_link_is_shown(engine: Engine) -> None:
    other, one = remember_all(engine, ["灯塔计划的预算", "灯塔计划"])

    async def link(driver: Driver) -> None:
        await driver.press("j", "space", "home", "l")
        await answer(driver, "no such relation")
        assert not engine.links.neighbours(NeighbourQuery(one))
        await driver.press("l")
        await answer(driver, "refines")
        (found,) = engine.links.neighbours(NeighbourQuery(one))
        assert (found.memory.id, found.link.relation) == (other, "refines")
        assert "refines #1" in driver.text
        await driver.press("u")
        assert not engine.links.neighbours(NeighbourQuery(one))

    drive(engine, link)


def test_tags_of_all_listed_ones_are_added_and_removed(engine: Engine) -> None:
    ids = remember_all(engine, ["one thing", "another thing"])

    async def tag(driver: Driver) -> None:
        await driver.press("A", "number_sign")
        await answer(driver, "new, other one")
        assert {engine.get(one).tags for one in ids} == {("new", "other one")}
        await driver.press("number_sign")
        await answer(driver, "-new")
        assert sorted(engine.get(one).tags for one in ids) == [("new", "other one"), ("other one",)]

    drive(engine, tag)


def test_long_work_is_stopped_by_escape_and_what_was_done_is_undone_as_one(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = remember_all(engine, [f"memory {number}" for number in range(250)])
    pressed = threading.Event()
    change = engine.bulk.change

    def slowly(request: BulkRequest, caller: Caller, progress: object = None) -> BulkDone:
        def step(done: int, of: int) -> bool:
            assert callable(progress)
            progress(done, of)
            pressed.wait(10)
            return bool(progress(done, of))

        return change(request, caller, step)

    monkeypatch.setattr(engine.bulk, "change", slowly)

    async def stop(driver: Driver) -> None:
        await driver.pilot.press("A", "d")
        await driver.pilot.pause(0.3)
        assert "100/250" in driver.told
        await driver.pilot.press("escape")
        pressed.set()
        await driver.settle()
        assert "100" in driver.told and "250" in driver.told
        assert len(rows(driver).ids) == 150
        await driver.press("u")
        assert len(rows(driver).ids) == len(ids)

    drive(engine, stop)


def test_what_was_searched_for_is_highlighted(engine: Engine) -> None:
    remember(engine, "书房路由器的口令贴在机身底部")

    async def search(driver: Driver) -> None:
        await driver.press("slash")
        driver.find("#search", Input).value = "路由器"
        await driver.settle()
        marked = [
            segment.text
            for segment in rows(driver).render_line(0)
            if segment.style is not None and segment.style.underline
        ]
        assert marked == ["路由器"]

    drive(engine, search)


def test_theme_and_language_are_kept_for_the_next_start(engine: Engine) -> None:
    async def choose(driver: Driver) -> None:
        await driver.press("T", "L")
        settings = engine.context.live.current()
        assert (settings.tui.theme, settings.language) == ("light", "zh")

    drive(engine, choose)

    async def look(driver: Driver) -> None:
        assert driver.app.theme == "jiyi-light"

    drive(engine, look)


def test_a_store_that_can_only_be_read_is_read(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_engine(tmp_path, environ=HASHING, clock=clock) as engine:
        memory_id = remember(engine, "only to be read")
        monkeypatch.setattr(engine.context.database, "writable", False)

        async def look(driver: Driver) -> None:
            assert "read only" in driver.told
            await driver.press("d", "p", "n", "e", "i", "u")
            assert not driver.app.screen.has_class("-editing")
            assert "Delete" not in driver.text and "only to be read" in driver.text

        drive(engine, look)
        assert engine.get(memory_id).deleted_at is None


def test_no_colour_leaves_the_cursor_visible(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    remember_all(engine, ["one", "two"])

    async def look(driver: Driver) -> None:
        style = next(iter(rows(driver).render_line(0))).style
        assert style is not None and style.reverse

    drive(engine, look)


def test_fields_of_a_form_are_kept_with_its_draft(engine: Engine) -> None:
    memory_id = remember(engine, "before")

    async def leave(driver: Driver) -> None:
        await driver.press("e")
        driver.find("#field-tags", Input).value = "half"
        await driver.settle()
        await driver.press("escape", "e")
        assert driver.find("#field-tags", Input).value == "half"
        assert driver.find("#body", BodyArea).text == "before"
        await driver.press("ctrl+s")
        assert engine.get(memory_id).tags == ("half",)
        assert engine.drafts.list() == []

    drive(engine, leave)


def test_a_copy_goes_to_the_clipboard_and_to_a_file(engine: Engine) -> None:
    text = "\n".join(f"\t第 {number} 行 " + "很长" * 200 for number in range(60))
    remember(engine, text)

    async def copy(driver: Driver) -> None:
        await driver.press("y")
        assert driver.app.clipboard == engine.get(1).text
        await driver.press("Y")
        written = (engine.context.home / "copied.txt").read_bytes().decode("utf-8")
        assert written == engine.get(1).text

    drive(engine, copy)
