"""Pruning and archiving: what is shown is what is done, and who is never touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import InvalidInput
from engine.lifecycle.curves import DAY_S
from engine.use_cases.prune import Pruned, PruneRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.ageing import days, entries, used
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, found, remember, within


def pruned(engine: Engine, *, apply: bool = False, **asked: object) -> Pruned:
    return engine.forgetting.prune(PruneRequest(**asked), CALLER, apply=apply)  # type: ignore[arg-type]


def ids(result: Pruned) -> list[int]:
    return [item.memory_id for item in result.fading]


@pytest.fixture
def aged(keyword_engine: Engine, clock: FixedClock) -> Engine:
    """Old memories, and some that nothing may touch."""
    for importance in (0.5, 0.2, 0.9):
        remember(keyword_engine, f"importance {importance}", importance=importance)
    remember(keyword_engine, "pinned", importance=0.1, pinned=True)
    remember(keyword_engine, "how to", importance=0.1, kind="procedural")
    keyword_engine.delete(remember(keyword_engine, "in the trash", importance=0.1), CALLER)
    clock.advance(days(231))
    remember(keyword_engine, "new", importance=0.06)
    return keyword_engine


def test_the_default_rate_lists_what_was_not_used_for_long_enough(aged: Engine) -> None:
    listed = pruned(aged)
    assert ids(listed) == [2, 1]
    assert listed.considered == 4
    assert listed.fading[1].score == pytest.approx(0.5 * 2.718281828**-2.31)
    assert ids(pruned(aged, rate=0.02)) == [2, 1, 3]
    assert ids(pruned(aged, min_score=0.03)) == [2]
    assert ids(pruned(aged, rate=0.0)) == []
    used(aged, 1, 1)
    assert ids(pruned(aged)) == [2]


def test_another_moment_is_simulated_and_never_applied(aged: Engine, clock: FixedClock) -> None:
    later = clock.now() + days(60)
    assert ids(pruned(aged, now=later)) == [2, 1, 7, 3]
    with pytest.raises(InvalidInput):
        pruned(aged, apply=True, now=later)
    for request in (
        PruneRequest(rate=-0.1),
        PruneRequest(rate=float("nan")),
        PruneRequest(min_score=2.0),
    ):
        with pytest.raises(InvalidInput):
            aged.forgetting.prune(request, CALLER, apply=False)
    assert entries(aged, "delete")[1:] == []


def test_applied_it_moves_exactly_the_listed_ones_to_the_trash_as_one_group(aged: Engine) -> None:
    listed = pruned(aged)
    done = pruned(aged, apply=True)
    assert (done.fading, done.applied) == (listed.fading, True)
    deleted = entries(aged, "delete")[1:]
    assert [entry["subject_id"] for entry in deleted] == [2, 1]
    assert {entry["group_uid"] for entry in deleted} == {done.group_uid}
    assert aged.get(1).state(aged.context.clock.now()) == "deleted"
    again = pruned(aged, apply=True)
    assert (again.fading, again.group_uid) == ((), None)
    assert disagreements(aged.context.database.path) == []


def test_pruning_can_be_narrowed_to_a_workspace(keyword_engine: Engine, clock: FixedClock) -> None:
    remember(keyword_engine, "here", workspace="here", importance=0.1)
    remember(keyword_engine, "there", workspace="there", importance=0.1)
    clock.advance(days(200))
    assert ids(pruned(keyword_engine, filters=within("here", exact=True))) == [1]


def test_archiving_takes_the_old_and_unimportant_and_only_when_told(aged: Engine) -> None:
    shown = aged.forgetting.archive_old(CALLER, apply=False)
    assert (shown.memory_ids, shown.applied) == ((2,), False)
    assert aged.get(2).archived_at is None
    done = aged.forgetting.archive_old(CALLER, apply=True)
    assert done.memory_ids == shown.memory_ids
    assert aged.get(2).archived_at == aged.context.clock.now()
    assert [entry["group_uid"] for entry in entries(aged, "archive")] == [done.group_uid]
    assert 2 in found(aged, "importance")
    assert aged.forgetting.archive_old(CALLER, apply=True).memory_ids == ()
    assert aged.restore(2, CALLER).was == "archived"
    later = aged.context.clock.now() + days(30) + 1
    assert aged.forgetting.archive_old(CALLER, apply=False, now=later).memory_ids == (2, 7)


def test_the_archive_obeys_its_settings(home: Path, clock: FixedClock) -> None:
    environ = KEYWORDS | {
        "JIYI_ARCHIVE__OLDER_THAN_DAYS": "10",
        "JIYI_ARCHIVE__BELOW_IMPORTANCE": "0.6",
        "JIYI_DECAY__PROTECTED_KINDS": "decision",
    }
    with open_engine(home, environ=environ, clock=clock) as engine:
        remember(engine, "how to", kind="procedural")
        remember(engine, "we chose", kind="decision")
        clock.advance(10 * DAY_S)
        assert engine.forgetting.archive_old(CALLER, apply=False).memory_ids == ()
        clock.advance(1)
        assert engine.forgetting.archive_old(CALLER, apply=False).memory_ids == (1,)


def test_health_counts_what_a_prune_would_list(aged: Engine, clock: FixedClock) -> None:
    remember(aged, "twice")
    remember(aged, "twice")
    health = aged.forgetting.health()
    assert (health.live, health.considered) == (8, 6)
    assert health.at_risk == len(pruned(aged).fading) == 2
    for risk in health.forecast:
        later = clock.now() + days(risk.days)
        assert risk.at_risk == len(pruned(aged, now=later).fading)
    assert [risk.days for risk in health.forecast] == [7, 30, 90]
    assert sum(health.histogram) == health.considered
    assert health.histogram[0] == 4
    assert (health.unused, health.duplicates, health.duplicate_groups) == (5, 2, 1)
    assert (health.clusters, health.clustered) == (1, 2)
    assert aged.forgetting.health(clusters=False).clusters is None
