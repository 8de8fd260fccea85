"""Merging what says the same: one survivor, nothing lost, the preview keeps its word."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict
from engine.domain.scope import Filters
from engine.use_cases.consolidate import Consolidated
from engine.use_cases.links import NeighbourQuery
from tests.engine.use_cases.shortcuts import CALLER, remember, remember_all

TEXT = "打印机在三楼走廊尽头"


def run(engine: Engine, *, apply: bool, filters: Filters | None = None) -> Consolidated:
    return engine.links.consolidate(filters or Filters(), CALLER, apply=apply)


def shape(done: Consolidated) -> list[tuple[object, ...]]:
    return [
        (group.survivor.id, tuple(m.id for m in group.merged), dict(group.gains), group.links)
        for group in done.groups
    ]


def test_of_three_copies_the_pinned_one_stays_with_all_they_had(
    engine: Engine, clock: FixedClock
) -> None:
    first = remember(engine, TEXT, tags=["办公室"], key_facts=["三楼有打印机"])
    clock.advance(86_400)
    second = remember(engine, TEXT, pinned=True, tags=["打印"])
    third = remember(engine, TEXT, tags=["办公室", "设备"], importance=0.9)
    other = remember(engine, "墨盒在柜子里")
    engine.links.link(third, other, CALLER, relation="related")
    created = engine.get(first).created_at
    preview = run(engine, apply=False)
    assert engine.list(Filters()).total == 4
    done = run(engine, apply=True)
    assert shape(preview) == shape(done)
    assert (done.trashed, done.skipped) == (2, 0)
    stays = engine.get(second)
    assert stays.state(clock.now()) == "live"
    assert set(stays.tags) == {"打印", "办公室", "设备"}
    assert (stays.key_facts, stays.created_at) == (("三楼有打印机",), created)
    near = engine.links.neighbours(NeighbourQuery(second))
    assert [(row.link.relation, row.memory.id) for row in near] == [("related", other)]
    for gone in (first, third):
        assert engine.get(gone).state(clock.now()) == "deleted"
    assert run(engine, apply=True).groups == ()
    assert {entry.group_uid for entry in engine.history(first)[-1:]} == {done.group_uid}


def test_without_a_pin_the_most_important_and_then_the_oldest_stays(engine: Engine) -> None:
    plain, important, equal = (
        remember(engine, TEXT, importance=importance) for importance in (0.5, 0.9, 0.9)
    )
    done = run(engine, apply=True)
    assert [group.survivor.id for group in done.groups] == [important]
    assert {memory.id for memory in done.groups[0].merged} == {plain, equal}


def test_uses_are_added_up(engine: Engine) -> None:
    first, second = remember_all(engine, [TEXT, TEXT])
    with engine.context.database.write() as connection:
        connection.execute("UPDATE memory_strength SET access_count = 3, last_access = memory_id")
    run(engine, apply=True)
    with engine.context.database.read() as connection:
        row = connection.execute(
            "SELECT access_count, last_access FROM memory_strength WHERE memory_id = ?", (first,)
        ).fetchone()
    assert tuple(row) == (6, float(second))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("会议室 301 有投影仪", "会议室 502 有投影仪"),
        ("例会每周三上午十点开", "例会每周四上午十点开"),
        ("我喜欢川菜", "我讨厌川菜"),
        ("我养了猫", "我养了一只橘色的猫"),
    ],
)
def test_what_differs_is_kept(engine: Engine, one: str, two: str) -> None:
    remember_all(engine, [one, two])
    assert run(engine, apply=True).groups == ()
    assert engine.list(Filters()).total == 2


def test_kinds_workspaces_times_and_dialogue_are_kept_apart(engine: Engine) -> None:
    remember(engine, TEXT, kind="semantic")
    remember(engine, TEXT, kind="knowledge")
    remember(engine, TEXT, workspace="other", kind="semantic")
    remember(engine, "去跑步了", kind="episodic", event_time=1_700_000_000)
    remember(engine, "去跑步了", kind="episodic", event_time=1_700_400_000)
    remember(engine, "好的", source="conversation")
    remember(engine, "好的", source="conversation")
    assert run(engine, apply=False).groups == ()


def test_what_the_merged_one_superseded_points_to_the_survivor(engine: Engine) -> None:
    old = remember(engine, "打印机在二楼")
    first, second = remember_all(engine, [TEXT, TEXT])
    engine.links.supersede(old, second, CALLER)
    run(engine, apply=True)
    assert engine.get(old).superseded_by == first
    assert engine.restore(old, CALLER).was == "superseded"


def test_without_vectors_the_very_same_text_is_merged(keyword_engine: Engine) -> None:
    remember_all(keyword_engine, [TEXT, TEXT, "墨盒在柜子里"])
    assert run(keyword_engine, apply=True).trashed == 1


def test_many_copies_leave_one(engine: Engine) -> None:
    remember_all(engine, [TEXT] * 70)
    done = run(engine, apply=True)
    assert (len(done.groups), done.trashed) == (1, 69)
    assert engine.list(Filters()).total == 1


def test_a_person_may_merge_any_two(engine: Engine) -> None:
    one, two = remember_all(engine, ["我养了猫", "我养了一只橘色的猫"])
    done = engine.links.merge(two, one, CALLER)
    assert (done.groups[0].survivor.id, done.trashed) == (two, 1)
    with pytest.raises(Conflict):
        engine.links.merge(two, two, CALLER)
    with pytest.raises(Conflict):
        engine.links.merge(two, one, CALLER)
