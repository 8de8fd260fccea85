"""Forget: the trash and back, or for good and without a trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import NotFound
from engine.domain.scope import Filters
from engine.use_cases.edit import EditRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember, remember_all

NUMERALS = "一二三四五"
MODES = ("auto", "keyword", "semantic")


@pytest.fixture
def rules(engine: Engine) -> list[int]:
    """Five nearly equal memories of which the fourth alone is not deleted."""
    ids = [remember(engine, f"门禁码规则{number}", tags=[f"规则{number}"]) for number in NUMERALS]
    for memory_id in (*ids[:3], ids[4]):
        engine.delete(memory_id, CALLER)
    return ids


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_deleted_memories_take_no_places(
    engine: Engine, home: Path, clock: FixedClock, rules: list[int], k: int, mode: str
) -> None:
    assert found(engine, "门禁码规则", k=k, mode=mode) == [rules[3]]
    engine.close()
    with open_engine(home, environ=HASHING, clock=clock) as restarted:
        assert found(restarted, "门禁码规则", k=k, mode=mode) == [rules[3]]


def test_nothing_of_a_deleted_memory_shows_outside_the_trash(
    engine: Engine, rules: list[int]
) -> None:
    assert [memory.id for memory in engine.list().memories] == [rules[3]]
    numbers = engine.statistics()
    assert (numbers.total, numbers.by_tag) == (1, {"规则四": 1})
    assert numbers.by_state == {"deleted": 4, "live": 1}
    trash = engine.list(Filters(deleted_only=True))
    assert trash.total == 4
    diagnosis = engine.diagnose()
    assert (diagnosis.counts.live, diagnosis.counts.trash, diagnosis.counts.agree) == (1, 4, True)
    assert diagnosis.vectors.embedded == 1
    assert engine.get(rules[0]).state(engine.context.clock.now()) == "deleted"


@pytest.mark.parametrize("mode", MODES)
def test_a_restored_memory_is_found_again(engine: Engine, rules: list[int], mode: str) -> None:
    change = engine.restore(rules[0], CALLER)
    assert (change.changed, change.was) == (True, "deleted")
    assert set(found(engine, "门禁码规则", mode=mode)) == {rules[0], rules[3]}
    assert engine.get(rules[0]).deleted_at is None


def test_deleting_and_restoring_twice_is_harmless(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    first, second = engine.delete(memory_id, CALLER), engine.delete(memory_id, CALLER)
    assert (first.changed, second.changed, second.was) == (True, False, "deleted")
    engine.restore(memory_id, CALLER)
    again = engine.restore(memory_id, CALLER)
    assert (again.changed, again.was) == (False, "live")
    assert [entry.operation for entry in engine.history(memory_id)] == [
        "memorize", "delete", "restore",
    ]  # fmt: skip
    assert engine.get(memory_id).revision == 3
    with pytest.raises(NotFound):
        engine.delete(99, CALLER)


def test_a_memory_is_restored_from_each_state_that_hides_it(engine: Engine) -> None:
    memory_id = remember(engine, "文")
    for column in ("archived_at", "superseded_at"):
        with engine.context.database.write() as connection:
            connection.execute(f"UPDATE memory SET {column} = 1.0")
        change = engine.restore(memory_id, CALLER)
        assert change.was == column.removesuffix("_at")
        assert getattr(change.memory, column) is None
    engine.delete(memory_id, CALLER)
    with engine.context.database.write() as connection:
        connection.execute("UPDATE memory SET superseded_at = 1.0")
    assert engine.restore(memory_id, CALLER).memory.state(0.0) == "superseded"
    assert engine.restore(memory_id, CALLER).memory.state(0.0) == "live"


def test_a_hundred_rounds_through_the_trash_leave_a_store_that_agrees(
    engine: Engine, home: Path
) -> None:
    memory_id = remember(engine, "门禁码规则一")
    for _ in range(100):
        engine.delete(memory_id, CALLER)
        engine.restore(memory_id, CALLER)
    engine.delete(memory_id, CALLER)
    engine.erase(memory_id, CALLER)
    assert found(engine, "门禁码规则一") == []
    assert disagreements(home / "jiyi.db") == []


@pytest.mark.parametrize("from_trash", [True, False])
def test_an_erased_memory_leaves_a_tombstone_and_no_text(
    engine: Engine, home: Path, from_trash: bool
) -> None:
    secret = "保险箱口令Xyzzy42在灯塔"
    memory_id = remember(engine, secret, tags=["Xyzzy42标签"], summary=f"摘要{secret}")
    remember(engine, "别的记忆", tags=["留下"])
    uid = engine.get(memory_id).uid
    engine.edit(EditRequest(memory_id, {"text": secret + "顶"}), CALLER)
    if from_trash:
        engine.delete(memory_id, CALLER)
    assert engine.erase(memory_id, CALLER).text == secret + "顶"
    with pytest.raises(NotFound):
        engine.get(memory_id)
    for mode in MODES:
        assert memory_id not in found(engine, secret, mode=mode)
    assert tables_that_hold(engine, ("xyzzy42", "Xyzzy42", "保险", "灯塔")) == []
    with engine.context.database.read() as connection:
        assert connection.execute("SELECT uid FROM tombstone").fetchone()[0] == uid
        operations = connection.execute(
            "SELECT operation, changes FROM journal WHERE subject_id = ? ORDER BY id", (memory_id,)
        ).fetchall()
    assert [tuple(row) for row in operations][-1] == ("purge", "{}")
    assert disagreements(home / "jiyi.db") == []


def tables_that_hold(engine: Engine, needles: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every table with a value, text or bytes, in which one of the needles stands."""
    found_in = []
    with engine.context.database.read() as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"
        ).fetchall()
        for (table,) in map(tuple, tables):
            if table in ("memory_fts", "atom_fts", "entry_fts"):
                continue
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                raw = b"\0".join(
                    value if isinstance(value, bytes) else str(value).encode() for value in row
                )
                found_in += [(table, needle) for needle in needles if needle.encode() in raw]
    return found_in


def test_a_memory_that_waited_for_vectors_is_erased_with_its_place_in_the_queue(
    keyword_engine: Engine,
) -> None:
    memory_id = remember(keyword_engine, "文")
    keyword_engine.erase(memory_id, CALLER)
    with keyword_engine.context.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM pending_embedding").fetchone()[0] == 0


def test_erasing_a_successor_keeps_what_it_superseded(engine: Engine) -> None:
    old, new = remember_all(engine, ["旧", "新"])
    with engine.context.database.write() as connection:
        connection.execute(
            "UPDATE memory SET superseded_by = ?, superseded_at = 1.0 WHERE id = ?", (new, old)
        )
    engine.erase(new, CALLER)
    assert (engine.get(old).superseded_by, engine.get(old).superseded_at) == (None, 1.0)
