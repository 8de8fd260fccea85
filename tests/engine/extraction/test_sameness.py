"""The same fact, the opposite one, another one; and what a change puts an end to."""

from __future__ import annotations

import pytest

from engine.extraction.changes import change_in, ends
from engine.extraction.sameness import (
    CONFLICT,
    OPPOSITE,
    OTHER,
    SAME,
    SpokenFact,
    compare,
    negation_count,
)
from engine.language.terms import build_analyser

ANALYSER = build_analyser()


def spoken(text: str, polarity: int = 0) -> SpokenFact:
    return SpokenFact(text, frozenset(ANALYSER.index_terms(text).words), polarity)


def relation(new: str, old: str, stances: tuple[int, int] = (0, 0)) -> str:
    return compare(spoken(new, stances[0]), spoken(old, stances[1]), 0.6)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("我很喜欢喝冰美式咖啡", "我喜欢喝冰美式"),
        ("我爱喝冰美式咖啡", "我喜欢喝冰美式咖啡"),
        ("Alice loves iced americano", "Alice really likes iced americano"),
        ("喜欢喝茶", "我喜欢喝茶"),
    ],
)
def test_other_words_for_one_fact(new, old):
    assert relation(new, old, (1, 1)) == SAME


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("小明在甲公司做后端工程师", "小红在甲公司做后端工程师"),
        ("他喜欢喝不加糖的冰美式咖啡", "我喜欢喝不加糖的冰美式咖啡"),
        ("阿丽住在杭州西湖区", "阿丽住在杭州"),
        ("Bob bought a red bike", "Bob bought a blue bike"),
        ("Keep going and don't give up", "Keep going"),
        ("今天的备份任务成功了", "昨天的备份任务成功了"),
    ],
)
def test_facts_that_differ_in_something_of_weight_are_two(new, old):
    assert relation(new, old) == OTHER


def test_another_stance_on_one_subject_is_the_opposite():
    assert relation("我讨厌川菜", "我喜欢川菜", (-1, 1)) == OPPOSITE
    assert relation("阿丽现在不吃辣了", "阿丽很爱吃辣", (-1, 1)) == OPPOSITE
    assert relation("阿强不会游泳", "阿强会游泳") == OPPOSITE
    assert relation("我讨厌川菜", "我喜欢粤菜", (-1, 1)) == OTHER


def test_another_number_is_a_possible_conflict_and_no_more():
    assert relation("服务器甲的内存是64GB", "服务器甲的内存是128GB") == CONFLICT
    assert relation("The API listens on port 8080", "The API listens on port 9090") == CONFLICT


FACTS = (
    "阿强在甲公司做后端工程师",
    "阿强喜欢打篮球",
    "阿强住在滨江",
    "阿强的妹妹在甲公司上班",
    "小明在丙公司做测试",
    "灯塔计划用的数据库是PostgreSQL",
    "灯塔计划用 Python 写后端",
    "灯塔计划的负责人是小明",
    "灯塔计划六月上线",
    "每周三下午三点开例会",
    "周三例会的主持人是阿丽",
    "我爱喝可乐",
    "阿丽爱喝可乐",
    "Pedro works at Acme",
    "Pedro lives in Porto",
    "Pedro likes chess",
)


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ("阿强换到乙公司了", "阿强在甲公司做后端工程师"),
        ("阿强搬到西湖区了", "阿强住在滨江"),
        ("灯塔计划改用 SQLite", "灯塔计划用的数据库是PostgreSQL"),
        ("灯塔计划改到七月上线", "灯塔计划六月上线"),
        ("周三例会取消", "每周三下午三点开例会"),
        ("现在改喝咖啡了", "我爱喝可乐"),
        ("阿丽不再喝可乐", "阿丽爱喝可乐"),
        ("Pedro now works at Beta", "Pedro works at Acme"),
        ("Pedro moved to Lisbon", "Pedro lives in Porto"),
    ],
)
def test_a_change_ends_the_one_fact_it_speaks_of(said, ended):
    change = change_in(said)
    assert change is not None
    assert [fact for fact in FACTS if ends(change, fact)] == [ended]


@pytest.mark.parametrize("text", ["阿强喜欢打篮球", "我换开关时，给他讲了选购要点", "得去医院看看"])
def test_what_states_no_change_ends_nothing(text):
    change = change_in(text)
    assert change is None or not any(ends(change, fact) for fact in FACTS)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("用户对花生不过敏", 1),
        ("他不过是个孩子", 0),
        ("不同意这个方案", 1),
        ("不同的方案", 0),
        ("机房不断电", 1),
        ("他们不断改进", 0),
        ("不得不说非常不错", 0),
    ],
)
def test_a_word_that_only_begins_like_a_negation_is_none(text: str, count: int) -> None:
    assert negation_count(text) == count
