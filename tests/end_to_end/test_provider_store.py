"""A store on a provider's model: what users report when the provider misbehaves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.storage import embeddings
from engine.use_cases.embed_pending import embed_pending, queue_missing
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from tests.engine.model_clients.remote.mock_embedder import MockEmbedder, running
from tests.engine.use_cases.shortcuts import CALLER, found, remember, remember_all

DAY_S = 86_400.0


@contextmanager
def opened(
    home: Path, server: MockEmbedder, clock: FixedClock | None = None, **settings: str
) -> Iterator[Engine]:
    chosen = {"provider": "openai", "base_url": server.url, "model": "mock", "api_key": "sk-x"}
    environ = {
        f"JIYI_EMBEDDING__{name.upper()}": value for name, value in (chosen | settings).items()
    }
    with open_engine(home, environ=environ, clock=clock) as engine:
        yield engine


def waiting(engine: Engine) -> tuple[int, int]:
    with engine.context.database.read() as connection:
        return embeddings.count_pending(connection)


def pieces_of(engine: Engine, memory_id: int) -> list[tuple[int, int]]:
    with engine.context.database.read() as connection:
        rows = connection.execute(
            "SELECT start_offset, end_offset FROM piece WHERE owner_id = ? ORDER BY start_offset",
            (memory_id,),
        )
        return [(row[0], row[1]) for row in rows]


def test_a_batch_larger_than_the_provider_takes_is_embedded_in_order(tmp_path: Path) -> None:
    with running(max_batch=10, dim=64) as server, opened(tmp_path, server) as engine:
        texts = [f"第{number}号仓库存放了货物{number * 7}" for number in range(25)]
        ids = remember_all(engine, texts)
        assert waiting(engine) == (0, 0)
        for memory_id, text in zip(ids, texts, strict=True):
            assert found(engine, text, k=1, mode="semantic") == [memory_id]


def test_two_failing_texts_wait_and_the_other_eight_are_embedded(tmp_path: Path) -> None:
    clock = FixedClock()
    with running(fail_if="坏", dim=64) as server, opened(tmp_path, server, clock) as engine:
        texts = [f"文件 {number} {'坏' if number in (3, 7) else '好'}" for number in range(10)]
        stored = engine.memorize_many([MemorizeRequest({"text": text}) for text in texts], CALLER)
        assert [item.pending for item in stored].count(True) == 2
        assert len(found(engine, "坏", mode="keyword")) == 2
        server.switches.fail_if = ""
        clock.advance(DAY_S)
        engine.drain(10.0)
        assert waiting(engine) == (0, 0)
        assert found(engine, texts[3], k=1, mode="semantic") == [stored[3].memory.id]


def test_a_provider_that_is_down_or_slow_costs_the_meaning_only(tmp_path: Path) -> None:
    with running(dim=64) as server:
        with opened(tmp_path, server, dimensions="64") as engine:
            memory_id = remember(engine, "书房路由器的口令")
            assert found(engine, "路由器", k=1) == [memory_id]
        server.switches.delay = 20.0
        with opened(tmp_path, server, dimensions="64", wait_s="0.5") as engine:
            started = time.monotonic()
            result = engine.recall(RecallRequest("路由器"))
            assert time.monotonic() - started < 5.0
            assert [hit.memory.id for hit in result.hits] == [memory_id]
            assert result.keywords_only


def test_an_unpaid_account_is_asked_once_and_nothing_is_given_up(tmp_path: Path) -> None:
    clock = FixedClock()
    with running(status=402, dim=64) as server:
        with opened(tmp_path, server, clock, dimensions="64") as engine:
            remember_all(engine, [f"第 {number} 条" for number in range(12)])
            for _ in range(10):
                clock.advance(DAY_S)
                embed_pending(engine.context, wait_s=1.0)
            assert waiting(engine) == (12, 0)
            assert len(server.requests) == 1
            assert "402" in str(engine.context.models.status().reason_params) or (
                engine.context.models.status().state == "unavailable"
            )
        server.switches.status = 0
        with opened(tmp_path, server, clock, dimensions="64") as engine:
            engine.drain(10.0)
            assert waiting(engine) == (0, 0)


def test_another_vector_size_makes_another_space_and_going_back_costs_nothing(
    tmp_path: Path,
) -> None:
    texts = [f"第{number}次会议的纪要" for number in range(20)]
    with running(dim=8) as server:
        with opened(tmp_path, server) as engine:
            remember_all(engine, texts)
        server.switches.dim = 16
        with opened(tmp_path, server, model="other") as engine:
            engine.context.models.embedder(5.0)
            assert found(engine, "第3次会议", k=1)
            late = remember(engine, "新的一条")
            assert queue_missing(engine.context) == len(texts)
            embed_pending(engine.context, wait_s=5.0)
        with opened(tmp_path, server, model="other") as engine:
            engine.drain(20.0)
            assert waiting(engine) == (0, 0)
            assert found(engine, "新的一条", k=1, mode="semantic") == [late]
        server.switches.dim = 8
        sent = len(server.texts)
        with opened(tmp_path, server) as engine:
            engine.context.models.embedder(5.0)
            assert queue_missing(engine.context) == 1
            engine.drain(10.0)
        assert server.texts[sent:].count("新的一条") == 1
        assert not set(server.texts[sent:]) & set(texts)


def test_a_text_beyond_the_window_is_found_by_its_last_sentence(tmp_path: Path) -> None:
    with running(max_chars=512, dim=256) as server, opened(tmp_path, server) as engine:
        long = "会议讨论了许多普通的事情。" * 230 + "灯塔密钥在末段"
        memory_id = remember(engine, long)
        engine.drain(20.0)
        assert waiting(engine) == (0, 0)
        for number in range(20):
            remember(engine, f"unrelated {number}")
        assert found(engine, "普通的事情。灯塔密钥在末段", k=1, mode="semantic") == [memory_id]
        assert pieces_of(engine, memory_id)[-1][1] == len(long)
        assert max(end - start for start, end in pieces_of(engine, memory_id)) <= 512
        assert found(engine, "灯塔密钥", k=1, mode="keyword") == [memory_id]


def test_a_private_memory_is_never_sent(tmp_path: Path) -> None:
    with running(dim=64) as server, opened(tmp_path, server) as engine:
        memory_id = remember(engine, "保险箱的密码是四个七", private=True)
        open_id = remember(engine, "今天天气很好")
        engine.drain(5.0)
        queue_missing(engine.context)
        engine.drain(5.0)
        assert waiting(engine) == (0, 0)
        assert not any("保险箱" in text for text in server.texts)
        assert found(engine, "保险箱密码", k=1) == [memory_id]
        assert engine.context.serving() is engine.context.models
        assert found(engine, "今天天气很好", k=1, mode="semantic") == [open_id]


def test_the_key_is_in_no_message_log_or_setting(tmp_path: Path, caplog) -> None:
    key = "sk-test-ABCDEFG-123456"
    with running(status=401, dim=64) as server, opened(tmp_path, server, api_key=key) as engine:
        remember(engine, "文")
        result = engine.recall(RecallRequest("文"))
        told = f"{result.degraded} {engine.context.models.status()} {caplog.text}"
        assert "ABCDEFG" not in told
        assert "ABCDEFG" not in repr(engine.diagnose())
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"ABCDEFG" not in file.read_bytes()
