"""The memories place: every action by its key, with what the store holds afterwards."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.use_cases.drafts import Draft
from engine.use_cases.edit import EditRequest
from memory_tui.widgets.body_area import BodyArea
from memory_tui.widgets.memory_list import MemoryList
from memory_tui.widgets.search_line import SearchLine
from tests.engine.use_cases.shortcuts import remember, remember_all
from tests.memory_tui.driving import Driver, drive

ASSISTANT = Caller("mcp:assistant")


def rows(driver: Driver) -> MemoryList:
    return driver.find("#list", MemoryList)


def test_an_empty_store_says_how_to_begin(engine: Engine) -> None:
    async def look(driver: Driver) -> None:
        assert "Nothing is remembered yet" in driver.text
        assert "load the sample" in driver.text

    drive(engine, look)


def test_search_finds_while_one_types(engine: Engine) -> None:
    ids = remember_all(engine, ["书房路由器的口令贴在机身底部", "周五烤面包", "去海边散步"])

    async def search(driver: Driver) -> None:
        await driver.press("slash")
        driver.find("#search", SearchLine).insert_text_at_cursor("路由器")
        await driver.settle()
        assert rows(driver).ids[0] == ids[0]
        assert "机身底部" in driver.text
        await driver.press("enter", "escape")
        assert len(rows(driver).ids) == 3

    drive(engine, search)


def test_letters_are_no_shortcuts_while_one_types(engine: Engine) -> None:
    memory_id = remember(engine, "a memory that stays")

    async def type_letters(driver: Driver) -> None:
        await driver.press("slash", "d", "a", "p", "q", "1")
        assert driver.find("#search", SearchLine).value == "dapq1"
        memory = engine.get(memory_id)
        assert memory.deleted_at is None and memory.archived_at is None and not memory.pinned

    drive(engine, type_letters)


@pytest.mark.parametrize(
    ("key", "state"),
    [("d", "deleted"), ("a", "archived"), ("p", "live")],
    ids=["delete", "archive", "pin"],
)
def test_a_key_changes_all_marked_memories_as_one(
    engine: Engine, clock: FixedClock, key: str, state: str
) -> None:
    ids = remember_all(engine, [f"memory number {number}" for number in range(4)])

    async def change(driver: Driver) -> None:
        await driver.press("space", "space", key)
        changed = [engine.get(memory_id) for memory_id in ids[2:]]
        assert {memory.state(clock.now()) for memory in changed} == {state}
        assert [memory.pinned for memory in changed] == [key == "p"] * 2
        untouched = [engine.get(memory_id) for memory_id in ids[:2]]
        assert all(m.state(clock.now()) == "live" and not m.pinned for m in untouched)
        groups = {engine.history(memory.id)[-1].group_uid for memory in changed}
        assert len(groups) == 1
        assert len(rows(driver).marks) == 0

    drive(engine, change)


def test_an_edit_is_saved_with_the_fields_that_changed_alone(engine: Engine) -> None:
    memory_id = remember(engine, "小雨在甲公司上班", tags=["工作"], importance=0.7)

    async def edit(driver: Driver) -> None:
        await driver.press("e")
        driver.find("#body", BodyArea).text = "小雨在乙公司上班"
        driver.find("#field-tags", Input).value = "工作, 公司"
        await driver.settle()
        await driver.press("ctrl+s")
        memory = engine.get(memory_id)
        assert (memory.text, memory.tags) == ("小雨在乙公司上班", ("工作", "公司"))
        entry = engine.history(memory_id)[-1]
        assert set(entry.changes) == {"text", "tags"} and entry.actor == "tui"
        assert engine.drafts.find(memory_id) is None
        assert rows(driver).has_focus

    drive(engine, edit)


def test_a_field_that_cannot_be_read_is_named_and_nothing_is_saved(engine: Engine) -> None:
    memory_id = remember(engine, "something")

    async def edit(driver: Driver) -> None:
        await driver.press("e")
        driver.find("#field-importance", Input).value = "very"
        await driver.settle()
        assert driver.find("#field-importance", Input).has_class("-wrong")
        await driver.press("ctrl+s")
        assert "importance" in driver.text
        assert engine.get(memory_id).revision == 1
        assert driver.find("#body", BodyArea).display

    drive(engine, edit)


def test_what_is_typed_is_kept_as_a_draft_and_comes_back(engine: Engine) -> None:
    memory_id = remember(engine, "before")

    async def leave(driver: Driver) -> None:
        await driver.press("e")
        driver.find("#body", BodyArea).text = "half a sentence"
        await driver.press("escape")
        assert engine.get(memory_id).text == "before"
        assert engine.drafts.find(memory_id) == Draft("half a sentence", memory_id, 1)
        await driver.press("e")
        assert driver.find("#body", BodyArea).text == "half a sentence"

    drive(engine, leave)


@pytest.mark.parametrize("choice", ["m", "t", "e"], ids=["mine", "theirs", "go-on"])
def test_an_edit_that_somebody_overtook_offers_both_versions(engine: Engine, choice: str) -> None:
    memory_id = remember(engine, "the first text")

    async def edit(driver: Driver) -> None:
        await driver.press("e")
        driver.find("#body", BodyArea).text = "my text"
        engine.edit(EditRequest(memory_id, {"text": "their text"}), ASSISTANT)
        await driver.press("ctrl+s")
        assert "my text" in driver.text and "their text" in driver.text
        assert engine.get(memory_id).text == "their text"
        await driver.press(choice)
        kept = {"m": "my text"}.get(choice, "their text")
        assert engine.get(memory_id).text == kept
        if choice == "e":
            assert driver.find("#body", BodyArea).text == "my text"
            await driver.press("ctrl+s")
            assert engine.get(memory_id).text == "my text"

    drive(engine, edit)


def test_an_edit_of_what_was_deleted_meanwhile_can_be_kept_as_new(engine: Engine) -> None:
    memory_id = remember(engine, "the first text")

    async def edit(driver: Driver) -> None:
        await driver.press("e")
        driver.find("#body", BodyArea).text = "my text"
        engine.delete(memory_id, ASSISTANT)
        await driver.press("ctrl+s")
        await driver.press("m")
        newest = engine.list().memories[0]
        assert newest.text == "my text" and newest.id != memory_id

    drive(engine, edit)


def test_a_new_memory_is_written_and_shown(engine: Engine) -> None:
    async def write(driver: Driver) -> None:
        await driver.press("n")
        driver.find("#body", BodyArea).text = "第一行\n第二行"
        await driver.settle()
        await driver.press("ctrl+s")
        (memory,) = engine.list().memories
        assert memory.text == "第一行\n第二行"
        assert rows(driver).current == memory.id

    drive(engine, write)


def test_what_an_assistant_does_appears_and_the_cursor_stays(engine: Engine) -> None:
    ids = remember_all(engine, ["one", "two", "three"])

    async def watch(driver: Driver) -> None:
        await driver.press("j")
        assert rows(driver).current == ids[1]
        written = remember(engine, "written by somebody else")
        engine.delete(ids[2], ASSISTANT)
        driver.app.look_now()
        await driver.settle()
        assert list(rows(driver).ids) == [written, ids[1], ids[0]]
        assert rows(driver).current == ids[1]
        assert "written by somebody else" in driver.text

    drive(engine, watch)


def test_a_paste_of_several_lines_into_the_search_joins_them(engine: Engine) -> None:
    from textual import events

    async def paste(driver: Driver) -> None:
        await driver.press("slash")
        line = driver.find("#search", SearchLine)
        driver.app.post_message(events.Paste("第一行\r\n第二行\n第三行"))
        await driver.settle()
        assert line.value == "第一行 第二行 第三行"

    drive(engine, paste)


def test_a_huge_paste_into_the_editor_is_kept_whole(engine: Engine) -> None:
    from textual import events

    text = "很长的一行 with words\n" * 15_000

    async def paste(driver: Driver) -> None:
        await driver.press("n")
        area = driver.find("#body", BodyArea)
        driver.app.post_message(events.Paste(text))
        await driver.settle()
        assert area.text == text
        await driver.press("ctrl+s")
        assert engine.list().memories[0].text == text

    drive(engine, paste)


HOSTILE = [
    "[/]",
    "[/旧路径] [red]红[/]",
    "[0] 第一条",
    "[link=x]y",
    "ZLEXCOUNT z [b + 的返回",
    '数组 [1, "3"]',
    "\x1b]2;taken over\x07 after",
    "left \u202e right",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_shown_letter_by_letter_and_never_obeyed(engine: Engine, text: str) -> None:
    remember(engine, text, tags=[text.replace("\x1b", "").replace("\x07", "")])

    async def look(driver: Driver) -> None:
        await driver.press("f", "down", "e")
        shown = driver.text
        assert "\x1b" not in shown and "\u202e" not in shown and "\x07" not in shown
        await driver.press("escape", "g", "1")
        visible = text.replace("\x1b", "␛").replace("\x07", "␇").replace("\u202e", "↔")
        assert visible.split(" ")[0] in driver.text

    drive(engine, look, size=(140, 30))


def test_columns_stay_straight_whatever_the_width_of_characters(engine: Engine) -> None:
    texts = ["abc", "中文字", "全角ＡＢＣ", "①☆", "👍👍", "𠮷野家"]
    remember_all(engine, texts)

    async def look(driver: Driver) -> None:
        from rich.cells import cell_len

        listed = rows(driver)
        widths = {cell_len(listed.render_line(row).text) for row in range(len(texts))}
        assert widths == {listed.scrollable_content_region.width}

    for width in (80, 120):
        drive(engine, look, size=(width, 20))
