"""The journal's retention: whole groups, oldest first, into compressed files or away."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import InvalidInput
from engine.storage import journal_archive
from engine.use_cases import bulk
from engine.use_cases import journal as use_case
from engine.use_cases.bulk import BulkRequest
from engine.use_cases.edit import EditRequest
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, remember, remember_all

DAY_S = 86_400.0


def entries(engine: Engine) -> list[tuple[int, str]]:
    """Every entry in the table: its number and group."""
    with engine.context.database.read() as connection:
        rows = connection.execute("SELECT id, group_uid FROM journal ORDER BY id").fetchall()
    return [tuple(row) for row in rows]


def archived(home: Path) -> list[int]:
    """The numbers of all entries in the archived files."""
    lines = [
        line for path in journal_archive.files(home) for line in journal_archive.lines_in(path)
    ]
    return [json.loads(line)["id"] for line in lines]


def test_old_entries_go_to_a_file_in_whole_groups(
    keyword_engine: Engine, clock: FixedClock, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_case, "_BATCH", 4)
    engine = keyword_engine
    ids = remember_all(engine, [f"Memory {number}" for number in range(10)])
    bulk.change_many(engine.context, BulkRequest(ids, "pin"), CALLER)
    everything = entries(engine)
    clock.advance(100 * DAY_S)
    remember(engine, "new")
    moment = clock.now()
    done = engine.journal.trim()
    left = entries(engine)
    assert done.removed == len(everything)
    assert sorted(archived(home)) == [entry_id for entry_id, _ in everything]
    assert {group for _, group in left} & {group for _, group in everything} == set()
    assert done.archived_to is not None
    if os.name != "nt":
        assert done.archived_to.stat().st_mode & 0o777 == 0o600
        assert done.archived_to.parent.stat().st_mode & 0o777 == 0o700
    with gzip.open(done.archived_to, "rt", encoding="utf-8") as file:
        assert len(file.readlines()) == done.removed
    assert engine.journal.state_at(moment).total == 11
    with pytest.raises(InvalidInput, match="before_journal"):
        engine.journal.state_at(moment - 50 * DAY_S)
    assert engine.journal.reaches_back_to() == moment
    again = engine.journal.trim()
    assert (again.removed, again.archived_to) == (0, None)


def test_a_group_that_reaches_into_what_is_kept_stays_whole(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    engine = keyword_engine
    ids = remember_all(engine, ["one", "two", "three"])
    with engine.context.database.write() as connection:
        connection.execute("UPDATE journal SET group_uid = 'g' WHERE subject_kind = 'memory'")
        groups = {row[0] for row in connection.execute("SELECT id FROM journal")}
    clock.advance(100 * DAY_S)
    engine.edit(EditRequest(ids[0], {"text": "later"}), CALLER)
    with engine.context.database.write() as connection:
        connection.execute(
            "UPDATE journal SET group_uid = 'g' WHERE id = (SELECT max(id) FROM journal)"
        )
    engine.journal.trim()
    left = {entry_id for entry_id, group in entries(engine) if group == "g"}
    assert len(left) >= 4
    assert left & groups


def test_the_size_is_a_bound_as_well(home: Path, clock: FixedClock) -> None:
    with open_engine(home, environ=KEYWORDS | {"JIYI_JOURNAL__MAX_MB": "1"}, clock=clock) as engine:
        memory_id = remember(engine, "x")
        for number in range(8):
            engine.edit(EditRequest(memory_id, {"text": f"{number}" + "long " * 20_000}), CALLER)
        before = engine.journal.trim()
        assert before.removed > 0
        assert before.size_bytes > 1_000_000
        left = engine.journal.trim()
        assert (left.removed, left.size_bytes <= 1_000_000) == (0, True)
        engine.journal.undo(CALLER)
        assert engine.get(memory_id).text.startswith("6")


def test_old_entries_can_be_dropped_instead(home: Path, clock: FixedClock) -> None:
    environ = KEYWORDS | {"JIYI_JOURNAL__OLDER": "drop"}
    with open_engine(home, environ=environ, clock=clock) as engine:
        remember(engine, "x")
        clock.advance(100 * DAY_S)
        done = engine.journal.trim()
        assert (done.removed > 0, done.left, done.archived_to) == (True, 0, None)
        assert journal_archive.files(home) == []
        assert engine.journal.reaches_back_to() == float("inf")
        remember(engine, "y")
        assert engine.journal.reaches_back_to() == clock.now()
