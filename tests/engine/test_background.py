"""The background of a long-lived process: it reports itself, fills in, and stops in time."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine import background
from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.embedding import SpaceIdentity
from engine.model_clients.hashing import HashingEmbedder
from engine.model_clients.loaded import LocalModel
from engine.model_clients.protocol import CutOutcome, Matrix
from engine.storage import atoms, processes
from engine.storage.database import FILE_NAME
from engine.use_cases import briefing
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import (
    CALLER,
    HASHING,
    KEYWORDS,
    found,
    remember,
    remember_all,
)


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen"
        time.sleep(0.02)


def clients(engine: Engine) -> list[str]:
    with engine.context.database.read() as connection:
        return [row.client for row in processes.seen_since(connection, 0.0)]


def test_a_process_shows_itself_while_it_is_there(engine: Engine, home: Path) -> None:
    with open_engine(home, environ=HASHING) as other:
        other.start_background("editor")
        until(lambda: clients(engine) == ["editor"])
    assert clients(engine) == []


def test_starting_again_renames_and_starts_no_second_thread(engine: Engine) -> None:
    engine.start_background("")
    until(lambda: clients(engine) == [""])
    engine.start_background("editor")
    assert len([t for t in threading.enumerate() if t.name == "jiyi-background"]) == 1


def test_the_model_is_loaded_before_the_first_question(engine: Engine) -> None:
    engine.start_background("test")
    until(lambda: engine.context.models.status().state == "ready")


def test_a_start_queues_what_another_model_embedded(
    engine: Engine, home: Path, clock: FixedClock
) -> None:
    ids = remember_all(engine, ["一", "二"])
    with engine.context.database.write() as connection:
        other = SpaceIdentity("openai", "another model", "1", 256)
        connection.execute("UPDATE space SET key = ?", (other.key,))
    engine.close()
    with open_engine(home, environ=HASHING, clock=clock) as restarted:
        restarted.start_background("test")
        until(lambda: found(restarted, "二", k=1, mode="semantic") == [ids[1]])


def test_a_start_adds_what_full_text_cannot_see(engine: Engine, home: Path) -> None:
    memory_id = remember(engine, "灯塔")
    engine.close()
    connection = sqlite3.connect(home / FILE_NAME)
    connection.execute("DELETE FROM fts_row")
    connection.commit()
    connection.close()
    with open_engine(home, environ=KEYWORDS) as restarted:
        restarted.start_background("test")
        until(lambda: found(restarted, "灯塔") == [memory_id])


class FailingOnce(LocalModel):
    """A model with a fault that nobody foresaw."""

    def __init__(self) -> None:
        super().__init__(HashingEmbedder())
        self.failed = threading.Event()

    def embed_texts(self, texts: Sequence[str], wait_s: float | None = None) -> list[CutOutcome]:
        if not self.failed.is_set():
            self.failed.set()
            raise ZeroDivisionError
        return super().embed_texts(texts, wait_s)


def test_a_fault_of_one_step_does_not_end_the_thread(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    long = engine.memorize(MemorizeRequest({"text": "很长。" * 4000}), CALLER)
    assert long.pending
    engine.context.models.embedder(5.0)
    model = FailingOnce()
    engine.context.models._embedder = model
    engine.start_background("test")
    assert model.failed.wait(10.0)
    engine.context.background.wake()
    until(lambda: engine.diagnose().vectors.pending == 0)
    assert "background work failed" in caplog.text


class Slow(HashingEmbedder):
    """A model that takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.asked.set()
        time.sleep(0.05)
        return super().embed_passages(texts)


def test_closing_does_not_wait_for_a_long_queue(engine: Engine, clock: FixedClock) -> None:
    with open_engine(engine.context.home, environ=KEYWORDS, clock=clock) as without:
        remember_all(without, (f"文 {number}" for number in range(400)))
    engine.context.models.embedder(5.0)
    model = Slow()
    engine.context.models._embedder = LocalModel(model)
    engine.start_background("test")
    assert model.asked.wait(10.0)
    started = time.monotonic()
    engine.close()
    assert time.monotonic() - started < 4.0


def test_a_store_that_is_busy_is_tried_again(engine: Engine, home: Path) -> None:
    environ = HASHING | {"JIYI_STORAGE__BUSY_TIMEOUT_S": "0.2"}
    with open_engine(home, environ=environ) as other:
        with engine.context.database.write():
            other.start_background("patient")
            time.sleep(0.6)
            assert clients(engine) == []
        other.start_background("patient")
        other.context.background.wake()
        until(lambda: clients(engine) == ["patient"])


def count(engine: Engine, sql: str) -> int:
    with engine.context.database.read() as connection:
        return int(connection.execute(sql).fetchone()[0])


