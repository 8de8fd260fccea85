"""Graph, atoms, timeline, lab and health: their actions, with what the store holds afterwards."""

from __future__ import annotations

import pytest
from textual.widgets import Input, Static

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.fact import FactRequest
from engine.use_cases.edit import EditRequest
from memory_tui.actions import ACTIONS, PLACES, actions_in
from memory_tui.widgets.atom_list import AtomList
from memory_tui.widgets.body_area import BodyArea
from memory_tui.widgets.entry_list import EntryList
from memory_tui.widgets.graph_canvas import GraphCanvas
from memory_tui.widgets.memory_list import MemoryList
from memory_tui.widgets.pair_list import PairList
from memory_tui.widgets.ranking import Ranking
from memory_tui.widgets.search_line import SearchLine
from tests.engine.use_cases.shortcuts import remember, remember_all
from tests.memory_tui.driving import Driver, drive

ME = Caller("tui")
WIDE = (130, 36)


async def ask(driver: Driver, query: str) -> None:
    await driver.press("slash")
    driver.find("#search", SearchLine).value = query
    await driver.press("enter")


def test_no_key_means_two_things_in_one_place() -> None:
    for place in PLACES:
        keys = [key for action in actions_in(place) for key in action.keys]
        assert len(keys) == len(set(keys)), place


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("size", [(60, 20), (120, 40)], ids=["narrow", "wide"])
def test_every_place_opens_on_an_empty_store(
    engine: Engine, place: str, size: tuple[int, int]
) -> None:
    async def look(driver: Driver) -> None:
        await driver.press(str(PLACES.index(place) + 1))
        assert driver.app.here is not None and driver.app.here.place == place
        await driver.press("question_mark")
        assert "Escape closes this" in driver.text
        await driver.press("escape", "L")
        assert driver.app.language == "zh"

    drive(engine, look, size=size)


def test_every_action_has_a_method_and_words(engine: Engine) -> None:
    async def look(driver: Driver) -> None:
        for place in PLACES:
            screen = driver.app.go(place)
            await driver.settle()
            for action in actions_in(place):
                if not action.name.startswith("go_"):
                    name = f"do_{action.name}"
                    assert hasattr(screen, name) or hasattr(driver.app, name), name
        for action in ACTIONS:
            for kind in ("action", "sentence"):
                key = f"tui.{kind}.{action.name}"
                assert driver.app.words(key) != key

    drive(engine, look)


# ---- graph


def test_a_person_is_followed_through_the_graph_to_a_fact(engine: Engine) -> None:
    remember(engine, "小明和阿丽一起去爬山", participants=["小明", "阿丽"])
    last = remember(engine, "阿丽在灯塔计划做测试", participants=["阿丽"], topics=["灯塔计划"])

    async def follow(driver: Driver) -> None:
        await driver.press("2")
        await ask(driver, "小明")
        canvas = driver.find("#canvas", GraphCanvas)
        assert canvas.node is not None and canvas.node.name == "小明"
        assert "阿丽" in driver.text
        near = next(node for node in canvas.part.nodes if node.name == "阿丽")
        canvas.choose(near.id)
        await driver.press("enter")
        assert canvas.part.nodes[0].name == "阿丽"
        fact = next(
            node for node in canvas.part.nodes if node.type == "fact" and "测试" in node.name
        )
        canvas.choose(fact.id)
        await driver.settle()
        behind = driver.find("#behind", MemoryList)
        assert list(behind.ids) == [last]
        behind.focus()
        await driver.press("enter")
        assert driver.app.here is not None and driver.app.here.place == "memories"
        assert driver.find("#list", MemoryList).current == last

    drive(engine, follow, size=WIDE)


