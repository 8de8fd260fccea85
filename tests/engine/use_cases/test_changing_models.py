"""Another model: the old one answers until the new one has every memory, and nothing is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.bootstrap import Engine, open_engine
from engine.domain.embedding import SpaceIdentity
from engine.domain.health import WARNING
from engine.storage import embeddings
from engine.use_cases.embed_pending import embed_pending, queue_missing
from engine.use_cases.models import release_unused_indexes
from tests.engine.use_cases.shortcuts import HASHING, found, hits, remember, remember_all

USE = {"JIYI_EMBEDDING__PROVIDER": "lite"}
TEXTS = [f"第{number}次会议讨论了预算和人员安排" for number in range(20)]


@contextmanager
def opened(home: Path, environ: dict[str, str]) -> Iterator[Engine]:
    with open_engine(home, environ=environ) as engine:
        engine.context.models.embedder(20.0)
        yield engine


def serving(engine: Engine) -> SpaceIdentity | None:
    return engine.context.serving().identity()


def embedded_in(engine: Engine, identity: SpaceIdentity | None) -> int:
    assert identity is not None
    with engine.context.database.read() as connection:
        space_id = embeddings.find_space(connection, identity)
        return 0 if space_id is None else embeddings.count_embedded(connection, space_id)


def test_the_first_model_of_a_store_serves_from_the_first_memory(tmp_path: Path) -> None:
    with opened(tmp_path, HASHING) as engine:
        remember(engine, TEXTS[0])
        assert serving(engine) == engine.context.models.identity()


def test_the_old_model_answers_until_the_new_one_has_every_memory(tmp_path: Path) -> None:
    with opened(tmp_path, HASHING) as engine:
        remember_all(engine, TEXTS)
        old = engine.context.models.identity()
    with opened(tmp_path, USE) as engine:
        new = engine.context.models.identity()
        assert queue_missing(engine.context) == len(TEXTS)
        embed_pending(engine.context, wait_s=20.0)
        assert 0 < embedded_in(engine, new) < len(TEXTS)
        assert serving(engine) == old
        assert {hit.cosine is not None for hit in hits(engine, TEXTS[3], k=20)} == {True}
        (check,) = (c for c in engine.diagnose().checks if c.name == "space")
        assert (check.status, check.params["embedded"]) == (WARNING, 16)
        engine.drain(60.0)
        assert serving(engine) == new
        assert embedded_in(engine, new) == len(TEXTS)


def test_a_memory_written_meanwhile_is_found_by_meaning_in_both(tmp_path: Path) -> None:
    with opened(tmp_path, HASHING) as engine:
        remember_all(engine, TEXTS)
    with opened(tmp_path, USE) as engine:
        queue_missing(engine.context)
        engine.context.serving().embedder(20.0)
        late = remember(engine, "猫在窗台上睡午觉")
        assert found(engine, "猫在窗台上睡午觉", mode="semantic")[0] == late
        engine.drain(60.0)
        assert serving(engine) == engine.context.models.identity()
        assert found(engine, "小猫打盹的地方", mode="semantic")[0] == late


def test_going_back_costs_only_what_was_written_meanwhile(tmp_path: Path) -> None:
    with opened(tmp_path, HASHING) as engine:
        remember_all(engine, TEXTS)
    with opened(tmp_path, USE) as engine:
        queue_missing(engine.context)
        engine.drain(60.0)
        remember(engine, "猫在窗台上睡午觉")
    with opened(tmp_path, HASHING) as engine:
        assert serving(engine) == engine.context.models.identity()
        assert queue_missing(engine.context) == 1


def test_without_the_old_model_keywords_go_on_and_the_new_space_is_never_mixed(
    tmp_path: Path,
) -> None:
    foreign = SpaceIdentity(provider="openai", model="gone", revision="1", dims=4)
    with opened(tmp_path, HASHING) as engine:
        remember_all(engine, TEXTS)
        with engine.context.database.write() as connection:
            connection.execute("UPDATE space SET key = ?, dims = 4", (foreign.key,))
    with opened(tmp_path, USE) as engine:
        assert serving(engine) == engine.context.models.identity()
        assert found(engine, "第7次会议")
        assert all(hit.cosine is None for hit in hits(engine, "第7次会议"))


DAY_S = 86_400
SMALL_GRAPHS = {"JIYI_VECTORS__EXACT_BELOW": "10"}


def graph_files(home: Path) -> list[Path]:
    return sorted((home / "cache" / "vectors").glob("*.graph"))


def with_graph(engine: Engine) -> None:
    identity = serving(engine)
    assert identity is not None
    index = engine.context.indexes.index(identity)
    deadline = time.monotonic() + 30
    while index.status().mode != "hnsw" and time.monotonic() < deadline:
        index.catch_up()
        time.sleep(0.05)
    assert index.status().mode == "hnsw"


def age(file: Path, seconds: float) -> None:
    os.utime(file, (time.time() - seconds,) * 2)


def test_the_graph_file_of_a_space_that_serves_no_more_is_removed_after_a_day(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, HASHING | SMALL_GRAPHS) as engine:
        remember_all(engine, TEXTS)
        with_graph(engine)
    (old,) = graph_files(tmp_path)
    age(old, 2 * DAY_S)
    with opened(tmp_path, USE | SMALL_GRAPHS) as engine:
        queue_missing(engine.context)
        release_unused_indexes(engine.context)
        assert old.exists(), "it still answers"
        engine.drain(60.0)
        with_graph(engine)
        age(old, 60)
        release_unused_indexes(engine.context)
        assert old.exists(), "another process may still answer from it"
        age(old, 2 * DAY_S)
        release_unused_indexes(engine.context)
        assert not old.exists()
        assert len(graph_files(tmp_path)) == 1
    with opened(tmp_path, HASHING | SMALL_GRAPHS) as engine:
        assert found(engine, TEXTS[7])[0] is not None
        assert embedded_in(engine, serving(engine)) == len(TEXTS)


def test_an_index_nobody_asks_about_is_let_go_and_made_again_when_asked(tmp_path: Path) -> None:
    with opened(tmp_path, HASHING) as engine:
        remember_all(engine, TEXTS)
        indexes, identity = engine.context.indexes, serving(engine)
        assert identity is not None
        before = indexes.index(identity)
        indexes.keep_only([])
        assert indexes.index(identity) is before
        indexes.keep_only([], idle_s=0)
        assert indexes.index(identity) is not before
        assert found(engine, TEXTS[3], mode="semantic")
