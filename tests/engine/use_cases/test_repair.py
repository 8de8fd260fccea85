"""Repair finds what is wrong, puts it right when told to, and touches no memory."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from engine.bootstrap import Engine
from engine.domain.errors import InvalidInput, StorageDamaged
from engine.storage import fulltext
from engine.storage.database import FILE_NAME
from engine.writing import text_index
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import found, remember_all

TEXTS = ["书房路由器的口令", "会议改到周五", "猫叫馒头", "护照十一月到期"]

DAMAGES = {
    "text_missing": ("DELETE FROM fts_row WHERE id = 1",),
    "text_stray": ("INSERT INTO fts_row VALUES (99, 's', 1, ' 幽灵 ', '', 1)",),
    "text_differs": (
        """INSERT INTO memory_fts (memory_fts, rowid, words, chars)
        SELECT 'delete', id, words, chars FROM fts_row WHERE id = 2""",
    ),
    "text_counts": ("UPDATE fts_total SET row_count = 77 WHERE name = 'memory'",),
    "ownerless_vectors": (
        "UPDATE piece SET owner_id = 77 WHERE owner_id = 4",
        "INSERT INTO pending_embedding VALUES ('memory', 78, 0, 0.0, NULL)",
    ),
    "vectors_missing": ("DELETE FROM piece WHERE owner_id = 3",),
    "vectors_failed": (
        "DELETE FROM piece WHERE owner_id = 3",
        "INSERT INTO pending_embedding VALUES ('memory', 3, 9, 0.0, 'gave up')",
    ),
    "dangling": (
        "INSERT INTO memory_layers VALUES (66, 'r')",
        "INSERT INTO atom_mention VALUES (88, 66, 1.0)",
    ),
}


def by_hand(home: Path, *statements: str) -> None:
    """Change a store as nobody should."""
    connection = sqlite3.connect(home / FILE_NAME)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_found_is_what_is_put_right(engine: Engine, home: Path, name: str) -> None:
    remember_all(engine, TEXTS)
    assert engine.backups.repair(apply=False).findings == ()
    by_hand(home, *DAMAGES[name])
    shown = engine.backups.repair(apply=False)
    assert name in {finding.name for finding in shown.findings}
    assert not shown.applied
    assert engine.backups.repair(apply=False).findings == shown.findings, "looking changes nothing"

    applied = engine.backups.repair(apply=True)

    assert applied.findings == shown.findings
    assert applied.left == ()
    while engine.drain(1.0):
        pass
    assert engine.backups.repair(apply=False).findings == ()
    assert disagreements(home / FILE_NAME) == []
    for memory_id, text in enumerate(TEXTS, start=1):
        assert found(engine, text, k=1) == [memory_id]


def test_all_damages_together_are_put_right_in_one_go(engine: Engine, home: Path) -> None:
    remember_all(engine, TEXTS)
    by_hand(home, *(statement for name in DAMAGES for statement in DAMAGES[name][:1]))
    assert engine.backups.repair(apply=True).left == ()
    assert disagreements(home / FILE_NAME) == []


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_files_that_others_can_read_are_closed(engine: Engine, home: Path) -> None:
    home.chmod(0o755)
    (home / FILE_NAME).chmod(0o644)
    (finding,) = engine.backups.repair(apply=False).findings
    assert finding.name == "exposed"
    assert engine.backups.repair(apply=True).left == ()
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_left_over_files_are_cleared_away(engine: Engine, home: Path) -> None:
    for path in (home / "backups" / "x.db.01234567.partial", home / "cache/vectors/v.graph.bad"):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(b"half")
        os.utime(path, (1, 1))
    names = [finding.name for finding in engine.backups.repair(apply=True).findings]
    assert names == ["index_files", "left_over"]
    assert engine.backups.repair(apply=False).findings == ()


def test_a_damaged_file_is_not_repaired_but_named(engine: Engine, home: Path) -> None:
    remember_all(engine, ("很长的记忆" * 400 for _ in range(20)))
    engine.close()
    with (home / FILE_NAME).open("r+b") as file:
        file.seek(40_960)
        file.write(b"\xff" * 80_000)
    with pytest.raises(StorageDamaged):
        engine.backups.repair(apply=True)


def test_indexes_are_built_again_from_what_is_remembered(engine: Engine, home: Path) -> None:
    remember_all(engine, TEXTS)
    with engine.context.database.write() as connection:
        connection.execute(
            "UPDATE fts_row SET words = ' 别的 ', chars = ' 别 ', segmenter_id = 'x'"
        )
        fulltext.rebuild(connection)
    assert disagreements(home / FILE_NAME) == [], "old, but whole"
    steps: list[tuple[str, int, int]] = []
    done = engine.backups.rebuild_index((), lambda *step: steps.append(step))
    assert (done.memories, done.vectors) == (4, 4)
    assert steps[0] == ("text", 0, 4)
    assert steps[-2:] == [("text", 4, 4), ("vectors", 4, 4)]
    assert found(engine, "路由器", k=1, mode="keyword") == [1]
    assert found(engine, "护照", k=1) == [4]
    assert disagreements(home / FILE_NAME) == []


def test_a_rebuild_that_is_stopped_leaves_a_right_index(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "_BATCH", 3)
    remember_all(engine, (f"第 {number} 条记忆" for number in range(7)))

    def stop(_part: str, done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.backups.rebuild_index(("text",), stop)
    assert disagreements(home / FILE_NAME) == []


def test_another_part_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidInput):
        engine.backups.rebuild_index(("graph",), lambda *_: None)