def test_two_nodes_with_a_common_neighbour_are_joined_to_one_drawn_node(engine: Engine) -> None:
    remember(engine, "甲方会议", participants=["小明", "老王"])
    remember(engine, "乙方会议", participants=["阿丽", "老王"])

    async def look(driver: Driver) -> None:
        await driver.press("2")
        await ask(driver, "老王")
        canvas = driver.find("#canvas", GraphCanvas)
        names = [label.node.name for label in canvas._labels if label.node.type == "person"]
        assert sorted(names) == sorted(["老王", "小明", "阿丽"])
        pairs = {
            frozenset((edge.source.name, edge.target.name))
            for edge in canvas.part.edges
            if edge.relation == "co_occurs_with"
        }
        assert {frozenset(("小明", "老王")), frozenset(("阿丽", "老王"))} <= pairs
        lines = [canvas.render_line(row).text for row in range(canvas.size.height)]
        assert any(0x2800 < ord(character) < 0x2900 for line in lines for character in line)

    drive(engine, look, size=WIDE)


def test_a_node_is_renamed_merged_and_separated(engine: Engine) -> None:
    remember(engine, "小雨在写报告", participants=["小雨"])
    remember(engine, "林小雨去了上海", participants=["林小雨"])

    async def change(driver: Driver) -> None:
        await driver.press("2")
        await ask(driver, "小雨")
        await driver.press("M")
        driver.find("#new-name", Input).value = "林小雨"
        await driver.press("enter")
        assert engine.neighbourhood("小雨").node.name == "林小雨"
        await driver.press("S")
        driver.find("#new-name", Input).value = "小雨"
        await driver.press("enter")
        assert engine.neighbourhood("小雨").node.name == "小雨"
        await ask(driver, "小雨")
        await driver.press("R")
        driver.find("#new-name", Input).value = "雨晴"
        await driver.press("enter")
        assert engine.neighbourhood("雨晴").node.name == "雨晴"

    drive(engine, change, size=WIDE)


def test_an_unknown_name_is_said_and_nothing_breaks(engine: Engine) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("2")
        await ask(driver, "nobody at all")
        assert "nobody at all" in driver.told

    drive(engine, look)


# ---- atoms


def test_an_atom_shows_its_remaining_life_and_is_changed_by_keys(
    engine: Engine, clock: FixedClock
) -> None:
    remember(engine, "小明喜欢喝绿茶", key_facts=["小明喜欢喝绿茶"])

    async def change(driver: Driver) -> None:
        await driver.press("3")
        atom_id = driver.find("#list", AtomList).current
        assert atom_id is not None
        assert "Expires on" in driver.text
        before = engine.atom(atom_id).atom
        await driver.press("plus")
        after = engine.atom(atom_id).atom
        assert after.reinforced == 1 and after.ttl_days > before.ttl_days
        await driver.press("x")
        assert engine.atom(atom_id).atom.state == "expired"
        await driver.press("s")
        assert driver.find("#list", AtomList).current == atom_id
        await driver.press("w")
        assert engine.atom(atom_id).atom.state == "active"

    drive(engine, change, size=WIDE)


def test_the_type_of_an_atom_is_corrected(engine: Engine) -> None:
    remember(engine, "小明喜欢喝绿茶", key_facts=["小明喜欢喝绿茶"])

    async def change(driver: Driver) -> None:
        await driver.press("3")
        atom_id = driver.find("#list", AtomList).current
        assert atom_id is not None
        before = engine.atom(atom_id).atom.type
        await driver.press("y")
        after = engine.atom(atom_id).atom
        assert after.type != before and after.rule == "person"

    drive(engine, change, size=WIDE)


# ---- timeline


