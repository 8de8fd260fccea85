"""Upkeep: what is due is done once, by one process, and a failure is seen and harms nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping
from datetime import UTC
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.config.messages import LANGUAGES, catalogue
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, InvalidInput
from engine.domain.jobs import JobProblem, JobState
from engine.jobs import build_jobs
from engine.lifecycle.schedule import DailyMoment
from engine.storage import leases
from engine.storage.database import FILE_NAME
from engine.use_cases import maintenance
from engine.use_cases.maintenance import (
    LEASE,
    LEASE_S,
    Job,
    Tick,
    TickRequest,
    failing_jobs,
    job_statuses,
    last_runs,
    tick,
)
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, remember

HOUR, DAY = 3_600.0, 86_400.0


class Work:
    """A job of a test: counts its runs, or fails."""

    def __init__(self, name: str = "work", fails: Exception | None = None, **how: object) -> None:
        self.runs: list[bool] = []
        self.fails = fails
        self.job = Job(name, self, **how)  # type: ignore[arg-type]

    def __call__(self, apply: bool) -> Mapping[str, int]:
        self.runs.append(apply)
        if self.fails is not None:
            raise self.fails
        return {"memories": 1}


def ticked(engine: Engine, *works: Work, **how: object) -> Tick:
    request = TickRequest("test", **how)  # type: ignore[arg-type]
    return tick(engine.context, [work.job for work in works], request)


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_WAIT_S", 0.2)


def test_a_job_is_due_by_its_own_interval(keyword_engine: Engine, clock: FixedClock) -> None:
    often, seldom = Work("often", interval_s=HOUR), Work("seldom", interval_s=DAY)
    for _ in range(49):
        ticked(keyword_engine, often, seldom)
        clock.advance(HOUR / 2)
    assert (len(often.runs), len(seldom.runs)) == (25, 2)


def test_a_daily_job_runs_once_after_its_moment(keyword_engine: Engine, clock: FixedClock) -> None:
    work = Work(daily=DailyMoment(0, 5, UTC))
    # The clock stands at 08:00 on some day.
    ran_at = []
    for hour in range(8, 56):
        if ticked(keyword_engine, work).reports:
            ran_at.append(hour)
        clock.advance(HOUR)
    assert ran_at == [8, 25, 49]


def test_ticking_twice_does_nothing_twice(keyword_engine: Engine) -> None:
    work = Work()
    first, second = ticked(keyword_engine, work), ticked(keyword_engine, work)
    assert (len(first.reports), second) == (1, Tick())
    assert len(last_runs(keyword_engine.context)) == 1


def test_after_a_month_off_a_job_runs_once(keyword_engine: Engine, clock: FixedClock) -> None:
    work = Work(interval_s=HOUR)
    ticked(keyword_engine, work)
    clock.advance(30 * DAY)
    ticked(keyword_engine, work)
    assert len(work.runs) == 2


def test_a_clock_set_back_stops_no_job(keyword_engine: Engine, clock: FixedClock) -> None:
    work = Work(interval_s=HOUR)
    ticked(keyword_engine, work)
    clock.advance(-400 * DAY)
    ticked(keyword_engine, work)
    clock.advance(HOUR)
    ticked(keyword_engine, work)
    assert len(work.runs) == 3


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (Conflict("error.store_busy", path="x"), JobProblem("error.store_busy", {"path": "x"})),
        (ZeroDivisionError("text"), JobProblem("error.job_failed", {"kind": "ZeroDivisionError"})),
    ],
)
def test_a_failure_is_reported_keeps_its_turn_and_stops_no_other(
    keyword_engine: Engine, clock: FixedClock, fault: Exception, problem: JobProblem
) -> None:
    bad, good = Work("bad", fault), Work("good")
    done = ticked(keyword_engine, bad, good)
    assert [report.problem for report in done.reports] == [problem, None]
    assert [report.name for report in done.failed] == ["bad"]
    assert failing_jobs(keyword_engine.context) == [JobState("bad", clock.now(), None, problem)]
    ticked(keyword_engine, bad, good)
    assert (len(bad.runs), len(good.runs)) == (2, 1)
    bad.fails = None
    ticked(keyword_engine, bad, good)
    assert failing_jobs(keyword_engine.context) == []
    ticked(keyword_engine, bad, good)
    assert len(bad.runs) == 3


def test_a_failure_after_successes_does_not_hide_the_last_one(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    work = Work(interval_s=HOUR)
    ticked(keyword_engine, work)
    good_at = clock.now()
    work.fails = ZeroDivisionError()
    clock.advance(2 * HOUR)
    ticked(keyword_engine, work)
    (status,) = job_statuses(keyword_engine.context, [work.job])
    assert status.state.last_success_at == good_at
    assert status.state.last_run_at == clock.now()
    assert status.is_due


def test_a_look_that_settings_ask_for_is_the_turn_of_the_job(keyword_engine: Engine) -> None:
    work = Work(applies=False)
    report = ticked(keyword_engine, work).reports[0]
    assert (work.runs, report.dry_run) == ([False], True)
    assert ticked(keyword_engine, work).reports == ()


def test_a_look_that_somebody_asked_for_is_not(keyword_engine: Engine) -> None:
    work, blind = Work(), Work("blind", has_preview=False)
    done = ticked(keyword_engine, work, blind, apply=False)
    assert [report.name for report in done.reports] == ["work"]
    ticked(keyword_engine, work, blind)
    assert (work.runs, blind.runs) == ([False, True], [True])


def test_named_jobs_run_due_or_not_on_or_off(keyword_engine: Engine) -> None:
    off, other = Work("off", enabled=False, applies=False), Work("other")
    ticked(keyword_engine, off, other)
    assert (off.runs, len(other.runs)) == ([], 1)
    ticked(keyword_engine, off, other, names=["off"], apply=True)
    assert (off.runs, len(other.runs)) == ([True], 1)
    with pytest.raises(InvalidInput):
        ticked(keyword_engine, off, names=["offf"])


def test_the_last_fifty_runs_are_kept(keyword_engine: Engine, clock: FixedClock) -> None:
    work = Work(interval_s=HOUR)
    for _ in range(60):
        ticked(keyword_engine, work)
        clock.advance(HOUR)
    runs = last_runs(keyword_engine.context)
    assert len(runs) == 50
    assert runs[0].started_at == clock.now() - HOUR
    assert runs[0].actor == "test"
    assert runs[0].reports[0].counts == {"memories": 1}


def test_what_fails_again_and_again_leaves_the_other_runs_to_be_seen(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    good, bad = Work("good", interval_s=DAY), Work("bad", ZeroDivisionError())
    for _ in range(100):
        ticked(keyword_engine, good, bad)
        clock.advance(300.0)
    runs = last_runs(keyword_engine.context)
    assert [[report.name for report in run.reports] for run in runs] == [
        ["bad"],
        ["good", "bad"],
    ]
    assert runs[0].ended_at - runs[0].started_at == pytest.approx(98 * 300.0)


def test_a_quiet_job_that_counted_nothing_is_no_run(keyword_engine: Engine) -> None:
    quiet = Job("quiet", lambda _: {"briefings": 0}, quiet=True)
    assert len(tick(keyword_engine.context, [quiet], TickRequest("test")).reports) == 1
    assert last_runs(keyword_engine.context) == []
    assert not tick(keyword_engine.context, [quiet], TickRequest("test")).reports


def test_two_processes_at_once_do_the_work_once(
    keyword_engine: Engine, home: Path, clock: FixedClock
) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def wait(_: bool) -> Mapping[str, int]:
        begun.set()
        assert may_end.wait(10.0)
        return {}

    slow, work = Job("slow", wait), Work("work")
    with open_engine(home, environ=KEYWORDS, clock=clock) as other:
        jobs, request = [slow, work.job], TickRequest("first")
        thread = threading.Thread(target=lambda: tick(keyword_engine.context, jobs, request))
        thread.start()
        assert begun.wait(10.0)
        assert ticked(other, work).elsewhere
        assert ticked(keyword_engine, work).elsewhere
        may_end.set()
        thread.join(10.0)
        assert ticked(other, work) == Tick()
    assert len(work.runs) == 1


def test_a_killed_holder_blocks_nobody_for_longer_than_the_lease(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    work = Work()
    with keyword_engine.context.database.write() as connection:
        leases.take(connection, LEASE, "killed", clock.now(), LEASE_S)
    assert ticked(keyword_engine, work).elsewhere
    clock.advance(LEASE_S + 1.0)
    assert len(ticked(keyword_engine, work).reports) == 1


def test_a_lease_from_before_the_clock_was_set_back_has_ended(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    work = Work()
    with keyword_engine.context.database.write() as connection:
        leases.take(connection, LEASE, "killed", clock.now(), LEASE_S)
    clock.advance(-DAY)
    assert len(ticked(keyword_engine, work).reports) == 1


def test_the_lease_is_renewed_while_the_work_lasts(
    keyword_engine: Engine, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_RENEW_S", 0.02)
    ends: list[float] = []

    def read_end() -> float:
        with keyword_engine.context.database.read() as connection:
            return float(connection.execute("SELECT max(expires_at) FROM lease").fetchone()[0])

    def work(_: bool) -> Mapping[str, int]:
        ends.append(read_end())
        clock.advance(LEASE_S / 2)
        for _attempt in range(500):
            if read_end() > ends[0]:
                break
            threading.Event().wait(0.01)
        ends.append(read_end())
        return {}

    tick(keyword_engine.context, [Job("long", work)], TickRequest("test"))
    assert ends[1] - ends[0] == pytest.approx(LEASE_S / 2)
    assert read_no_lease(keyword_engine)


def read_no_lease(engine: Engine) -> bool:
    with engine.context.database.read() as connection:
        return connection.execute("SELECT 1 FROM lease").fetchone() is None


def test_who_lost_the_lease_does_not_begin_another_job(
    keyword_engine: Engine, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_RENEW_S", 0.02)

    def sleep_through(_: bool) -> Mapping[str, int]:
        clock.advance(LEASE_S + 1.0)
        with keyword_engine.context.database.write() as connection:
            assert leases.take(connection, LEASE, "other", clock.now(), LEASE_S)
        threading.Event().wait(0.3)
        return {}

    later = Work("later")
    jobs = [Job("first", sleep_through), later.job]
    done = tick(keyword_engine.context, jobs, TickRequest("test"))
    assert [report.name for report in done.reports] == ["first"]
    assert later.runs == []


def test_a_tick_with_nothing_to_do_needs_no_lock(
    keyword_engine: Engine, home: Path, short_waits: None
) -> None:
    work = Work()
    ticked(keyword_engine, work)
    blocker = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    assert ticked(keyword_engine, work) == Tick()
    blocker.close()


def test_a_tick_that_is_told_to_stop_begins_no_job(keyword_engine: Engine) -> None:
    work = Work()
    assert ticked(keyword_engine, work, stopped=lambda: True).reports == ()
    assert len(ticked(keyword_engine, work).reports) == 1


# ---- the real jobs


def test_all_jobs_run_on_a_store_with_memories(keyword_engine: Engine, clock: FixedClock) -> None:
    for number in range(5):
        remember(keyword_engine, f"昨天和小明{number}开了会")
    gone = remember(keyword_engine, "一小时后过期", expires_at=clock.now() + HOUR)
    clock.advance(10 * DAY)
    done = keyword_engine.upkeep.tick(Caller("cli"))
    assert done.failed == ()
    counts = {report.name: report.counts for report in done.reports}
    assert counts["decay"]["memories"] == 6
    assert counts["atoms"]["expired"] >= 5
    assert counts["purge"]["expired"] == 1
    assert "archive" not in counts and "prune" not in counts
    with keyword_engine.context.database.read() as connection:
        assert connection.execute("SELECT id FROM memory WHERE id = ?", (gone,)).fetchall() == []
    assert keyword_engine.upkeep.tick(Caller("cli")) == Tick()


def test_a_preview_by_hand_changes_nothing(keyword_engine: Engine, clock: FixedClock) -> None:
    memory_id = remember(keyword_engine, "灯塔")
    clock.advance(10 * DAY)
    before = keyword_engine.browsing.strength(memory_id)
    done = keyword_engine.upkeep.tick(CALLER, apply=False)
    assert all(report.dry_run for report in done.reports)
    assert keyword_engine.browsing.strength(memory_id) == before


def test_what_runs_and_what_it_counts_has_a_word_in_every_language(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    remember(keyword_engine, "灯塔")
    clock.advance(40 * DAY)
    names = [job.name for job in build_jobs(keyword_engine.context)]
    done = keyword_engine.upkeep.tick(CALLER, names=names)
    assert done.failed == ()
    keys = {f"job.{name}" for name in names} | {
        f"job_count.{name}" for report in done.reports for name in report.counts
    }
    for language in LANGUAGES:
        assert keys <= set(catalogue(language))


def test_settings_switch_jobs_on(keyword_engine: Engine, home: Path, clock: FixedClock) -> None:
    on = {"JIYI_ARCHIVE__ENABLED": "true", "JIYI_PRUNE__APPLY": "true"}
    statuses: Callable[[Engine], dict[str, bool]] = lambda engine: {  # noqa: E731
        status.name: status.enabled for status in engine.upkeep.jobs()
    }
    assert [name for name, is_on in statuses(keyword_engine).items() if not is_on] == [
        "archive",
        "prune",
    ]
    with open_engine(home, environ=KEYWORDS | on, clock=clock) as other:
        assert all(statuses(other).values())
