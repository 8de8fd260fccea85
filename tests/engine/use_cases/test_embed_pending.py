"""Memories without vectors: found by their text at once, by meaning as soon as possible."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.context import EngineContext
from engine.domain.clock import FixedClock
from engine.domain.embedding import SpaceIdentity
from engine.domain.errors import ModelUnavailable
from engine.model_clients.hashing import HashingEmbedder
from engine.model_clients.loaded import LocalModel
from engine.model_clients.protocol import Matrix
from engine.storage import embeddings, leases
from engine.use_cases.edit import EditRequest
from engine.use_cases.embed_pending import LEASE, Progress, embed_pending, queue_missing
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import (
    CALLER,
    HASHING,
    KEYWORDS,
    found,
    hits,
    remember,
    remember_all,
)

OTHER = SpaceIdentity("openai", "another model", "1", 256)


class Moody(HashingEmbedder):
    """Refuses texts with a certain character while ``upset``."""

    def __init__(self) -> None:
        super().__init__()
        self.upset = True

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.upset and any("坏" in text for text in texts):
            raise ModelUnavailable("error.model_bad_vector", model="hashing")
        return super().embed_passages(texts)


@pytest.fixture
def moody(engine: Engine) -> Moody:
    """The engine's model from now on."""
    engine.context.models.embedder(10.0)
    model = Moody()
    engine.context.models._embedder = LocalModel(model)
    return model


def waiting(context: EngineContext) -> tuple[int, int]:
    with context.database.read() as connection:
        return embeddings.count_pending(connection)


def test_without_a_model_a_memory_waits_and_is_found_by_its_text(keyword_engine: Engine) -> None:
    stored = keyword_engine.memorize(MemorizeRequest({"text": "书房路由器的口令"}), CALLER)
    assert stored.pending
    assert stored.keywords_only is not None
    assert stored.keywords_only.key == "error.model_off"
    assert waiting(keyword_engine.context) == (1, 0)
    assert found(keyword_engine, "路由器") == [stored.memory.id]
    assert keyword_engine.drain(1.0) == 0


def test_the_next_engine_with_a_model_gives_them_vectors(
    keyword_engine: Engine, home: Path, clock: FixedClock
) -> None:
    ids = remember_all(keyword_engine, (f"第 {number} 条记忆" for number in range(40)))
    keyword_engine.delete(ids[-1], CALLER)
    with open_engine(home, environ=HASHING, clock=clock) as engine:
        assert found(engine, "第 7 条记忆", k=1, mode="semantic") == []
        assert engine.drain(30.0) == 39
        assert waiting(engine.context) == (0, 0)
        assert found(engine, "第 7 条记忆", k=1, mode="semantic") == [ids[7]]
        engine.restore(ids[-1], CALLER)
        assert engine.drain(30.0) == 1
        assert found(engine, "第 39 条记忆", k=1, mode="semantic") == [ids[-1]]
    assert disagreements(home / "jiyi.db") == []


def test_a_background_gives_them_vectors_without_being_asked(
    keyword_engine: Engine, home: Path, clock: FixedClock
) -> None:
    remember(keyword_engine, "第一条")
    with open_engine(home, environ=HASHING, clock=clock) as engine:
        engine.start_background("test")
        until(lambda: waiting(engine.context) == (0, 0))
        long = engine.memorize(MemorizeRequest({"text": "很长。" * 4000 + "灯塔"}), CALLER)
        assert long.pending
        until(lambda: waiting(engine.context) == (0, 0))
        assert found(engine, "灯塔", k=1, mode="semantic") == [long.memory.id]


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen"
        time.sleep(0.02)


def test_a_text_the_model_refuses_is_stored_and_its_neighbours_get_vectors(
    engine: Engine, moody: Moody, home: Path, clock: FixedClock
) -> None:
    texts = [f"文 {number}{'坏' if number in (3, 7) else ''}" for number in range(10)]
    done = engine.memorize_many([MemorizeRequest({"text": text}) for text in texts], CALLER)
    assert len(done) == 10
    engine.drain(10.0)
    assert waiting(engine.context) == (2, 0)
    assert found(engine, "坏", mode="keyword") == [8, 4]
    assert disagreements(home / "jiyi.db") == []
    moody.upset = False
    clock.advance(31.0)
    assert engine.drain(10.0) == 2
    assert waiting(engine.context) == (0, 0)


def test_an_edit_the_model_refuses_is_stored_and_waits(engine: Engine, moody: Moody) -> None:
    memory_id = remember(engine, "好")
    done = engine.edit(EditRequest(memory_id, {"text": "坏"}), CALLER)
    assert done.pending
    assert engine.get(memory_id).text == "坏"
    assert found(engine, "坏", mode="semantic") == []


def test_a_query_the_model_refuses_is_answered_by_keywords(engine: Engine, moody: Moody) -> None:
    memory_id = remember(engine, "坏天气")
    assert found(engine, "坏天气", k=1) == [memory_id]