def test_undo_and_redo_of_what_this_browser_did(engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(engine, "the first text")

    async def change(driver: Driver) -> None:
        await driver.press("e")
        driver.find("#body", BodyArea).text = "the second text"
        await driver.press("ctrl+s")
        assert engine.get(memory_id).text == "the second text"
        await driver.press("u")
        assert engine.get(memory_id).text == "the first text"
        await driver.press("U")
        assert engine.get(memory_id).text == "the second text"
        await driver.press("d", "u")
        assert engine.get(memory_id).state(clock.now()) == "live"

    drive(engine, change)


def test_the_timeline_shows_who_changed_what_and_takes_one_change_back(engine: Engine) -> None:
    memory_id = remember(engine, "小雨在甲公司上班")
    engine.edit(EditRequest(memory_id, {"text": "小雨在乙公司上班"}), Caller("mcp:claude"))

    async def look(driver: Driver) -> None:
        await driver.press("4")
        shown = str(driver.find("#what", Static).render())
        assert "mcp:claude" in shown and "甲" in shown and "乙" in shown
        await ask(driver, f"#{memory_id}")
        assert len(driver.find("#changes", EntryList).ids) == 2
        await driver.press("z")
        assert engine.get(memory_id).text == "小雨在甲公司上班"

    drive(engine, look, size=WIDE)


def test_the_store_is_shown_as_it_was(engine: Engine, clock: FixedClock) -> None:
    remember(engine, "written first")
    clock.advance(3 * 86_400)
    remember(engine, "written later")

    async def look(driver: Driver) -> None:
        await driver.press("4", "v")
        await ask(driver, "1d")
        assert "written first" in driver.text and "written later" not in driver.text
        await ask(driver, "no such time")
        assert "no such time" in driver.told

    drive(engine, look, size=WIDE)


def test_facts_are_shown_in_time(engine: Engine) -> None:
    engine.facts.add(FactRequest("小雨", "任职于", "甲公司", valid_from=1.577e9), ME)
    engine.facts.add(FactRequest("小雨", "任职于", "乙公司", valid_from=1.7041e9), ME)

    async def look(driver: Driver) -> None:
        await driver.press("4", "v", "v")
        await ask(driver, "小雨")
        text = driver.text
        assert "甲公司" in text and "乙公司" in text and "2024-01-01" in text

    drive(engine, look, size=WIDE)


# ---- lab


def test_two_rankings_are_compared_and_a_result_is_judged(engine: Engine) -> None:
    remember_all(engine, ["书房路由器的口令贴在机身底部", "路由器说明书在抽屉", "周五烤面包"])

    async def compare(driver: Driver) -> None:
        await driver.press("5")
        await ask(driver, "路由器口令")
        one, two = driver.find("#one", Ranking), driver.find("#two", Ranking)
        assert set(one.ids) and set(two.ids)
        assert "relevance" in driver.text
        chosen = one.current
        await driver.press("plus")
        (judged,) = engine.judgments("路由器口令")
        assert judged.relevant and judged.memory_uid == engine.get(chosen or 0).uid
        await driver.press("minus")
        (judged,) = engine.judgments("路由器口令")
        assert not judged.relevant
        title = str(driver.find("#title-two", Static).render())
        await driver.press("b")
        assert str(driver.find("#title-two", Static).render()) != title

    drive(engine, compare, size=WIDE)


def test_looking_reinforces_nothing(engine: Engine) -> None:
    memory_id = remember(engine, "书房路由器的口令贴在机身底部")

    async def look(driver: Driver) -> None:
        await ask(driver, "路由器")
        await driver.press("escape", "5")
        await ask(driver, "路由器")
        engine.upkeep.count_uses()
        strength = engine.browsing.strength(memory_id)
        assert strength is not None and strength.access_count == 0

    drive(engine, look)


# ---- health


def test_conflicts_are_settled_one_by_one(engine: Engine, clock: FixedClock) -> None:
    one = remember(engine, "每周三下午三点在二楼会议室开例会", tags=["会"])
    clock.advance(60)
    two = remember(engine, "每周三下午三点在二楼会议室开例会。", tags=["会"])

    async def settle(driver: Driver) -> None:
        await driver.press("6", "v")
        pairs = driver.find("#pairs", PairList)
        assert len(pairs.ids) == 1
        await driver.press("s")
        assert engine.get(one).superseded_by == two
        assert len(pairs.ids) == 0
        await driver.press("u")
        assert engine.get(one).superseded_by is None

    drive(engine, settle, size=WIDE)


def test_a_backup_and_the_upkeep_are_started_from_the_keyboard(engine: Engine) -> None:
    remember(engine, "something to keep")

    async def work(driver: Driver) -> None:
        await driver.press("6", "b")
        assert len(engine.backups.list()) == 1
        await driver.press("t")
        assert engine.upkeep.runs()

    drive(engine, work, size=WIDE)
