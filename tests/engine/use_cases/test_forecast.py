"""Forecasts equal what then happens: a year lived day by day."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.atom import AtomFilters
from engine.domain.clock import FixedClock
from engine.domain.errors import InvalidInput, NotFound
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.prune import PruneRequest
from tests.engine.use_cases.ageing import days, strength_of, used
from tests.engine.use_cases.shortcuts import CALLER, KEYWORDS, remember

ALL_ON = KEYWORDS | {
    "JIYI_ARCHIVE__ENABLED": "true",
    "JIYI_PRUNE__APPLY": "true",
    "JIYI_TIMEZONE": "Europe/Berlin",
}


def turns_of(engine: Engine, memory_id: int) -> dict[str, float]:
    forecast = engine.forgetting.forecast(memory_id)
    return {turn.kind: turn.at for turn in forecast.turns}


def test_a_year_lived_day_by_day_is_the_year_foretold(home: Path, clock: FixedClock) -> None:
    environ = KEYWORDS | {"JIYI_TIMEZONE": "Europe/Berlin"}
    with open_engine(home, environ=environ, clock=clock) as engine:
        ids = [
            remember(engine, "unused"),
            remember(engine, "important", importance=0.95),
            remember(engine, "pinned", pinned=True),
            remember(engine, "unimportant", importance=0.02),
        ]
        clock.advance(days(3))
        used(engine, ids[1], 9)
        foretold = [engine.forgetting.forecast(memory_id).points for memory_id in ids]
        start = clock.now()
        for day in range(366):
            clock.advance(start + days(day) - clock.now())
            engine.forgetting.apply_decay()
            scores = {
                item.memory_id: item.score
                for item in engine.forgetting.prune(
                    PruneRequest(min_score=1.0), CALLER, apply=False
                ).fading
            }
            for memory_id, points in zip(ids, foretold, strict=True):
                lived, point = strength_of(engine, memory_id), points[day]
                assert (point.day, point.at) == (day, clock.now())
                assert (point.importance_now, point.salience) == (
                    lived.importance_now,
                    lived.salience,
                )
                assert memory_id == ids[2] or scores[memory_id] == point.retention
        assert foretold[0][365].importance_now == 0.05


def test_what_happens_to_an_unused_memory_and_when(home: Path, clock: FixedClock) -> None:
    with open_engine(home, environ=ALL_ON, clock=clock) as engine:
        memory_id = remember(engine, "unused")
        turns = turns_of(engine, memory_id)
        assert list(turns) == ["faded", "at_risk", "trashed", "purged"]
        clock.advance(turns["faded"] - clock.now() - 1)
        engine.forgetting.apply_decay()
        assert strength_of(engine, memory_id).importance_now >= 0.3
        clock.advance(1)
        engine.forgetting.apply_decay()
        assert strength_of(engine, memory_id).importance_now < 0.3
        clock.advance(turns["at_risk"] - clock.now() - 1)
        assert prune(engine) == []
        clock.advance(2)
        assert prune(engine) == [memory_id]
        assert turns_of(engine, memory_id)["purged"] == pytest.approx(turns["purged"], abs=2)
        clock.advance(turns["purged"] - clock.now() + 1)
        assert len(engine.forgetting.purge(CALLER, apply=True).doomed) == 1


def prune(engine: Engine) -> list[int]:
    done = engine.forgetting.prune(PruneRequest(), CALLER, apply=True)
    return [item.memory_id for item in done.fading]


def test_what_happens_to_others(home: Path, clock: FixedClock) -> None:
    with open_engine(home, environ=ALL_ON, clock=clock) as engine:
        now = clock.now()
        archived = remember(engine, "archived", importance=0.2)
        pinned = remember(engine, "pinned", pinned=True)
        protected = remember(engine, "how to", kind="procedural")
        request = MemorizeRequest({"text": "for a week"}, ttl="7d")
        short = engine.memorize(request, CALLER).memory.id
        deleted = remember(engine, "deleted")
        engine.delete(deleted, CALLER)
        assert turns_of(engine, archived) == {"archived": now + days(30)}
        assert turns_of(engine, pinned) == turns_of(engine, protected) == {}
        assert turns_of(engine, deleted)["purged"] == now + days(30)
        week = turns_of(engine, short)
        assert (week["expires"], week["purged"]) == (now + days(7), now + days(14))
        clock.advance(days(30) + 1)
        assert engine.forgetting.archive_old(CALLER, apply=True).memory_ids == (archived,)


def test_an_atom_is_worth_what_was_foretold(engine: Engine, clock: FixedClock) -> None:
    request = MemorizeRequest({"text": "Anna lives in Lisbon.", "key_facts": ["Anna likes tea"]})
    engine.memorize(request, CALLER)
    atom = engine.atoms(AtomFilters()).atoms[0].atom
    foretold = engine.forgetting.forecast_atom(atom.id, days=900)
    start = clock.now()
    kinds = [turn.kind for turn in foretold.turns]
    assert kinds == ["expires", "forgotten", "purged"]
    for point in foretold.points[::30]:
        clock.advance(point.at - clock.now())
        if clock.now() >= foretold.turns[2].at:
            break
        engine.sweep_atoms()
        assert engine.atom(atom.id).value == point.value
    clock.advance(start + days(900) - clock.now())


def test_a_forecast_refuses_what_it_cannot_say(engine: Engine) -> None:
    memory_id = remember(engine, "here")
    for wrong in (0, -1, 3651):
        with pytest.raises(InvalidInput):
            engine.forgetting.forecast(memory_id, wrong)
    with pytest.raises(NotFound):
        engine.forgetting.forecast(999)
    with pytest.raises(NotFound):
        engine.forgetting.forecast_atom(999)
