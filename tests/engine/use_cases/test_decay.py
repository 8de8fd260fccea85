"""Decay of a store: exact catch-up, one journal row a run, nothing else touched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.storage import changes
from engine.storage.database import Database
from engine.use_cases import decay
from engine.use_cases.edit import EditRequest
from tests.engine.use_cases.ageing import days, entries, row_of, strength_of, used
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, found, remember, remember_all

BERLIN = KEYWORDS | {"JIYI_TIMEZONE": "Europe/Berlin"}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Engine, Engine, FixedClock]]:
    """Two stores that live through the same time."""
    clock = FixedClock()
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(open_engine(tmp_path / name, environ=BERLIN, clock=clock))
            for name in ("daily", "late")
        )
        yield first, second, clock


def test_a_late_run_leaves_what_daily_runs_leave(pair: tuple[Engine, Engine, FixedClock]) -> None:
    daily, late, clock = pair
    for engine in (daily, late):
        remember(engine, "used", importance=0.9)
        used(engine, remember(engine, "used often", importance=0.8), 12)
        remember(engine, "pinned", pinned=True)
        remember(engine, "how to do it", kind="procedural", importance=0.7)
    for _ in range(230):
        clock.advance(days(1))
        daily.forgetting.apply_decay()
    done = late.forgetting.apply_decay()
    assert (done.memories, done.steps, done.faded) == (4, 230, 2)
    for memory_id in range(1, 5):
        assert row_of(late, memory_id) == row_of(daily, memory_id)
    assert strength_of(late, 1).importance_now == pytest.approx(0.9 * 0.99**230)
    assert strength_of(late, 3).importance_now == strength_of(late, 3).importance_now == 0.5
    assert strength_of(late, 4).importance_now == 0.7
    assert len(entries(daily, "decay")) == 230
    assert [entry["actor"] for entry in entries(late, "decay")] == ["maintenance"]
    assert entries(late, "decay")[0]["changes"] == '{"memories": [null, 4], "steps": [null, 230]}'


def test_a_second_run_a_clock_set_back_and_a_new_memory_change_nothing(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    memory_id = remember(keyword_engine, "once")
    clock.advance(days(3))
    assert keyword_engine.forgetting.apply_decay().steps == 3
    before = row_of(keyword_engine, memory_id)
    fresh = remember(keyword_engine, "new")
    assert keyword_engine.forgetting.apply_decay().memories == 0
    clock.advance(-days(2))
    assert keyword_engine.forgetting.apply_decay().memories == 0
    clock.advance(days(2))
    assert keyword_engine.forgetting.apply_decay().memories == 0
    assert row_of(keyword_engine, memory_id) == before
    assert strength_of(keyword_engine, fresh).importance_now == 0.5
    assert len(entries(keyword_engine, "decay")) == 1


def test_decay_leaves_revision_change_number_and_kept_answers_alone(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    memory_id = remember(keyword_engine, "the gate code is blue")
    before = keyword_engine.get(memory_id)
    clock.advance(days(5))
    with keyword_engine.context.database.read() as connection:
        number = changes.last(connection)
    keyword_engine.forgetting.apply_decay()
    with keyword_engine.context.database.read() as connection:
        assert changes.last(connection) == number
    assert keyword_engine.get(memory_id) == before
    assert len(keyword_engine.history(memory_id)) == 1


def test_a_preview_says_what_the_run_then_does(keyword_engine: Engine, clock: FixedClock) -> None:
    remember_all(keyword_engine, ["one", "two", "three"])
    soon = keyword_engine.forgetting.preview_decay(clock.now() + days(40))
    clock.advance(days(40))
    preview = keyword_engine.forgetting.preview_decay()
    assert entries(keyword_engine, "decay") == []
    assert soon == preview == keyword_engine.forgetting.apply_decay()
    assert keyword_engine.forgetting.preview_decay() == decay.Decayed()


def test_a_killed_run_is_taken_up_where_it_ended(
    keyword_engine: Engine, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = remember_all(keyword_engine, [f"number {place}" for place in range(7)])
    monkeypatch.setattr(decay, "_MOST_ROWS", 3)
    monkeypatch.setattr(decay, "_LEAST_ROWS", 3)
    clock.advance(days(10))
    write, calls = Database.write, 0

    def dies(self: Database) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return write(self)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Database, "write", dies)
        keyword_engine.forgetting.apply_decay()
    done = keyword_engine.forgetting.apply_decay()
    assert (done.memories, done.steps) == (4, 10)
    assert {strength_of(keyword_engine, key).importance_now for key in ids} == {
        strength_of(keyword_engine, ids[0]).importance_now
    }


def test_days_while_it_is_off_take_nothing(home: Path, clock: FixedClock) -> None:
    off = KEYWORDS | {"JIYI_DECAY__ENABLED": "false"}
    with open_engine(home, environ=off, clock=clock) as engine:
        memory_id = remember(engine, "kept as it is")
        clock.advance(days(100))
        assert engine.forgetting.apply_decay().faded == 0
        assert entries(engine, "decay") == []
    with open_engine(home, environ=KEYWORDS, clock=clock) as engine:
        clock.advance(days(1))
        assert engine.forgetting.apply_decay().steps == 1
        assert strength_of(engine, memory_id).importance_now == pytest.approx(0.495)


def test_an_old_memory_that_fits_exactly_is_found_first(engine: Engine, clock: FixedClock) -> None:
    old = remember(engine, "保险箱口令规则：生日倒写加门牌")
    clock.advance(days(242))
    remember_all(engine, [f"今天第{place}件小事：浇花、买菜、散步。" for place in range(60)])
    engine.forgetting.apply_decay()
    assert strength_of(engine, old).importance_now == pytest.approx(0.05)
    assert found(engine, "保险箱口令规则")[0] == old


def test_a_copied_memory_does_not_fade_twice(keyword_engine: Engine, clock: FixedClock) -> None:
    original = remember(keyword_engine, "copied", workspace="first")
    clock.advance(days(20))
    keyword_engine.forgetting.apply_decay()
    keyword_engine.copy_workspace("first", "second", CALLER, lambda done, of: None)
    assert keyword_engine.forgetting.apply_decay().memories == 0
    assert strength_of(keyword_engine, original + 1) == strength_of(keyword_engine, original)


def test_days_before_an_edit_count_by_what_the_memory_was(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    raised, unpinned = (
        remember(keyword_engine, "raised"),
        remember(keyword_engine, "unpinned", pinned=True),
    )
    clock.advance(days(50))
    keyword_engine.edit(EditRequest(raised, {"importance": 0.9}), CALLER)
    keyword_engine.edit(EditRequest(unpinned, {"pinned": False}), CALLER)
    assert keyword_engine.forgetting.apply_decay().memories == 0
    assert strength_of(keyword_engine, raised).importance_now == 0.9
    assert strength_of(keyword_engine, unpinned).importance_now == 0.5
