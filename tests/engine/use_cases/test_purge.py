"""Deadlines: hidden at the instant, found by id, reclaimed after the days of grace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import InvalidInput, NotFound
from engine.domain.fields import FIELDS
from engine.domain.scope import Filters
from engine.storage import graph
from engine.use_cases.edit import EditRequest
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.undo import UndoRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.ageing import days, entries, strength_of
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember

MAINTENANCE = Caller("maintenance")
TEN_MILLION_YEARS = "3650000000d"


def with_ttl(engine: Engine, text: str, ttl: str | float, **fields: object) -> int:
    request = MemorizeRequest({"text": text} | fields, ttl=ttl)
    return engine.memorize(request, CALLER).memory.id


def test_a_memory_is_hidden_at_its_deadline_and_still_found_by_id(
    engine: Engine, clock: FixedClock
) -> None:
    short = with_ttl(engine, "the door code is 4711", "2")
    pinned = with_ttl(engine, "the door code of the cellar is 4712", 2, pinned=True)
    kept = remember(engine, "the door code of the attic is 4713")
    assert set(found(engine, "door code")) == {short, pinned, kept}
    clock.advance(1.99)
    assert set(found(engine, "door code")) == {short, pinned, kept}
    clock.advance(0.01)
    assert found(engine, "door code") == [kept]
    assert set(found(engine, "door code", filters=Filters(include_expired=True))) == {
        short,
        pinned,
        kept,
    }
    assert [memory.id for memory in engine.list().memories] == [kept]
    assert engine.statistics().by_state == {"expired": 2, "live": 1}
    assert engine.get(short).state(clock.now()) == "expired"


@pytest.mark.parametrize(
    "ttl", [-5, 0, "0", "abc", "-1d", "", "7 fortnights", TEN_MILLION_YEARS, float("nan"), "1e3"]
)
def test_deadlines_that_make_no_sense_are_refused(engine: Engine, ttl: str | float) -> None:
    with pytest.raises(InvalidInput):
        with_ttl(engine, "never stored", ttl)
    memory_id = remember(engine, "stays as it is")
    with pytest.raises(InvalidInput):
        engine.edit(EditRequest(memory_id, {}, ttl=ttl), CALLER)
    assert engine.list().total == 1


def test_ttl_and_deadline_exclude_each_other_and_the_past_is_refused(
    engine: Engine, clock: FixedClock
) -> None:
    both = MemorizeRequest({"text": "both", "expires_at": clock.now() + 60}, ttl="7d")
    past = MemorizeRequest({"text": "past", "expires_at": clock.now() - 60})
    far = MemorizeRequest({"text": "far", "expires_at": 253_402_300_800.0})
    for request in (both, past, far):
        with pytest.raises(InvalidInput):
            engine.memorize(request, CALLER)
    memory_id = remember(engine, "no deadline")
    for end in (clock.now() - 60, clock.now(), 253_402_300_800.0):
        with pytest.raises(InvalidInput):
            engine.edit(EditRequest(memory_id, {"expires_at": end}), CALLER)
    assert engine.get(memory_id).expires_at is None


def test_an_edit_may_repeat_a_deadline_that_has_passed(engine: Engine, clock: FixedClock) -> None:
    memory_id = with_ttl(engine, "over", "1h")
    clock.advance(7200)
    fields = {"expires_at": engine.get(memory_id).expires_at, "importance": 0.9}
    assert engine.edit(EditRequest(memory_id, fields), CALLER).changed == ("importance",)


@pytest.mark.parametrize(
    ("ttl", "seconds"), [("90m", 5400), ("24h", 86400), ("7d", 604800), (30, 30), ("30", 30)]
)
def test_durations_have_units(
    engine: Engine, clock: FixedClock, ttl: str | float, seconds: float
) -> None:
    memory_id = with_ttl(engine, "for a while", ttl)
    assert engine.get(memory_id).expires_at == clock.now() + seconds


def test_an_edit_extends_or_clears_a_deadline(engine: Engine, clock: FixedClock) -> None:
    memory_id = with_ttl(engine, "the meeting room is booked", "1h")
    clock.advance(3600)
    assert found(engine, "meeting room") == []
    engine.edit(EditRequest(memory_id, {}, ttl="1h"), CALLER)
    assert found(engine, "meeting room") == [memory_id]
    engine.edit(EditRequest(memory_id, {"expires_at": None}), CALLER)
    clock.advance(days(400))
    assert found(engine, "meeting room") == [memory_id]
    assert engine.forgetting.purge(CALLER, apply=False).doomed == ()


@pytest.fixture
def lapsed(engine: Engine, clock: FixedClock) -> Engine:
    """1 expired, 2 expired and pinned, 3 in the trash, 4 pinned in the trash, 5 live."""
    with_ttl(engine, "小雨和灯塔计划的密码", "1d", participants=["小雨"], topics=["灯塔计划"])
    with_ttl(engine, "pinned and expired", "1d", pinned=True)
    engine.delete(remember(engine, "deleted"), CALLER)
    engine.delete(remember(engine, "pinned and deleted", pinned=True), CALLER)
    remember(engine, "小雨喜欢喝茶", participants=["小雨"])
    return engine


def test_the_cleaner_takes_only_unpinned_rows_past_their_time(
    lapsed: Engine, clock: FixedClock
) -> None:
    def doomed() -> list[tuple[int, str]]:
        return [
            (item.memory_id, item.why)
            for item in lapsed.forgetting.purge(CALLER, apply=False).doomed
        ]

    clock.advance(days(8) - 1)
    assert doomed() == []
    clock.advance(1)
    assert doomed() == [(1, "expired")]
    clock.advance(days(22))
    assert doomed() == [(1, "expired"), (3, "trash")]
    at_day_8 = lapsed.forgetting.purge(CALLER, apply=False, now=clock.now() - days(22))
    assert [item.memory_id for item in at_day_8.doomed] == [1]
    with pytest.raises(InvalidInput):
        lapsed.forgetting.purge(CALLER, apply=True, now=clock.now())


def test_what_is_purged_is_what_was_shown_and_leaves_every_table(
    lapsed: Engine, clock: FixedClock
) -> None:
    clock.advance(days(31))
    uid = lapsed.get(1).uid
    shown = lapsed.forgetting.purge(MAINTENANCE, apply=False)
    done = lapsed.forgetting.purge(MAINTENANCE, apply=True)
    assert (done.doomed, dict(done.counts)) == (shown.doomed, {"expired": 1, "trash": 1})
    assert lapsed.forgetting.purge(MAINTENANCE, apply=True).doomed == ()
    for memory_id in (1, 3):
        with pytest.raises(NotFound):
            lapsed.get(memory_id)
    assert lapsed.get(2).pinned
    assert lapsed.get(4).deleted_at is not None
    names = {node.name for node in lapsed.graph_nodes(limit=50)}
    assert "小雨" in names
    assert "灯塔计划" not in names
    assert disagreements(lapsed.context.database.path) == []
    with lapsed.context.database.read() as connection:
        for table, column in (
            ("memory_body", "memory_id"),
            ("memory_strength", "memory_id"),
            ("memory_label", "memory_id"),
            ("atom_mention", "memory_id"),
            ("graph_mention", "memory_id"),
            ("fts_row", "id"),
            ("piece", "owner_id"),
            ("pending_embedding", "owner_id"),
        ):
            rows = connection.execute(f"SELECT 1 FROM {table} WHERE {column} IN (1, 3)").fetchall()
            assert rows == [], table
        assert connection.execute("SELECT 1 FROM tombstone WHERE uid = ?", (uid,)).fetchone()


def test_each_purged_memory_has_an_entry_with_all_of_its_row(
    lapsed: Engine, clock: FixedClock
) -> None:
    clock.advance(days(31))
    before = lapsed.get(1)
    done = lapsed.forgetting.purge(MAINTENANCE, apply=True)
    purged = entries(lapsed, "purge")
    assert [entry["subject_id"] for entry in purged] == [1, 3]
    assert {(entry["actor"], entry["group_uid"]) for entry in purged} == {
        ("maintenance", done.group_uid)
    }
    kept = json.loads(str(purged[0]["changes"]))
    assert {name: after for name, (_, after) in kept.items()} == dict.fromkeys(kept)
    values = {name: value for name, (value, _) in kept.items()}
    assert values.keys() >= FIELDS.keys() | {"workspace_id", "created_at", "importance_now"}
    assert values.keys() >= {"salience", "decayed_until", "deleted_at", "superseded_by"}
    assert (values["text"], values["participants"]) == (before.text, ["小雨"])
    assert (values["pinned"], values["expires_at"]) == (False, before.expires_at)
    assert json.loads(str(purged[1]["changes"]))["deleted_at"][0] is not None


def test_what_pointed_to_a_purged_memory_is_taken_back_with_entries(
    lapsed: Engine, clock: FixedClock
) -> None:
    with lapsed.context.database.write() as connection:
        connection.execute("INSERT INTO link VALUES (5, 1, 'refines', 7.0)")
        connection.execute("INSERT INTO link VALUES (1, 5, 'related', 8.0)")
        connection.execute(
            """INSERT INTO fact (uid, workspace_id, subject, subject_key, predicate,
            predicate_key, object, object_key, confidence, memory_id, created_at, updated_at)
            VALUES ('f', 1, 'a', 'a', 'b', 'b', 'c', 'c', 1, 1, 0, 0)"""
        )
        connection.execute("UPDATE memory SET superseded_at = 9, superseded_by = 1 WHERE id = 5")
    clock.advance(days(31))
    done = lapsed.forgetting.purge(MAINTENANCE, apply=True)
    unlinked = entries(lapsed, "unlink")
    assert [(row["subject_id"], row["other_id"]) for row in unlinked] == [(1, 5), (5, 1)]
    assert json.loads(str(unlinked[1]["changes"])) == {
        "relation": ["refines", None],
        "created_at": [7.0, None],
    }
    assert unlinked[1]["subject_uid"] == lapsed.get(5).uid
    fact = entries(lapsed, "fact")[-1]
    assert fact["other_id"] == 1
    assert json.loads(str(fact["changes"]))["object"] == ["c", None]
    former = entries(lapsed, "edit")[-1]
    assert json.loads(str(former["changes"])) == {"superseded_by": [1, None]}
    group = {row["group_uid"] for row in (*unlinked, fact, former)}
    assert group == {done.group_uid}
    assert lapsed.get(5).superseded_at == 9
    lapsed.journal.undo(CALLER, UndoRequest(group=done.group_uid))
    with lapsed.context.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM link").fetchone()[0] == 2
        assert connection.execute("SELECT memory_id FROM fact").fetchone()[0] == 1
    assert lapsed.get(5).superseded_by == 1
    assert found(lapsed, "灯塔计划", filters=Filters(include_expired=True))[0] == 1


def test_an_undo_writes_purged_memories_as_they_were(lapsed: Engine, clock: FixedClock) -> None:
    clock.advance(days(10))
    lapsed.forgetting.apply_decay()
    clock.advance(days(21))
    before = [(lapsed.get(key), strength_of(lapsed, key)) for key in (1, 3)]
    done = lapsed.forgetting.purge(MAINTENANCE, apply=True)
    assert lapsed.forgetting.apply_decay().memories == 3
    lapsed.journal.undo(CALLER, UndoRequest(group=done.group_uid))
    assert [(lapsed.get(key), strength_of(lapsed, key)) for key in (1, 3)] == before
    assert found(lapsed, "灯塔计划", filters=Filters(include_expired=True))[0] == 1
    with lapsed.context.database.read() as connection:
        assert "灯塔计划" in {node.name for node in graph.nodes_of_memory(connection, 1)}
    assert disagreements(lapsed.context.database.path) == []


def test_the_days_of_grace_are_settings(home: Path, clock: FixedClock) -> None:
    environ = HASHING | {"JIYI_EXPIRY__GRACE_DAYS": "0", "JIYI_TRASH__KEEP_DAYS": "2"}
    with open_engine(home, environ=environ, clock=clock) as engine:
        with_ttl(engine, "gone at once", "1h")
        engine.delete(remember(engine, "gone in two days"), CALLER)
        clock.advance(3600)
        assert len(engine.forgetting.purge(CALLER, apply=True).doomed) == 1
        clock.advance(days(2))
        assert len(engine.forgetting.purge(CALLER, apply=True).doomed) == 1
