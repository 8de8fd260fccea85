"""A text index out of step is noticed, repaired, and never costs a memory."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.storage import fulltext
from engine.storage.database import FILE_NAME
from engine.use_cases.edit import EditRequest
from engine.use_cases.maintain import Repaired, fill_missing_text
from engine.writing import text_index
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember, remember_all

TEXTS = ["书房路由器的口令", "会议改到周五", "猫叫馒头", "护照十一月到期"]


def by_hand(home: Path, *statements: str) -> None:
    """Change a store as nobody should."""
    connection = sqlite3.connect(home / FILE_NAME)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


LOSE_TEXT_ROW = "DELETE FROM fts_row WHERE id = 1"
LOSE_ENTRY = """INSERT INTO memory_fts (memory_fts, rowid, words, chars)
    SELECT 'delete', id, words, chars FROM fts_row WHERE id = 2"""
LOSE_INDEX = "INSERT INTO memory_fts (memory_fts) VALUES ('delete-all')"
LOSE_COUNTS = "UPDATE fts_total SET row_count = 77"
ADD_STRAY = "INSERT INTO fts_row VALUES (99, 's', 1, ' 幽灵 ', '', 1)"
HIDE_BY_HAND = "UPDATE memory SET deleted_at = 1.0 WHERE id = 3"
COPY_ROW = (
    """INSERT INTO memory SELECT 50, 'u' || uid, workspace_id, kind, importance, pinned, private,
    sentiment, polarity, source, trust, review_state, session_id, position, persona_id, user_id,
    agent, origin, created_at, updated_at, event_time, expires_at, archived_at, superseded_by,
    superseded_at, deleted_at, revision, content_hash FROM memory WHERE id = 1""",
    """INSERT INTO memory_body (memory_id, text, topics, participants, key_facts, tags)
    VALUES (50, '手工写入的灯塔', '[]', '[]', '[]', '[]')""",
    "INSERT INTO memory_strength VALUES (50, 0.5, 1.0, NULL, 0, 0.0, 0.0)",
    """INSERT INTO journal (id, group_uid, at, operation, actor, subject_kind, subject_id,
    subject_uid, changes) VALUES (500, 'g', 1.0, 'memorize', 'hand', 'memory', 50, 'u', '{}')""",
    "INSERT INTO change (subject_kind, subject_id) VALUES ('memory', 50)",
    "INSERT INTO pending_embedding VALUES ('memory', 50, 0, 0.0, NULL)",
)


@pytest.fixture
def broken(engine: Engine, home: Path, request: pytest.FixtureRequest) -> Engine:
    """An engine on a store that was changed by hand."""
    remember_all(engine, TEXTS)
    by_hand(home, *request.param)
    return engine


DAMAGES = {
    "text-row-lost": (LOSE_TEXT_ROW,),
    "entry-lost": (LOSE_ENTRY,),
    "index-lost": (LOSE_INDEX,),
    "counts-wrong": (LOSE_COUNTS,),
    "stray-row": (ADD_STRAY,),
    "hidden-by-hand": (HIDE_BY_HAND,),
    "row-added": COPY_ROW,
    "lost-and-stray": (LOSE_TEXT_ROW, ADD_STRAY),
    "everything": (LOSE_ENTRY, LOSE_TEXT_ROW, ADD_STRAY, HIDE_BY_HAND, *COPY_ROW),
}


@pytest.mark.parametrize("broken", DAMAGES.values(), ids=DAMAGES, indirect=True)
def test_every_damage_is_named_and_one_repair_mends_it(broken: Engine, home: Path) -> None:
    checks = {check.name: check.status for check in broken.diagnose().checks}
    assert checks["fulltext"] == "failure"
    broken.repair()
    assert disagreements(home / FILE_NAME) == []
    assert broken.diagnose().healthy
    for memory in broken.list().memories:
        assert found(broken, memory.text, k=1, mode="keyword") == [memory.id]
    assert broken.repair() == Repaired(0, 0, False, 0)


@pytest.mark.parametrize("broken", DAMAGES.values(), ids=DAMAGES, indirect=True)
def test_with_every_damage_edit_delete_restore_and_erase_succeed(
    broken: Engine, home: Path
) -> None:
    for memory in broken.list().memories:
        broken.edit(EditRequest(memory.id, {"text": memory.text + "新"}), CALLER)
        assert found(broken, memory.text + "新", k=1, mode="keyword") == [memory.id]
        broken.delete(memory.id, CALLER)
        assert memory.id not in found(broken, memory.text, mode="keyword")
        broken.restore(memory.id, CALLER)
        assert found(broken, memory.text + "新", k=1, mode="keyword") == [memory.id]
    broken.erase(1, CALLER)
    remember(broken, "后来的")
    broken.repair()
    assert disagreements(home / FILE_NAME) == []


def test_a_start_fills_in_what_full_text_cannot_see(
    engine: Engine, home: Path, clock: FixedClock
) -> None:
    remember_all(engine, TEXTS)
    engine.close()
    by_hand(home, LOSE_TEXT_ROW, LOSE_ENTRY, *COPY_ROW)
    with open_engine(home, environ=HASHING, clock=clock) as restarted:
        assert found(restarted, "灯塔", mode="keyword") == []
        assert fill_missing_text(restarted.context) == 2
        assert found(restarted, "灯塔", k=1, mode="keyword") == [50]
        assert found(restarted, TEXTS[0], k=1, mode="keyword") == [1]


def test_a_healthy_store_is_looked_at_without_a_write(engine: Engine, home: Path) -> None:
    remember_all(engine, TEXTS)
    with engine.context.database.write():
        assert fill_missing_text(engine.context) == 0


def test_more_than_one_batch_is_filled_in(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "_BATCH", 3)
    remember_all(engine, (f"记忆 {number}" for number in range(7)))
    with engine.context.database.write() as connection:
        connection.execute("DELETE FROM fts_row")
        fulltext.rebuild(connection)
    assert fill_missing_text(engine.context) == 7
    assert engine.diagnose().healthy