def forget_layers(engine: Engine) -> None:
    """As in a store of a version that knew no atoms."""
    with engine.context.database.write() as connection:
        connection.execute("DELETE FROM memory_layers")
        for row in connection.execute("SELECT id FROM atom").fetchall():
            atoms.remove(connection, row[0])


def test_memories_without_atoms_get_them(keyword_engine: Engine) -> None:
    remember_all(keyword_engine, (f"小明{number}住在杭州" for number in range(120)))
    forget_layers(keyword_engine)
    keyword_engine.start_background("test")
    until(lambda: count(keyword_engine, "SELECT count(*) FROM memory_layers") == 120)
    assert count(keyword_engine, "SELECT count(*) FROM atom") == 120


def test_two_processes_fill_in_together_and_each_fact_is_there_once(
    keyword_engine: Engine, home: Path
) -> None:
    remember_all(keyword_engine, (f"小明{number}住在杭州" for number in range(120)))
    forget_layers(keyword_engine)
    with open_engine(home, environ=KEYWORDS) as other:
        other.start_background("one")
        keyword_engine.start_background("two")
        until(lambda: count(keyword_engine, "SELECT count(*) FROM memory_layers") == 120)
        assert count(keyword_engine, "SELECT count(*) FROM atom") == 120
        assert count(keyword_engine, "SELECT count(*) FROM atom_mention") == 120
    assert disagreements(home / FILE_NAME) == []


def test_two_processes_sweep_at_once_and_each_step_is_noted_once(
    keyword_engine: Engine, home: Path, clock: FixedClock
) -> None:
    remember_all(keyword_engine, (f"昨天和小明{number}开了会" for number in range(60)))
    clock.advance(8 * 86_400)
    with open_engine(home, environ=KEYWORDS, clock=clock) as other:
        other.start_background("one")
        keyword_engine.start_background("two")
        awake = "SELECT count(*) FROM atom WHERE state = 'active'"
        until(lambda: count(keyword_engine, awake) == 0)
        other.sweep_atoms()
    noted = "SELECT count(*) FROM journal WHERE operation = 'decay' AND subject_kind = 'atom'"
    assert count(keyword_engine, noted) == 60


def test_a_briefing_that_was_asked_for_is_made_again(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    remember(keyword_engine, "一")
    briefing.current_briefing(keyword_engine.context, "global")
    remember(keyword_engine, "二")
    clock.advance(600)
    assert briefing.current_briefing(keyword_engine.context, "global").stale
    keyword_engine.start_background("test")
    until(lambda: not briefing.current_briefing(keyword_engine.context, "global").stale)


@pytest.mark.parametrize("failing", ["embed_pending", "derive_missing", "flush_accesses"])
def test_a_job_that_always_fails_does_not_keep_the_others_from_being_done(
    keyword_engine: Engine, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    remember(keyword_engine, "昨天开了会")
    clock.advance(8 * 86_400)
    monkeypatch.setattr(background, failing, fail)
    keyword_engine.start_background("test")
    until(lambda: count(keyword_engine, "SELECT count(*) FROM atom WHERE state = 'expired'") == 1)


def used(engine: Engine, memory_id: int) -> int:
    strength = engine.browsing.strength(memory_id)
    assert strength is not None
    return strength.access_count


def test_uses_are_counted_beside_the_answers(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "灯塔")
    keyword_engine.start_background("test")
    assert found(keyword_engine, "灯塔") == [memory_id]
    keyword_engine.context.background.wake()
    until(lambda: used(keyword_engine, memory_id) == 1)


def test_what_cannot_be_counted_at_the_end_is_logged_though_the_background_waits_as_well(
    keyword_engine: Engine, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory_id = remember(keyword_engine, "灯塔")
    blocker = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    keyword_engine.start_background("test")
    assert found(keyword_engine, "灯塔") == [memory_id]
    started = time.monotonic()
    keyword_engine.close()
    assert time.monotonic() - started < 6.0
    assert "1 uses were not counted" in caplog.text
    blocker.close()


def test_upkeep_is_done_at_the_start_after_a_long_absence(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    remember(keyword_engine, "灯塔")
    clock.advance(40 * 86_400)
    keyword_engine.start_background("editor")
    until(lambda: any(run.actor == "editor" for run in keyword_engine.upkeep.runs()))
    until(
        lambda: (
            {"decay", "purge"}
            <= {job.name for job in keyword_engine.upkeep.jobs() if not job.is_due}
        )
    )


def test_upkeep_that_is_switched_off_is_left_to_others(home: Path, clock: FixedClock) -> None:
    off = KEYWORDS | {"JIYI_MAINTENANCE__ENABLED": "false"}
    with open_engine(home, environ=off, clock=clock) as engine:
        memory_id = remember(engine, "灯塔")
        engine.start_background("test")
        assert found(engine, "灯塔") == [memory_id]
        engine.context.background.wake()
        until(lambda: used(engine, memory_id) == 1)
        assert engine.upkeep.runs() == []
