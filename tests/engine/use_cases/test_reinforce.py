"""Use makes memories stronger, beside the answers and outside everything that is written."""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.access import Access, AccessLog
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict
from engine.domain.memory import Strength
from engine.storage import changes
from engine.storage.database import FILE_NAME
from engine.use_cases.atoms import AtomQuery
from engine.use_cases.recall import RecallRequest
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, found, hits, remember

DAY = 86_400.0


def strength(engine: Engine, memory_id: int) -> Strength:
    engine.upkeep.count_uses()
    found = engine.browsing.strength(memory_id)
    assert found is not None
    return found


def test_a_hit_counts_as_one_use(keyword_engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    other = remember(keyword_engine, "山上有雪")
    assert found(keyword_engine, "灯塔") == [memory_id]
    used = strength(keyword_engine, memory_id)
    assert used.salience == pytest.approx(1.05)
    assert (used.access_count, used.access_window) == (1, 1.0)
    assert used.last_access == clock.now()
    assert strength(keyword_engine, other) == Strength(0.5)


def test_an_answer_given_before_counts_all_the_same(engine: Engine) -> None:
    engine.context.models.embedder(10.0)
    memory_id = remember(engine, "灯塔在海边")
    request = RecallRequest("灯塔")
    results = [engine.recall(request) for _ in range(3)]
    assert [result.cached for result in results] == [False, True, True]
    assert strength(engine, memory_id).access_count == 3
    # Counting made no kept answer stale.
    assert engine.recall(request).cached


def test_what_only_looks_counts_nothing(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    keyword_engine.recall(RecallRequest("灯塔", touch=False))
    keyword_engine.list()
    keyword_engine.get(memory_id)
    keyword_engine.search_atoms(AtomQuery("灯塔", touch=False))
    assert len(keyword_engine.context.accesses) == 0


def test_an_answer_without_touch_is_the_one_with_it(engine: Engine) -> None:
    engine.context.models.embedder(10.0)
    remember(engine, "灯塔在海边")
    engine.recall(RecallRequest("灯塔"))
    assert engine.recall(RecallRequest("灯塔", touch=False)).cached


def test_reading_one_and_searching_its_facts_count(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "小明住在杭州", key_facts=["小明住在杭州", "杭州有西湖"])
    keyword_engine.get(memory_id, touch=True)
    assert strength(keyword_engine, memory_id).access_count == 1
    views = keyword_engine.search_atoms(AtomQuery("杭州 小明 西湖"))
    assert {view.memory_ids for view in views} == {(memory_id,)}
    # However many facts it states, one request used the memory once.
    assert strength(keyword_engine, memory_id).access_count == 2


def test_the_facts_of_a_memory_were_used_when_it_was(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    memory_id = remember(keyword_engine, "小明住在杭州")
    (view,) = keyword_engine.atoms().atoms
    assert view.last_access is None
    clock.advance(60.0)
    keyword_engine.get(memory_id, touch=True)
    keyword_engine.upkeep.count_uses()
    (view,) = keyword_engine.atoms().atoms
    assert (view.last_access, view.atom.reinforcement_count) == (clock.now(), 0)


def test_use_leaves_no_trace_in_what_was_written(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    before = keyword_engine.get(memory_id), keyword_engine.history(memory_id)
    with keyword_engine.context.database.read() as connection:
        change = changes.last(connection)
    found(keyword_engine, "灯塔")
    assert strength(keyword_engine, memory_id).access_count == 1
    assert (keyword_engine.get(memory_id), keyword_engine.history(memory_id)) == before
    with keyword_engine.context.database.read() as connection:
        assert changes.last(connection) == change


def test_salience_is_capped(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    for _ in range(100):
        found(keyword_engine, "灯塔")
    used = strength(keyword_engine, memory_id)
    assert (used.salience, used.access_count) == (2.0, 100)


def test_what_was_recalled_often_does_not_stay_on_top_for_ever(keyword_engine: Engine) -> None:
    first = remember(keyword_engine, "海边的灯塔夜里会亮")
    often = remember(keyword_engine, "海边的灯塔白天会开")
    for _ in range(100):
        keyword_engine.get(often, touch=True)
    keyword_engine.upkeep.count_uses()
    better = remember(keyword_engine, "海边的灯塔什么时候建成：1890 年建成")
    asked = found(keyword_engine, "海边的灯塔什么时候建成", k=3)
    assert asked[0] == better
    assert set(asked) == {first, often, better}


def test_uses_before_a_late_day_fade_with_it(keyword_engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    clock.advance(40 * DAY)
    found(keyword_engine, "灯塔")
    used = strength(keyword_engine, memory_id)
    # The forty days that nobody looked come first: they took importance and salience, and the
    # use of today does not slow them down.
    assert used.access_window == 1.0
    assert used.salience < 1.0
    assert used.importance_now == pytest.approx(0.5 * 0.99**40, rel=0.02)


def test_all_uses_of_a_while_are_one_write(keyword_engine: Engine) -> None:
    ids = [remember(keyword_engine, f"灯塔 {number} 号") for number in range(20)]
    for _ in range(5):
        hits(keyword_engine, "灯塔", k=20)
    assert keyword_engine.upkeep.count_uses().memories == 20
    assert {strength(keyword_engine, memory_id).access_count for memory_id in ids} == {5}


def test_a_locked_store_answers_and_counts_later(keyword_engine: Engine, home: Path) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    blocker = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    assert found(keyword_engine, "灯塔") == [memory_id]
    assert time.monotonic() - started < 1.0
    assert keyword_engine.upkeep.count_uses().waiting == 1
    assert found(keyword_engine, "灯塔") == [memory_id]
    blocker.execute("ROLLBACK")
    blocker.close()
    assert strength(keyword_engine, memory_id).access_count == 2


def test_what_cannot_be_written_before_closing_is_logged_with_its_number(
    keyword_engine: Engine, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    remember(keyword_engine, "灯塔在海边")
    for _ in range(3):
        found(keyword_engine, "灯塔")
    blocker = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    with caplog.at_level(logging.WARNING):
        keyword_engine.close()
    assert time.monotonic() - started < 3.0
    assert "3 uses were not counted" in caplog.text
    blocker.close()


def test_closing_counts_what_waits(keyword_engine: Engine, home: Path, clock: FixedClock) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    found(keyword_engine, "灯塔")
    keyword_engine.close()
    with open_engine(home, environ=KEYWORDS, clock=clock) as again:
        assert strength(again, memory_id).access_count == 1


def test_uses_of_what_is_gone_are_dropped(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    found(keyword_engine, "灯塔")
    keyword_engine.erase(memory_id, CALLER)
    done = keyword_engine.upkeep.count_uses()
    assert (done.memories, done.waiting) == (0, 0)


def test_waiting_uses_are_bounded_and_the_rest_is_counted_as_lost() -> None:
    log = AccessLog(most=3)
    log.add([1, 2, 2], 10.0)
    log.add([2, 3, 4, 5], 20.0)
    taken = log.take()
    assert {access.memory_id: access.count for access in taken.accesses} == {1: 1, 2: 2, 3: 1}
    assert (taken.count, taken.lost) == (4, 2)
    assert len(log) == 0
    log.add([2], 30.0)
    log.put_back(taken.accesses)
    assert Access(2, 3, 10.0, 30.0) in log.take().accesses


def test_saying_that_a_memory_matters_is_noted(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    revision = keyword_engine.get(memory_id).revision
    done = keyword_engine.upkeep.reinforce(memory_id, CALLER)
    assert (done.before, done.after) == (1.0, 1.2)
    entry = keyword_engine.history(memory_id)[-1]
    assert (entry.operation, entry.actor) == ("reinforce", CALLER.actor)
    assert entry.changes == {"salience": (1.0, 1.2)}
    used = strength(keyword_engine, memory_id)
    assert (used.salience, used.access_count) == (1.2, 0)
    assert keyword_engine.get(memory_id).revision == revision


def test_at_the_top_nothing_is_written(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    for _ in range(6):
        done = keyword_engine.upkeep.reinforce(memory_id, CALLER)
    assert (done.before, done.after) == (2.0, 2.0)
    operations = [entry.operation for entry in keyword_engine.history(memory_id)]
    assert operations.count("reinforce") == 4


def test_what_is_in_the_trash_cannot_be_reinforced(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    keyword_engine.delete(memory_id, CALLER)
    with pytest.raises(Conflict):
        keyword_engine.upkeep.reinforce(memory_id, CALLER)


def test_saying_so_can_be_undone_though_it_was_used_since(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔在海边")
    keyword_engine.upkeep.reinforce(memory_id, CALLER)
    assert found(keyword_engine, "灯塔") == [memory_id]
    assert strength(keyword_engine, memory_id).salience == pytest.approx(1.26)
    keyword_engine.journal.undo(CALLER)
    assert strength(keyword_engine, memory_id).salience == pytest.approx(1.05)
    keyword_engine.journal.redo(CALLER)
    used = strength(keyword_engine, memory_id)
    assert used.salience == pytest.approx(1.26)
    assert used.access_count == 1
