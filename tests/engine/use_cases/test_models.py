"""Choosing, testing and filling a model's space."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.config.editing import set_value, written_value
from engine.domain.errors import InvalidInput, ModelUnavailable
from engine.model_clients.calibration import thresholds_of
from engine.storage import leases
from engine.use_cases.embed_pending import LEASE
from engine.use_cases.models import ModelWish, calibrate_model
from tests.engine.model_clients.remote.mock_embedder import MockEmbedder, running
from tests.engine.use_cases.shortcuts import found, remember, remember_all

TEXTS = [f"第{number}次会议讨论了预算和人员安排" for number in range(40)]


@pytest.fixture
def engine(home: Path):
    """An engine whose model the file decides; it starts with words only."""
    home.mkdir()
    set_value(home / "config.yaml", "embedding.provider", "none")
    with open_engine(home, environ={}) as opened:
        yield opened


@pytest.fixture
def mock():
    with running() as server:
        yield server


def use(engine: Engine, mock: MockEmbedder, model: str = "m1") -> None:
    engine.choose_model(ModelWish("openai", mock.url, model))


def every(done: int, total: int) -> bool:
    return True


def written(engine: Engine, name: str) -> object:
    return written_value(engine.context.live.path, f"embedding.{name}")


def test_the_choices_are_the_built_in_ones_and_providers_with_vectors(engine: Engine) -> None:
    choices = {choice.name: choice for choice in engine.model_choices()}
    assert list(choices) == ["embedded", "lite", "none", "ollama", "openai", "siliconflow"]
    assert [name for name, choice in choices.items() if choice.is_chosen] == ["none"]
    assert choices["siliconflow"].needs_key
    assert choices["lite"].dims > 0


def test_a_chosen_model_is_in_force_at_once_and_all_memories_get_its_vectors(
    engine: Engine, mock: MockEmbedder
) -> None:
    ids = remember_all(engine, TEXTS)
    use(engine, mock)
    seen: list[tuple[int, int]] = []

    def watch(done: int, total: int) -> bool:
        seen.append((done, total))
        return True

    run = engine.embed_all(watch)
    assert (run.done, run.reason, run.stopped) == (40, None, False)
    assert (seen[0], seen[-1]) == ((0, 40), (40, 40))
    assert len(seen) >= 4
    report = engine.model_report()
    assert (report.embedded, report.live, report.serving, report.pending) == (40, 40, "m1", 0)
    assert found(engine, TEXTS[7], mode="semantic")[0] == ids[7]


def test_it_stops_when_told_and_goes_on_later(engine: Engine, mock: MockEmbedder) -> None:
    remember_all(engine, TEXTS)
    use(engine, mock)
    run = engine.embed_all(lambda done, total: done == 0)
    assert (run.done, run.stopped) == (16, True)
    assert engine.embed_all(every).done == 24


def test_private_memories_are_no_part_of_a_providers_count(
    engine: Engine, mock: MockEmbedder
) -> None:
    remember(engine, "公开的")
    remember(engine, "私密的", private=True)
    use(engine, mock)
    engine.embed_all(every)
    report = engine.model_report()
    assert (report.embedded, report.live) == (1, 1)
    assert not any("私密" in text for text in mock.texts)


def test_a_provider_that_fails_ends_the_work_with_its_reason(
    engine: Engine, mock: MockEmbedder
) -> None:
    remember_all(engine, TEXTS[:3])
    use(engine, mock)
    mock.switches.status = 401
    run = engine.embed_all(every)
    assert run.reason is not None
    assert run.reason.key == "error.remote_key_refused"


def test_without_a_model_there_is_nothing_to_do(engine: Engine) -> None:
    run = engine.embed_all(every)
    assert run.reason is not None
    assert run.reason.key == "error.model_off"


def test_work_that_another_process_does_is_waited_for(engine: Engine, mock: MockEmbedder) -> None:
    remember_all(engine, TEXTS[:3])
    use(engine, mock)
    database = engine.context.database
    with database.write() as connection:
        leases.take(connection, LEASE, "other", engine.context.clock.now(), 60.0)
    rounds = []

    def release_at_second(done: int, total: int) -> bool:
        rounds.append(done)
        if len(rounds) == 2:
            with database.write() as connection:
                leases.release(connection, LEASE, "other")
        return True

    assert engine.embed_all(release_at_second).done == 3
    assert rounds[:2] == [0, 0]


def test_a_test_tells_model_size_and_time_or_the_reason(engine: Engine, mock: MockEmbedder) -> None:
    off = engine.try_model(wait_s=5.0)
    assert off.problem is not None
    assert off.problem.key == "error.model_off"
    use(engine, mock)
    works = engine.try_model(wait_s=5.0)
    assert (works.model, works.dims, works.problem) == ("m1", 8, None)
    assert works.latency_ms > 0
    mock.switches.status = 402
    refused = engine.try_model(wait_s=5.0)
    assert refused.problem is not None
    assert (refused.dims, refused.problem.key) == (0, "error.remote_unpaid")


def test_hashing_is_tried_like_any_local_model(engine: Engine) -> None:
    set_value(engine.context.live.path, "embedding.provider", "hashing")
    tried = engine.try_model(wait_s=5.0)
    assert tried.problem is None
    assert tried.dims > 0


def test_a_provider_entry_brings_all_that_belongs_to_it(engine: Engine) -> None:
    path = engine.context.live.path
    set_value(path, "embedding.dimensions", 77)
    set_value(path, "embedding.query_prefix", "query: ")
    engine.choose_model(ModelWish("siliconflow", api_key_env="SF_KEY"))
    assert written(engine, "provider") == "openai"
    assert written(engine, "base_url") == "https://api.siliconflow.cn/v1"
    assert written(engine, "model") == "Qwen/Qwen3-Embedding-8B"
    assert written(engine, "api_key") == "${SF_KEY}"
    assert (written(engine, "dimensions"), written(engine, "query_prefix")) == (0, "")


def test_going_back_to_the_same_provider_keeps_key_and_size(engine: Engine) -> None:
    engine.choose_model(ModelWish("siliconflow", api_key_env="SF_KEY"))
    set_value(engine.context.live.path, "embedding.dimensions", 1024)
    engine.choose_model(ModelWish("none"))
    chosen = engine.choose_model(ModelWish("siliconflow"))
    assert (written(engine, "api_key"), written(engine, "dimensions")) == ("${SF_KEY}", 1024)
    assert chosen.overridden_by == ()


def test_a_key_is_never_taken_along_to_another_address(engine: Engine) -> None:
    path = engine.context.live.path
    engine.choose_model(ModelWish("siliconflow", api_key_env="SF_KEY"))
    engine.choose_model(ModelWish("ollama"))
    assert written(engine, "api_key") == ""
    set_value(path, "embedding.api_key", "sk-test-ABCDEFG-123456")
    before = path.read_bytes()
    with pytest.raises(InvalidInput) as refused:
        engine.choose_model(ModelWish("openai", "https://api.example.com/v1", "m"))
    assert refused.value.key == "error.model_other_key"
    assert "sk-test" not in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("wish", "fault"),
    [
        (ModelWish("ollma"), "error.model_no_such_near"),
        (ModelWish("lite", model="x"), "error.model_only_remote"),
        (ModelWish("siliconflow"), "error.model_needs_key"),
        (ModelWish("openai", "http://127.0.0.1:1/v1"), "error.model_needs_name"),
        (ModelWish("deepseek", api_key_env="K"), "error.model_needs_name"),
        (ModelWish("openai", api_key_env="sk-test-ABCDEFG"), "error.model_bad_variable"),
    ],
)
def test_an_incomplete_wish_says_what_is_missing_and_writes_nothing(
    engine: Engine, wish: ModelWish, fault: str
) -> None:
    before = engine.context.live.path.read_bytes()
    with pytest.raises(InvalidInput) as refused:
        engine.choose_model(wish)
    assert refused.value.key == fault
    assert "ABCDEFG" not in str(refused.value)
    assert engine.context.live.path.read_bytes() == before


def test_variables_that_win_over_the_file_are_named(home: Path) -> None:
    with open_engine(home, environ={"JIYI_EMBEDDING__PROVIDER": "hashing"}) as engine:
        chosen = engine.choose_model(ModelWish("none"))
    assert chosen.overridden_by == ("JIYI_EMBEDDING__PROVIDER",)


def test_a_providers_model_is_estimated_when_it_is_first_used(
    engine: Engine, mock: MockEmbedder
) -> None:
    use(engine, mock)
    engine.embed_all(every)
    identity, folder = engine.context.models.identity(), engine.context.models_folder
    assert thresholds_of(identity, folder) != thresholds_of(None)
    asked = len(mock.requests)
    assert not calibrate_model(engine.context, 10.0)
    assert len(mock.requests) == asked


def test_without_an_answer_cautious_values_go_on(engine: Engine, mock: MockEmbedder) -> None:
    use(engine, mock)
    mock.switches.status = 500
    with pytest.raises(ModelUnavailable):
        calibrate_model(engine.context, 2.0)
    assert list(engine.context.models_folder.glob("calibration-*")) == []
