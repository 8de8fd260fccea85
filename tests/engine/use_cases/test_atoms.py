"""Facts as people and assistants see them: stated, stated again, superseded, faded."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.atom import Atom, AtomFilters
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.storage import atom_search
from engine.storage.database import connect
from engine.use_cases.atoms import AtomQuery
from engine.use_cases.edit import EditRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, remember, within

DAY_S = 86_400.0


def all_atoms(engine: Engine) -> dict[str, Atom]:
    return {view.atom.text: view.atom for view in engine.atoms(limit=100).atoms}


def states(engine: Engine) -> dict[str, str]:
    return {text: atom.state for text, atom in all_atoms(engine).items()}


def outdated(engine: Engine, *memory_ids: int) -> dict[int, int]:
    with engine.context.database.read() as connection:
        return atom_search.outdated(connection, memory_ids)


def atom_history(engine: Engine, atom_id: int) -> list[str]:
    connection = connect(engine.context.database.path, 30.0)
    try:
        rows = connection.execute(
            "SELECT operation FROM journal WHERE subject_kind = 'atom' AND subject_id = ?",
            (atom_id,),
        ).fetchall()
    finally:
        connection.close()
    return [row[0] for row in rows]


def test_key_facts_become_atoms_of_one_memory(keyword_engine):
    facts = ["阿丽讨厌香菜", "后天去医院拔牙"]
    memory_id = remember(keyword_engine, "和阿丽聊天", key_facts=facts)
    found = all_atoms(keyword_engine)
    assert {text: atom.type for text, atom in found.items()} == {
        "阿丽讨厌香菜": "preference",
        "后天去医院拔牙": "planned",
    }
    assert keyword_engine.atom(found["阿丽讨厌香菜"].id).memory_ids == (memory_id,)


def test_a_fact_stated_again_is_one_atom_that_lasts_longer(keyword_engine, clock):
    first = remember(keyword_engine, "我喜欢喝冰美式咖啡")
    before = all_atoms(keyword_engine)["我喜欢喝冰美式咖啡"]
    clock.advance(DAY_S)
    second = remember(keyword_engine, "我很喜欢喝冰美式咖啡")
    (view,) = keyword_engine.atoms().atoms
    assert view.memory_ids == (first, second)
    assert view.atom.reinforcement_count == 1
    assert view.atom.ttl_days == before.ttl_days * 1.5
    assert view.atom.refreshed_at == before.refreshed_at + DAY_S


def test_the_current_preference_stays_and_earlier_ones_are_marked(keyword_engine, clock):
    ids = []
    for text in ("我爱喝可乐", "现在改喝咖啡了", "又改回可乐了"):
        ids.append(remember(keyword_engine, text))
        clock.advance(DAY_S)
    assert states(keyword_engine) == {
        "我爱喝可乐": "superseded",
        "现在改喝咖啡了": "superseded",
        "又改回可乐了": "active",
    }
    assert outdated(keyword_engine, *ids) == {ids[0]: ids[2], ids[1]: ids[2]}
    liked, hated = remember(keyword_engine, "我喜欢川菜"), remember(keyword_engine, "我讨厌川菜")
    assert outdated(keyword_engine, liked, hated) == {liked: hated}


UNRELATED = """阿强喜欢打篮球
阿强养了一只叫年糕的猫
阿强的生日是5月3日
阿强住在滨江
阿强和阿丽是同事
阿强的妹妹在甲公司上班
阿强对花生过敏
阿强每周五打羽毛球
阿丽在甲公司做设计
阿丽讨厌香菜
阿丽会弹钢琴
阿丽的老家在成都
阿丽正在学法语
小明是灯塔计划的负责人
小明在丙公司做测试
小明喜欢喝茶
小明的车是蓝色的
小明有两个孩子
灯塔计划用 Python 写后端
灯塔计划的代码在 GitLab 上
灯塔计划计划六月上线
灯塔计划的预算是五十万
麦田项目用的数据库是MySQL
麦田项目的负责人是阿丽
麦田项目每两周发一个版本
周三例会的主持人是阿丽
周五下午有技术分享""".splitlines()
CONTRADICTED = {
    "阿强在甲公司做后端工程师": "阿强换到乙公司了",
    "灯塔计划用的数据库是PostgreSQL": "灯塔计划改用 SQLite",
    "每周三下午三点开例会": "周三例会取消",
}


def test_only_what_is_directly_contradicted_is_retired_and_can_be_brought_back(keyword_engine):
    known = {text: remember(keyword_engine, text) for text in (*UNRELATED, *CONTRADICTED)}
    news = {text: remember(keyword_engine, text) for text in CONTRADICTED.values()}
    found = all_atoms(keyword_engine)
    retired = {text: atom for text, atom in found.items() if atom.state == "superseded"}
    assert set(retired) == set(CONTRADICTED)
    assert set(news) <= set(found)
    for text, atom in retired.items():
        assert atom.superseded_by == found[CONTRADICTED[text]].id
    assert outdated(keyword_engine, *known.values()) == {
        known[old]: news[new] for old, new in CONTRADICTED.items()
    }
    woken = keyword_engine.wake_atom(retired["每周三下午三点开例会"].id, CALLER)
    assert (woken.state, woken.superseded_by) == ("active", None)


def test_another_workspace_contradicts_nothing(keyword_engine):
    remember(keyword_engine, "我喜欢川菜", workspace="one")
    remember(keyword_engine, "我讨厌川菜", workspace="two")
    assert set(states(keyword_engine).values()) == {"active"}


def test_atoms_sleep_and_wake_with_their_memory(keyword_engine):
    old = remember(keyword_engine, "我喜欢川菜")
    new = remember(keyword_engine, "我讨厌川菜")
    keyword_engine.delete(new, CALLER)
    with_trash = AtomFilters()
    assert [view.atom.text for view in keyword_engine.atoms(with_trash).atoms] == ["我喜欢川菜"]
    assert states(keyword_engine) == {"我喜欢川菜": "active"}
    assert outdated(keyword_engine, old) == {}
    keyword_engine.restore(new, CALLER)
    assert states(keyword_engine) == {"我喜欢川菜": "superseded", "我讨厌川菜": "active"}


def test_an_edit_keeps_the_atoms_of_facts_that_stay(keyword_engine):
    memory_id = remember(keyword_engine, "聊天", key_facts=["阿丽讨厌香菜", "阿丽住在杭州"])
    kept = all_atoms(keyword_engine)["阿丽讨厌香菜"].id
    edited = EditRequest(memory_id, {"key_facts": ["阿丽讨厌香菜", "阿丽会弹钢琴"]})
    keyword_engine.edit(edited, CALLER)
    found = all_atoms(keyword_engine)
    assert set(found) == {"阿丽讨厌香菜", "阿丽会弹钢琴"}
    assert found["阿丽讨厌香菜"].id == kept


def test_an_atom_goes_with_its_last_mention(keyword_engine):
    first = remember(keyword_engine, "我喜欢喝冰美式咖啡")
    second = remember(keyword_engine, "我很喜欢喝冰美式咖啡")
    keyword_engine.erase(second, CALLER)
    assert set(states(keyword_engine)) == {"我喜欢喝冰美式咖啡"}
    keyword_engine.erase(first, CALLER)
    assert states(keyword_engine) == {}
    assert disagreements(keyword_engine.context.database.path) == []


def test_words_of_an_erased_memory_do_not_live_on_in_a_shared_atom(keyword_engine):
    first = remember(keyword_engine, "我喜欢喝冰美式咖啡")
    remember(keyword_engine, "我很喜欢喝冰美式咖啡")
    keyword_engine.erase(first, CALLER)
    assert states(keyword_engine) == {}
    assert keyword_engine.derive_missing(5.0) == 1
    assert set(states(keyword_engine)) == {"我很喜欢喝冰美式咖啡"}


def test_a_sweep_moves_atoms_on_and_catches_up(keyword_engine, clock):
    remember(keyword_engine, "昨天开了会")
    atom_id = all_atoms(keyword_engine)["昨天开了会"].id
    clock.advance(8 * DAY_S)
    assert keyword_engine.sweep_atoms().expired == 1
    assert keyword_engine.sweep_atoms().expired == 0
    clock.advance(7 * DAY_S)
    assert keyword_engine.sweep_atoms().forgotten == 1
    assert keyword_engine.search_atoms(AtomQuery("开会")) == []
    clock.advance(30 * DAY_S)
    assert keyword_engine.sweep_atoms().purged == 1
    assert atom_history(keyword_engine, atom_id) == ["decay", "decay", "decay"]
    assert disagreements(keyword_engine.context.database.path) == []


def test_an_expired_atom_wakes_when_it_is_reinforced(keyword_engine, clock):
    remember(keyword_engine, "昨天开了会")
    atom_id = all_atoms(keyword_engine)["昨天开了会"].id
    clock.advance(8 * DAY_S)
    keyword_engine.sweep_atoms()
    atom = keyword_engine.reinforce_atom(atom_id, CALLER)
    assert (atom.state, atom.reinforced, atom.ttl_days) == ("active", 1, 10.5)


def test_a_corrected_type_brings_its_own_shelf_life(keyword_engine):
    remember(keyword_engine, "昨天开了会")
    atom_id = all_atoms(keyword_engine)["昨天开了会"].id
    atom = keyword_engine.correct_atom_type(atom_id, "factual", CALLER)
    assert (atom.type, atom.ttl_days, atom.curve, atom.rule) == (
        "factual",
        180.0,
        "exponential",
        "person",
    )
    keyword_engine.expire_atom(atom_id, CALLER)
    assert keyword_engine.atom(f"#{atom_id}").value == 0.0


def test_what_does_not_exist_or_cannot_be_done_is_said(keyword_engine):
    with pytest.raises(NotFound):
        keyword_engine.atom(99)
    with pytest.raises(InvalidInput):
        keyword_engine.atoms(AtomFilters(types=("plan",)))
    remember(keyword_engine, "我喜欢川菜")
    remember(keyword_engine, "我讨厌川菜")
    with pytest.raises(Conflict):
        keyword_engine.reinforce_atom(all_atoms(keyword_engine)["我喜欢川菜"].id, CALLER)


def test_search_finds_facts_that_hold_within_the_filters(keyword_engine):
    remember(keyword_engine, "阿丽讨厌香菜", workspace="one")
    remember(keyword_engine, "阿丽会弹钢琴", workspace="two")
    found = keyword_engine.search_atoms(AtomQuery("阿丽", filters=within("one")))
    assert [view.atom.text for view in found] == ["阿丽讨厌香菜"]
    assert found[0].score is not None
    typed = keyword_engine.search_atoms(AtomQuery("阿丽", types=("factual",)))
    assert [view.atom.text for view in typed] == ["阿丽会弹钢琴"]


def test_memories_written_while_atoms_were_off_are_made_up_for(home, clock):
    with open_engine(home, environ=KEYWORDS | {"JIYI_ATOMS__ENABLED": "0"}, clock=clock) as off:
        remember(off, "我喜欢川菜")
        assert states(off) == {}
    clock.advance(DAY_S)
    with open_engine(home, environ=KEYWORDS, clock=clock) as on:
        assert on.derive_missing(5.0) == 1
        assert on.derive_missing(5.0) == 0
        (atom,) = all_atoms(on).values()
        assert atom.created_at == clock.now() - DAY_S
