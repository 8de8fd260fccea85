"""What a new memory meets: told, refused, put in place of; and all such pairs of a store."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.links import ConflictRefused
from engine.domain.scope import Filters
from engine.use_cases.conflicts import ConflictQuery
from engine.use_cases.links import NeighbourQuery
from engine.use_cases.memorize import Memorized, MemorizeRequest
from tests.engine.use_cases.shortcuts import CALLER, found, remember, remember_all

# Facts about three people and two projects, none of which touches another one.
FACTS = """
阿强在甲公司上班|阿强的生日是三月五日|阿强喜欢爬山|阿强住在杭州|阿强的电话尾号是 4417
小红在丙公司上班|小红的生日是六月九日|小红喜欢画画|小红住在苏州|小红不吃香菜
老周在丁公司上班|老周的生日是九月二日|老周喜欢钓鱼|老周住在宁波|老周开一辆绿色的车
灯塔计划用 PostgreSQL|灯塔计划的负责人是小红|灯塔计划每周二发版|灯塔计划的前端用 Vue
灯塔计划的文档在知识库|灯塔计划有两个测试环境
方舟计划用 MySQL|方舟计划的负责人是老周|方舟计划每周五发版|方舟计划的前端用 React
方舟计划的文档在共享盘|方舟计划有三个测试环境
周三例会在二楼会议室|周三例会由老周主持|打印机的墨盒在柜子里
"""


def facts() -> list[str]:
    return [fact for line in FACTS.split("\n") for fact in line.split("|") if fact]


def store(engine: Engine, text: str, **options: str) -> Memorized:
    return engine.memorize(MemorizeRequest({"text": text, "kind": "semantic"}, **options), CALLER)


def verdicts(stored: Memorized) -> list[tuple[int, str]]:
    return [(clash.memory_id, clash.verdict) for clash in stored.conflicts]


def test_by_default_a_conflict_is_told_and_everything_stored(engine: Engine) -> None:
    first = store(engine, "例会每周三上午十点开").memory
    second = store(engine, "例会每周四上午十点开")
    assert verdicts(second) == [(first.id, "contradiction")]
    assert (second.conflicts[0].mine, second.conflicts[0].other) == ("周四", "周三")
    third = store(engine, "例会每周四上午十点开")
    assert (second.memory.id, "duplicate") in verdicts(third)
    assert engine.list(Filters()).total == 3


def test_ignore_looks_at_nothing(engine: Engine) -> None:
    store(engine, "例会每周三上午十点开")
    assert store(engine, "例会每周四上午十点开", on_conflict="ignore").conflicts == ()


def test_reject_stores_nothing_and_says_what_it_met(engine: Engine) -> None:
    first = store(engine, "例会每周三上午十点开").memory
    with pytest.raises(ConflictRefused) as refused:
        store(engine, "例会每周四上午十点开", on_conflict="reject")
    assert [clash.memory_id for clash in refused.value.clashes] == [first.id]
    assert engine.list(Filters()).total == 1
    assert store(engine, "午饭吃了面条", on_conflict="reject").conflicts == ()


def test_supersede_takes_the_place_and_can_be_taken_back(engine: Engine) -> None:
    first = store(engine, "例会每周三上午十点开").memory
    second = store(engine, "例会每周四上午十点开", on_conflict="supersede").memory
    assert engine.get(first.id).superseded_by == second.id
    near = engine.links.neighbours(NeighbourQuery(first.id))
    assert [(row.link.relation, row.memory.id) for row in near] == [("supersedes", second.id)]
    assert engine.restore(first.id, CALLER).was == "superseded"
    assert engine.get(first.id).superseded_by is None


def test_a_bad_policy_is_refused_with_the_good_ones(engine: Engine) -> None:
    with pytest.raises(InvalidInput):
        store(engine, "例会每周三开", on_conflict="replace")
    with pytest.raises(InvalidInput):
        engine.memorize_many(
            [MemorizeRequest({"text": text}, on_conflict="reject") for text in ("一", "二")],
            CALLER,
        )
    assert engine.list(Filters()).total == 0


def test_in_a_batch_the_earlier_one_wins(engine: Engine) -> None:
    before = store(engine, "例会每周一上午十点开").memory
    requests = [
        MemorizeRequest({"text": text, "kind": "semantic"}, on_conflict="supersede")
        for text in ("例会每周三上午十点开", "例会每周四上午十点开")
    ]
    first, second = engine.memorize_many(requests, CALLER)
    assert engine.get(before.id).superseded_by == first.memory.id
    assert engine.get(second.memory.id).superseded_by == first.memory.id
    assert second.memory.superseded_by == first.memory.id
    assert engine.get(first.memory.id).superseded_at is None


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ({"kind": "semantic"}, {"kind": "episodic"}),
        ({"tags": ["work"]}, {"tags": ["home"]}),
        ({"source": "conversation"}, {}),
    ],
)
def test_another_kind_other_tags_and_dialogue_are_no_conflict(
    engine: Engine, stored: dict[str, object], new: dict[str, object]
) -> None:
    former = {"text": "例会每周三上午十点开", "kind": "semantic"} | stored
    engine.memorize(MemorizeRequest(former), CALLER)
    fields = {"text": "例会每周四上午十点开", "kind": "semantic"} | new
    assert engine.memorize(MemorizeRequest(fields), CALLER).conflicts == ()


def test_one_untagged_side_and_another_workspace(engine: Engine) -> None:
    remember(engine, "例会每周三上午十点开", kind="semantic", tags=["work"])
    assert store(engine, "例会每周四上午十点开").conflicts
    assert store(engine, "例会每周五上午十点开", workspace="other").conflicts == ()


def test_stances_that_the_writer_gives_count(engine: Engine) -> None:
    first = remember(engine, "关于远程办公", kind="semantic", polarity=1)
    request = MemorizeRequest({"text": "关于远程办公的", "kind": "semantic", "polarity": -1})
    found_conflicts = engine.memorize(request, CALLER).conflicts
    assert [(clash.memory_id, clash.reason) for clash in found_conflicts] == [(first, "polarity")]


def test_without_vectors_words_find_it(keyword_engine: Engine) -> None:
    first = store(keyword_engine, "例会每周三上午十点开").memory
    second = store(keyword_engine, "例会每周四上午十点开")
    assert verdicts(second) == [(first.id, "contradiction")]
    assert second.conflicts[0].similarity is None


def test_hidden_memories_are_no_conflict(engine: Engine, clock: FixedClock) -> None:
    deleted = store(engine, "例会每周一上午十点开").memory
    engine.delete(deleted.id, CALLER)
    request = MemorizeRequest({"text": "例会每周二上午十点开", "kind": "semantic"}, ttl="1h")
    engine.memorize(request, CALLER)
    clock.advance(7200)
    assert store(engine, "例会每周四上午十点开").conflicts == ()


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("阿强换到乙公司了", "阿强在甲公司上班"),
        ("灯塔计划改用 SQLite", "灯塔计划用 PostgreSQL"),
        ("周三例会取消", "周三例会在二楼会议室"),
    ],
)
def test_only_what_is_contradicted_is_marked(engine: Engine, text: str, ended: str) -> None:
    ids = dict(zip(facts(), remember_all(engine, facts()), strict=True))
    with engine.context.database.write() as connection:
        connection.execute("UPDATE memory SET kind = 'semantic'")
    new = store(engine, text, on_conflict="supersede")
    hidden = {fact for fact, memory_id in ids.items() if engine.get(memory_id).superseded_at}
    assert hidden <= {ended, "周三例会由老周主持"}
    for fact in hidden:
        assert engine.get(ids[fact]).superseded_by == new.memory.id
    for fact in set(ids) - hidden:
        assert ids[fact] in found(engine, fact, k=10)
    assert new.memory.id in found(engine, text, k=5)


def test_all_pairs_of_a_store_are_found_by_neighbours(engine: Engine) -> None:
    texts = [*facts(), "阿强住在绍兴", "小红吃香菜", "老周喜欢钓鱼。"]
    ids = dict(zip(texts, remember_all(engine, texts), strict=True))
    with engine.context.database.write() as connection:
        connection.execute("UPDATE memory SET kind = 'semantic'")
    seen: list[tuple[int, int]] = []
    result = engine.links.conflicts(ConflictQuery(), lambda done, total: seen.append((done, total)))
    pairs = {(pair.older.text, pair.newer.text): pair.verdict for pair in result.pairs}
    assert pairs == {
        ("阿强住在杭州", "阿强住在绍兴"): "contradiction",
        ("小红不吃香菜", "小红吃香菜"): "contradiction",
        ("老周喜欢钓鱼", "老周喜欢钓鱼。"): "duplicate",
    }
    assert [pair.verdict for pair in result.pairs][-1] == "duplicate"
    assert (result.total, result.scanned, seen[-1]) == (3, len(texts), (len(texts), len(texts)))
    one = engine.links.conflicts(ConflictQuery(ids["阿强住在绍兴"]))
    assert [pair.older.id for pair in one.pairs] == [ids["阿强住在杭州"]]


def test_pairs_that_are_linked_are_settled(engine: Engine) -> None:
    first = store(engine, "例会每周三上午十点开").memory
    second = store(engine, "例会每周四上午十点开").memory
    assert engine.links.conflicts(ConflictQuery()).total == 1
    engine.links.link(second.id, first.id, CALLER, relation="contradicts")
    assert engine.links.conflicts(ConflictQuery()).total == 0


def test_a_callable_may_call_a_pair_a_contradiction(engine: Engine) -> None:
    remember_all(engine, ["蓝鲸项目很重要", "蓝鲸项目很重要吧"])
    asked: list[tuple[str, str]] = []

    def contradicts(new: str, old: str) -> bool:
        asked.append((new, old))
        return True

    result = engine.links.conflicts(ConflictQuery(contradicts=contradicts))
    assert {pair.reason for pair in result.pairs} <= {"custom"}
    assert asked[0] == ("蓝鲸项目很重要吧", "蓝鲸项目很重要")


def test_a_memory_that_is_not_live_has_no_conflicts(engine: Engine) -> None:
    first = store(engine, "例会每周三上午十点开").memory
    engine.delete(first.id, CALLER)
    with pytest.raises(Conflict):
        engine.links.conflicts(ConflictQuery(first.id))
