"""maintenance, pin, archive, tag and bump on the command line."""

from __future__ import annotations

import time

import pytest

from engine import jobs


@pytest.fixture
def filled(jiyi):
    for text in ("灯塔在海边", "山上有雪", "小明住在杭州"):
        assert jiyi("remember", text).code == 0
    return jiyi


def memory(jiyi, ref):
    return jiyi("show", ref, "--json").json


def test_pin_and_unpin_several(filled):
    done = filled("pin", "1", "2", "--json").json
    assert (done["changed"], done["unchanged"], done["failed"]) == ([1, 2], 0, [])
    assert memory(filled, "1")["pinned"]
    assert filled("pin", "1", "3").lines == [["#3", "pin"]]
    assert filled("pin", "1", "--off", "--json").json["changed"] == [1]
    assert not memory(filled, "1")["pinned"]


def test_archive_and_back(filled):
    assert filled("archive", "3").lines == [["#3", "archive"]]
    assert memory(filled, "3")["state"] == "archived"
    shown = filled.terminal("archive", "3", "--off")
    assert "Back from the archive: #3" in shown.out
    assert memory(filled, "3")["state"] == "live"


def test_tags_are_added_and_taken_away(filled):
    assert filled("tag", "1", "2", "--add", "海", "--add", "光").code == 0
    assert filled("tag", "2", "--remove", "海", "--json").json["changed"] == [2]
    assert memory(filled, "1")["tags"] == ["海", "光"]
    assert memory(filled, "2")["tags"] == ["光"]
    nothing = filled("tag", "1")
    assert (nothing.code, "--add" in nothing.err) == (2, True)


def test_bump_says_how_much(filled):
    assert filled("bump", "1").lines == [["#1", "1.000", "1.200"]]
    assert "1.20 → 1.44" in filled.terminal("bump", "1").out
    missing = filled("bump", "99", "2", "--json")
    assert missing.code == 1
    assert [item["id"] for item in missing.json["results"]] == [2]


def test_what_a_person_recalls_counts_and_what_is_only_looked_at_does_not(filled):
    before = filled("recall", "灯塔", "--no-touch", "--json")
    filled("list")
    filled("recall", "灯塔", "-k", "1")
    filled("show", "1")
    assert before.code == 0
    from engine.bootstrap import open_engine

    with open_engine(filled.home) as engine:
        used = [engine.browsing.strength(memory_id) for memory_id in (1, 2)]
    assert [strength and strength.access_count for strength in used] == [2, 0]


def test_a_tick_runs_what_is_due_once(filled):
    done = filled("maintenance", "tick", "--json").json
    assert {"decay", "atoms", "purge"} <= {item["job"] for item in done["reports"]}
    assert all(item["error"] is None for item in done["reports"])
    again = filled("maintenance", "tick")
    assert (again.code, again.out, again.err) == (0, "", "Nothing is due.\n")


def test_named_jobs_can_be_looked_at_first(filled):
    rows = filled("maintenance", "tick", "--job", "prune", "--job", "decay", "--dry-run").lines
    assert [row[:2] for row in rows] == [["decay", "dry-run"], ["prune", "dry-run"]]
    wrong = filled("maintenance", "tick", "--job", "prun")
    assert wrong.code == 1 and "prune" in wrong.err


def test_a_failing_job_is_seen_everywhere(filled, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(jobs, "purge", fail)
    done = filled("maintenance", "tick", "--json")
    assert done.code == 1
    failed = [item for item in done.json["reports"] if item["error"]]
    assert [item["job"] for item in failed] == ["purge"]
    assert "ZeroDivisionError" in failed[0]["error"]
    status = filled("maintenance", "--json").json
    (purge,) = [item for item in status["jobs"] if item["job"] == "purge"]
    assert purge["last_success_at"] is None and "ZeroDivisionError" in purge["error"]
    assert "failed: Something unexpected" in filled.terminal("maintenance", "status").out


def test_status_shows_jobs_and_runs(filled):
    filled("maintenance", "tick")
    shown = filled.terminal("maintenance").out
    assert "decay (fading)" in shown and "Last runs" in shown and "off" in shown
    status = filled("maintenance", "--json").json
    assert (status["enabled"], status["running"]) == (True, None)
    assert status["runs"][0]["actor"] == "cli"


def test_it_can_go_on_beside_and_be_stopped(jiyi):
    started = jiyi("maintenance", "start", "--json").json
    pid = started["running"]["pid"]
    try:
        assert jiyi("maintenance", "start").code == 1
        deadline = time.monotonic() + 60.0
        while not (status := jiyi("maintenance", "--json").json)["runs"]:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert status["running"]["pid"] == pid
        assert status["runs"][0]["actor"] == "maintenance"
    finally:
        stopped = jiyi("maintenance", "stop", "--json").json
    assert stopped["stopped"]["pid"] == pid
    assert jiyi("maintenance", "stop", "--json").json == {"stopped": None}


def test_switched_off_it_says_so_and_the_tick_works_all_the_same(filled, monkeypatch):
    monkeypatch.setenv("JIYI_MAINTENANCE__ENABLED", "false")
    refused = filled("maintenance", "run")
    assert refused.code == 1 and "maintenance.enabled" in refused.err
    assert "maintenance.enabled" in filled.terminal("maintenance").err
    assert filled("maintenance", "tick").lines
