"""What doctor says about the disk, the place, backups, upkeep and the journal."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.jobs import JobProblem, JobState
from engine.storage import places
from engine.storage.places import NETWORK, Place
from engine.use_cases import surroundings
from tests.engine.use_cases.shortcuts import HASHING, remember

DAY_S = 86_400.0


def checks(engine: Engine) -> dict[str, tuple[str, str]]:
    return {check.name: (check.status, check.key) for check in engine.diagnose().checks}


def test_a_new_store_is_healthy_in_every_respect(engine: Engine) -> None:
    remember(engine, "一")
    found = checks(engine)
    assert {status for status, _ in found.values()} == {"ok"}
    assert {"disk", "place", "backups", "journal", "index_files", "upkeep"} <= set(found)


@pytest.mark.parametrize(
    ("free", "expected"),
    [(10_000_000, "failure"), (64_100_000, "warning"), (10_000_000_000, "ok")],
)
def test_little_room_on_the_disk_is_said(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, free: int, expected: str
) -> None:
    usage = shutil.disk_usage(engine.context.home)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
    assert checks(engine)["disk"][0] == expected


def test_a_synced_folder_is_warned_of_at_the_start_and_by_doctor(
    tmp_path: Path, clock: FixedClock
) -> None:
    with open_engine(tmp_path / "OneDrive" / "记忆", environ=HASHING, clock=clock) as engine:
        assert "notice.place_synced" in [notice.key for notice in engine.notices]
        assert checks(engine)["place"] == ("warning", "doctor.place_synced")
        assert engine.diagnose().healthy


def test_a_network_drive_is_warned_of(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "place_of", lambda _: Place(NETWORK, "cifs"))
    assert checks(engine)["place"] == ("warning", "doctor.place_network")


def test_a_copy_beside_the_store_is_named(engine: Engine, home: Path) -> None:
    (home / "jiyi-conflict.db").write_bytes(b"")
    assert checks(engine)["place"] == ("warning", "doctor.place_copies")


def test_backups_that_stay_away_are_said(engine: Engine, clock: FixedClock) -> None:
    remember(engine, "一")
    assert checks(engine)["backups"] == ("ok", "doctor.backups_none")
    clock.advance(4 * DAY_S)
    assert checks(engine)["backups"] == ("warning", "doctor.backups_none")
    engine.backups.make()
    assert checks(engine)["backups"] == ("ok", "doctor.backups_ok")
    clock.advance(4 * DAY_S)
    assert checks(engine)["backups"] == ("warning", "doctor.backups_late")


def test_a_failing_job_is_a_failure_with_its_reason(engine: Engine) -> None:
    problem = JobProblem("error.disk_full", {"path": "/x"})
    failing = [JobState("backup", 1.0, None, problem)]
    found = {check.name: check for check in surroundings.look_around(engine.context, failing)}
    assert found["upkeep"].status == "failure"
    assert found["upkeep"].params["job"] == "backup"


def test_a_journal_beyond_its_bound_is_said(home: Path, clock: FixedClock) -> None:
    with open_engine(home, environ=HASHING | {"JIYI_JOURNAL__MAX_MB": "1"}, clock=clock) as engine:
        with engine.context.database.write() as connection:
            connection.execute(
                """INSERT INTO journal (group_uid, at, operation, actor, subject_kind, subject_id,
                subject_uid, changes) VALUES ('g', 1.0, 'edit', 't', 'memory', 1, 'u',
                json_object('text', json_array(NULL, hex(zeroblob(1500000)))))"""
            )
        assert checks(engine)["journal"] == ("warning", "doctor.journal_large")


DAMAGED_INDEXES = {
    "pages-lost": "DELETE FROM memory_fts_data WHERE id > 10",
    "pages-empty": "UPDATE memory_fts_data SET block = zeroblob(8) WHERE id > 10",
    "atoms": "DELETE FROM atom_fts_data WHERE id > 10",
}


@pytest.mark.parametrize("statement", DAMAGED_INDEXES.values(), ids=DAMAGED_INDEXES)
def test_a_damaged_text_index_is_named_and_repaired(engine: Engine, statement: str) -> None:
    for number in range(10):
        remember(engine, f"第 {number} 条，关于书房的路由器和会议")
    with engine.context.database.write() as connection:
        connection.execute(statement)
    assert checks(engine)["fulltext"][0] == "failure"
    assert checks(engine)["store"][0] == "ok"
    assert engine.backups.repair(apply=False).findings
    assert engine.backups.repair(apply=True).left == ()
    assert checks(engine)["fulltext"][0] == "ok"
