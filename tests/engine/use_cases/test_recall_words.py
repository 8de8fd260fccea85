"""Recall by the words people type, with vectors off and on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.bootstrap import Engine, open_engine
from engine.domain.errors import InvalidInput
from engine.domain.text import scrub
from engine.use_cases.recall import RecallRequest
from tests.engine.use_cases.shortcuts import HASHING, KEYWORDS, found, hits, remember, remember_all

FILLERS = [
    "早上在公园跑步遇到邻居的狗", "买了三斤苹果和一箱牛奶", "空调滤网每两个月洗一次",
    "周末去爬山记得带雨衣", "图书馆的书下周二到期", "牙医约在十二号下午",
    "客厅的灯泡换成暖光的", "孩子的家长会改到线上", "车险在六月续保", "阳台的番茄开始结果",
    "新买的键盘声音太大", "地铁卡里还剩二十块", "老板喜欢先看结论", "冰箱里的豆腐今天要吃掉",
    "洗衣机的排水管漏水", "电影票在抽屉第二层", "外婆不吃香菜", "咖啡豆要磨粗一点",
    "合同要盖两个章", "打印机缺黑色墨", "雨伞忘在出租车上", "球赛九点开始",
    "the printer needs toner", "lunch with Ana on Friday", "renew the parking permit",
    "the meeting moved to room four", "water the plants twice a week",
    "the train leaves from platform nine", "return the borrowed ladder", "call the plumber again",
]  # fmt: skip


@pytest.fixture(params=[KEYWORDS, HASHING], ids=["keywords", "vectors"])
def either(request: pytest.FixtureRequest, home: Path) -> Iterator[Engine]:
    """An engine without and one with vectors."""
    with open_engine(home, environ=request.param) as opened:
        yield opened


LIKE_SYNTAX = {
    "pre-edit": "pre-edit 检查清单在首页",
    "TODO: 周五": "TODO: 周五前交报表",
    '"先别发布': '他说 "先别发布" 就挂了',
    "don't": "don't 在生产库做实验",
    "C++": "C++ 项目放在 D 盘",
    "AND": "AND 门和 OR 门的实验报告",
}


@pytest.mark.parametrize("query", LIKE_SYNTAX)
def test_what_looks_like_search_syntax_is_found_as_text(either: Engine, query: str) -> None:
    remember_all(either, [*LIKE_SYNTAX.values(), *FILLERS])
    best = [hit.memory.text for hit in hits(either, query, k=3)]
    assert LIKE_SYNTAX[query] in best


@pytest.mark.parametrize(
    "query",
    ["OR", "NEAR(", "*", "(", "-x", "content:报表", '"', "''", "^", "a:b*", "{", "\\", "…。！"],
)
def test_what_looks_like_search_syntax_stops_nothing(either: Engine, query: str) -> None:
    remember_all(either, LIKE_SYNTAX.values())
    answer = either.recall(RecallRequest(query))
    if not any(character.isalnum() for character in query):
        assert answer.hits == ()


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u3000", "\u200b"])
def test_a_blank_query_is_refused_or_empty(either: Engine, query: str) -> None:
    remember(either, "文")
    if query.strip():
        assert either.recall(RecallRequest(query)).hits == ()
        return
    with pytest.raises(InvalidInput) as caught:
        either.recall(RecallRequest(query))
    assert caught.value.key == "error.empty_query"


TWO_CHARACTERS = {
    "设备清单(devices)：书房 NAS 型号 cdm-xxc": [
        "设备",
        "设备清单",
        "NAS",
        "nas",
        "devices",
        "ＮＡＳ",
    ],
    "826 号工单：用户身份校验放在网关": ["用户", "用户身份", "826"],
    "我的花名叫小云": ["花名", "小云", "云"],
    "db 口令在保险柜": ["口令", "db", "DB", "保险"],
}
GLUED = {
    "今天重跑gen-itgc后50条悬空引用清零": ["itgc", "gen-itgc", "悬空", "50条", "50"],
    "把超参lr调到3e-4再训一轮": ["lr", "3e-4", "超参"],
}
PARTS = {
    "王小帅的电话在通讯录第三页": ["小帅", "帅", "通讯"],
    "他现在住在乌鲁木齐": ["乌鲁", "木齐"],
    "数据库迁移前一定要先备份": ["库迁移", "據庫", "备份"],
}
NEEDLES = [
    (text, query)
    for group in (TWO_CHARACTERS, GLUED, PARTS)
    for text in group
    for query in group[text]
]


@pytest.fixture(scope="module", params=[KEYWORDS, HASHING], ids=["keywords", "vectors"])
def haystack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """The needles among everyday memories."""
    with open_engine(tmp_path_factory.mktemp("haystack"), environ=request.param) as opened:
        remember_all(opened, [*TWO_CHARACTERS, *GLUED, *PARTS, *FILLERS])
        yield opened


@pytest.mark.parametrize(("text", "query"), NEEDLES)
def test_every_part_of_a_text_that_people_say_finds_it_first(
    haystack: Engine, text: str, query: str
) -> None:
    assert [hit.memory.text for hit in hits(haystack, query, k=1)] == [text]


def test_a_spoken_question_finds_what_shares_some_of_its_words(either: Engine) -> None:
    router = remember(either, "书房路由器的管理口令贴在机身底部")
    remember_all(either, FILLERS)
    question = "我上次说的书房那个路由器管理口令贴在哪儿了来着"
    assert router in found(either, question, k=3)
    tests = remember(either, "端到端测试")
    assert tests in found(either, "端到端测试结果", k=3)


def test_more_matching_words_rank_higher(either: Engine) -> None:
    three, two, one = remember_all(either, ["红色 蓝色 绿色", "红色 蓝色 灰色", "红色 黑色 白色"])
    remember_all(either, FILLERS)
    assert found(either, "红色 蓝色 绿色", k=3) == [three, two, one]


def test_traditional_simplified_and_width_find_each_other(either: Engine) -> None:
    memory_id = remember(either, "資料庫遷移用ＰｏｓｔｇｒｅＳＱＬ")
    remember_all(either, FILLERS)
    for query in ("资料库", "迁移", "postgresql", "POSTGRES ql", "資料庫"):
        assert found(either, query, k=1) == [memory_id]
    assert either.get(memory_id).text == "資料庫遷移用ＰｏｓｔｇｒｅＳＱＬ"


@pytest.fixture(scope="module")
def any_text(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A store for made-up strings."""
    with open_engine(tmp_path_factory.mktemp("any"), environ=HASHING) as opened:
        yield opened


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet=st.characters(codec=None), min_size=1, max_size=60))
def test_any_text_is_stored_and_searched_without_an_error(any_text: Engine, text: str) -> None:
    if not scrub(text).strip():
        return
    memory_id = remember(any_text, text)
    assert any_text.get(memory_id).text == scrub(text)
    answer = any_text.recall(RecallRequest(text, k=100))
    assert all(0.0 <= hit.strength <= 1.0 for hit in answer.hits)


def test_a_query_of_the_greatest_length_is_answered_and_a_longer_one_refused(
    haystack: Engine,
) -> None:
    assert found(haystack, "乌鲁木齐 " + "他现在 " * 4_998, k=1)
    with pytest.raises(InvalidInput) as caught:
        haystack.recall(RecallRequest("字" * 20_001))
    assert caught.value.key == "error.too_long"