def test_failures_wait_longer_each_time_and_are_given_up_visibly(
    engine: Engine, moody: Moody, clock: FixedClock
) -> None:
    memory_id = remember(engine, "坏")
    assert waiting(engine.context) == (1, 0)
    pauses = []
    while waiting(engine.context)[0]:
        assert embed_pending(engine.context, wait_s=1.0) == Progress(failed=1)
        assert embed_pending(engine.context, wait_s=1.0) == Progress()
        pause = next_attempt(engine.context) - clock.now()
        pauses.append(pause)
        clock.advance(pause)
    assert pauses == [30.0, 60.0, 120.0, 240.0]
    assert waiting(engine.context) == (0, 1)
    checks = {check.name: check.status for check in engine.diagnose().checks}
    assert checks["vectors"] == "failure"
    moody.upset = False
    assert embed_pending(engine.context, wait_s=1.0) == Progress()
    assert engine.repair().retried == 1
    assert engine.drain(5.0) == 1
    assert found(engine, "坏", mode="semantic") == [memory_id]


def next_attempt(context: EngineContext) -> float:
    with context.database.read() as connection:
        row = connection.execute("SELECT next_attempt_at FROM pending_embedding").fetchone()
    return float(row[0])


def test_one_process_works_on_the_queue_at_a_time(
    keyword_engine: Engine, home: Path, clock: FixedClock
) -> None:
    remember(keyword_engine, "文")
    with open_engine(home, environ=HASHING, clock=clock) as engine:
        with engine.context.database.write() as connection:
            assert leases.take(connection, LEASE, "another", clock.now(), 30.0)
        assert engine.drain(0.5) == 0
        clock.advance(31.0)
        assert engine.drain(5.0) == 1


def test_an_edit_in_the_middle_wins(engine: Engine, keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "小雨在甲公司上班")

    class Interrupted(HashingEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Matrix:
            edit = EditRequest(memory_id, {"text": "小雨在乙公司上班"})
            keyword_engine.edit(edit, CALLER)
            return super().embed_passages(texts)

    engine.context.models.embedder(10.0)
    engine.context.models._embedder = LocalModel(Interrupted())
    embed_pending(engine.context, wait_s=1.0)
    assert waiting(engine.context) == (1, 0)
    engine.context.models._embedder = LocalModel(HashingEmbedder())
    engine.drain(5.0)
    hit = engine_hit(engine, "小雨在乙公司上班")
    assert hit == pytest.approx(1.0, abs=0.01)


def engine_hit(engine: Engine, query: str) -> float:
    cosine = hits(engine, query, k=1)[0].cosine
    assert cosine is not None
    return cosine


def test_memories_of_another_model_are_queued_for_this_one(
    engine: Engine, home: Path, clock: FixedClock
) -> None:
    ids = remember_all(engine, ["一", "二", "三"])
    engine.delete(ids[2], CALLER)
    with engine.context.database.write() as connection:
        connection.execute("UPDATE space SET key = ?", (OTHER.key,))
    assert queue_missing(engine.context) == 2
    assert queue_missing(engine.context) == 0
    assert engine.drain(5.0) == 2
    with engine.context.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM piece").fetchone()[0] == 5
    with open_engine(home, environ=KEYWORDS, clock=clock) as without:
        assert queue_missing(without.context) == 0


def test_a_memory_restored_after_the_model_changed_gets_vectors_too(engine: Engine) -> None:
    memory_id = remember(engine, "从垃圾桶回来")
    remember(engine, "另一条")
    engine.delete(memory_id, CALLER)
    with engine.context.database.write() as connection:
        connection.execute("UPDATE space SET key = ?", (OTHER.key,))
    queue_missing(engine.context)
    engine.drain(5.0)
    engine.restore(memory_id, CALLER)
    engine.drain(5.0)
    assert found(engine, "从垃圾桶回来", k=1, mode="semantic") == [memory_id]


def test_equal_texts_are_embedded_once(engine: Engine, moody: Moody) -> None:
    moody.upset = False
    asked: list[str] = []
    embed = moody.embed_passages

    def counted(texts: Sequence[str]) -> Matrix:
        asked.extend(texts)
        return embed(texts)

    moody.embed_passages = counted  # type: ignore[method-assign]
    remember_all(engine, ["同一句话"] * 5 + ["另一句"])
    remember(engine, "同一句话", workspace="别处")
    assert asked == ["同一句话", "另一句"]


def test_eight_threads_can_drain_at_once(
    keyword_engine: Engine, home: Path, clock: FixedClock
) -> None:
    remember_all(keyword_engine, (f"文 {number}" for number in range(60)))
    with open_engine(home, environ=HASHING, clock=clock) as engine:
        threads = [threading.Thread(target=engine.drain, args=(20.0,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        engine.drain(20.0)
        assert waiting(engine.context) == (0, 0)
    assert disagreements(home / "jiyi.db") == []
