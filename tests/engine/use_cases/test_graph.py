"""The graph: grows and shrinks with memories, is found through, merged, renamed and separated."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.use_cases.edit import EditRequest
from engine.use_cases.recall import RecallRequest
from tests.engine.use_cases.shortcuts import CALLER, hits, remember


def names(engine: Engine, node_type: str | None = None) -> dict[str, int]:
    return {node.name: node.memories for node in engine.graph_nodes(node_type, 100)}


def joined(engine: Engine, name: str) -> set[tuple[str, str]]:
    found = engine.neighbourhood(name)
    return {
        (edge.relation, (edge.target if edge.source.id == found.node.id else edge.source).name)
        for edge in found.edges
    }


@pytest.fixture
def family(keyword_engine: Engine) -> Engine:
    """Five memories; none says 关系."""
    for text, people in (
        ("小明和阿丽一起养了一只叫年糕的猫", ["小明", "阿丽"]),
        ("阿丽是小明的表妹", ["阿丽", "小明"]),
        ("阿丽在上海读研究生", ["阿丽"]),
        ("老周喜欢钓鱼", ["老周"]),
        ("周三例会改到下午", []),
    ):
        remember(keyword_engine, text, participants=people)
    return keyword_engine


def test_a_question_about_a_relation_finds_what_joins_the_two(family: Engine) -> None:
    answer = family.recall(RecallRequest("小明和阿丽是什么关系", k=3))
    texts = [hit.memory.text for hit in answer.hits]
    assert set(texts[:2]) == {"小明和阿丽一起养了一只叫年糕的猫", "阿丽是小明的表妹"}
    assert all("关系" not in text for text in texts)
    led = [[step.name for step in hit.path] for hit in answer.hits[:2]]
    assert all({"小明", "阿丽"} & set(way) for way in led)


def test_one_hop_leads_to_what_a_neighbour_is_named_in(family: Engine) -> None:
    found = {hit.memory.text: hit for hit in hits(family, "小明最近", k=5, mode="graph")}
    way = found["阿丽在上海读研究生"].path
    assert [(step.relation, step.name) for step in way] == [
        ("", "小明"),
        ("co_occurs_with", "阿丽"),
    ]


def test_deleting_takes_away_exactly_what_a_memory_added(keyword_engine: Engine) -> None:
    first = remember(keyword_engine, "小雨负责灯塔计划", participants=["小雨"], topics=["灯塔计划"])
    remember(keyword_engine, "小雨喜欢骑车", participants=["小雨"])
    assert names(keyword_engine) == {"小雨": 2, "灯塔计划": 1}
    keyword_engine.delete(first, CALLER)
    assert names(keyword_engine) == {"小雨": 1}
    assert ("co_occurs_with", "灯塔计划") not in joined(keyword_engine, "小雨")
    keyword_engine.restore(first, CALLER)
    assert names(keyword_engine) == {"小雨": 2, "灯塔计划": 1}
    keyword_engine.erase(first, CALLER)
    assert names(keyword_engine) == {"小雨": 1}


def test_an_edit_moves_what_the_memory_added(keyword_engine: Engine) -> None:
    memory = remember(keyword_engine, "小雨在甲公司上班", participants=["小雨"])
    keyword_engine.edit(
        EditRequest(memory, {"text": "小林在乙公司上班", "participants": ["小林"]}), CALLER
    )
    assert names(keyword_engine) == {"小林": 1}
    facts = names(keyword_engine, "fact")
    assert not any("甲公司" in fact for fact in facts)


def test_one_entity_whatever_its_blanks_width_and_case(keyword_engine: Engine) -> None:
    for spelling in ("Feishu", "feishu ", "ＦＥＩＳＨＵ", "FEISHU"):
        remember(keyword_engine, f"用{spelling}开会", topics=[spelling])
    assert names(keyword_engine) == {"Feishu": 4}


def test_the_same_relation_twice_is_one_edge_of_two_memories(keyword_engine: Engine) -> None:
    for text in ("小明和阿丽去爬山", "阿丽和小明去看海"):
        remember(keyword_engine, text, participants=["小明", "阿丽"])
    edges = [e for e in keyword_engine.neighbourhood("小明").edges if e.target.type == "person"]
    edges += [e for e in keyword_engine.neighbourhood("小明").edges if e.source.name == "阿丽"]
    assert [edge.memory_ids for edge in dict.fromkeys(edges)] == [(1, 2)]


def test_a_merge_keeps_relations_and_can_be_taken_back(family: Engine) -> None:
    remember(family, "丽丽在医院实习", participants=["丽丽", "老周"])
    family.merge_nodes("丽丽", "阿丽", CALLER)
    assert "丽丽" not in names(family)
    assert ("co_occurs_with", "老周") in joined(family, "阿丽")
    assert family.neighbourhood("丽丽").node.name == "阿丽"
    remember(family, "丽丽换了手机", participants=["丽丽"])
    assert names(family)["阿丽"] == 5
    family.separate_name("丽丽", CALLER)
    assert names(family)["丽丽"] == 2
    assert ("co_occurs_with", "老周") not in joined(family, "阿丽")


def test_a_rename_keeps_relations_and_the_old_name_still_means_it(family: Engine) -> None:
    before = joined(family, "小明")
    family.rename_node("小明", "王小明", CALLER)
    assert joined(family, "王小明") == joined(family, "小明") == before
    remember(family, "小明升职了", participants=["小明"])
    assert names(family)["王小明"] == 3
    family.separate_name("小明", CALLER)
    assert "王小明" not in names(family) and names(family)["小明"] == 3


def test_names_nobody_has_and_senseless_changes_are_refused(family: Engine) -> None:
    with pytest.raises(NotFound):
        family.neighbourhood("小王")
    with pytest.raises(InvalidInput):
        family.merge_nodes("小明", "小明", CALLER)
    with pytest.raises(NotFound):
        family.merge_nodes("小明", "小王", CALLER)
    with pytest.raises(Conflict):
        family.rename_node("小明", "阿丽", CALLER)
    with pytest.raises(NotFound):
        family.separate_name("小明", CALLER)


def test_people_are_found_in_the_text_when_its_writer_names_none(keyword_engine: Engine) -> None:
    remember(keyword_engine, "阿丽是小明的表妹")
    remember(keyword_engine, "Caroline and Melanie painted a sunrise")
    remember(keyword_engine, "今天去超市买了牛奶")
    assert set(names(keyword_engine, "person")) == {"阿丽", "小明", "Caroline", "Melanie"}


def test_the_way_between_two_people(family: Engine) -> None:
    remember(family, "阿丽和老周合租", participants=["阿丽", "老周"])
    assert [step.name for step in family.way_between("小明", "老周")] == ["小明", "阿丽", "老周"]
    remember(family, "小赵独来独往", participants=["小赵"])
    assert family.way_between("小明", "小赵") == ()


def test_what_only_an_expired_memory_names_is_not_listed(engine, clock):
    remember(engine, "小雨和灯塔计划", participants=["小雨"], topics=["灯塔计划"],
             expires_at=clock.now() + 60)  # fmt: skip
    remember(engine, "小雨去了海边", participants=["小雨"])
    assert {node.name for node in engine.graph_nodes()} >= {"小雨", "灯塔计划"}
    clock.advance(120)
    listed = {node.name: node.memories for node in engine.graph_nodes()}
    assert "灯塔计划" not in listed and listed["小雨"] == 1
