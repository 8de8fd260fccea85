"""``jiyi model use|list|test`` and ``jiyi config set``."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine
from tests.engine.model_clients.remote.mock_embedder import MockEmbedder, running
from tests.launchers.cli.conftest import Jiyi


@pytest.fixture
def mock():
    with running() as server:
        yield server


@pytest.fixture
def free(jiyi: Jiyi, monkeypatch: pytest.MonkeyPatch) -> Jiyi:
    """The file decides about the model; it says none."""
    monkeypatch.delenv("JIYI_EMBEDDING__PROVIDER")
    assert jiyi("config", "set", "embedding.provider", "none").code == 0
    return jiyi


def config_of(jiyi: Jiyi) -> Path:
    return jiyi.home / "config.yaml"


def remote(mock: MockEmbedder) -> list[str]:
    return ["openai", "--base-url", mock.url, "--model", "m1"]


def test_setting_a_value_changes_its_line_and_shows_it(jiyi: Jiyi) -> None:
    jiyi("stats")
    before = config_of(jiyi).read_text(encoding="utf-8").splitlines()
    answer = jiyi("config", "set", "recall.k", "7")
    assert (answer.code, answer.lines) == (0, [["recall.k", "7", "5", "file"]])
    assert "recall.k is now 7 (at once)" in answer.err
    after = config_of(jiyi).read_text(encoding="utf-8").splitlines()
    changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert changed == [("  k: 5", "  k: 7")]
    assert jiyi("config", "recall.k", "--json").json["settings"][0]["value"] == "7"


def test_setting_a_key_never_shows_it(jiyi: Jiyi) -> None:
    answer = jiyi("config", "set", "embedding.api_key", "sk-test-ABCDEFG-123456")
    assert answer.code == 0
    assert "ABCDEFG" not in answer.out + answer.err
    mask = jiyi("config", "embedding.api_key", "--json").json["settings"][0]["value"]
    assert jiyi("config", "set", "embedding.api_key", mask).code == 1
    assert "sk-test-ABCDEFG-123456" in config_of(jiyi).read_text(encoding="utf-8")


def test_a_variable_that_wins_over_what_was_set_is_named(
    jiyi: Jiyi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JIYI_RECALL__K", "9")
    answer = jiyi("config", "set", "recall.k", "7")
    assert "JIYI_RECALL__K" in answer.err
    assert answer.lines == [["recall.k", "9", "5", "JIYI_RECALL__K"]]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["set"], 2, "recall.k 7"),
        (["set", "recall.k"], 2, "recall.k 7"),
        (["set", "recall", "7"], 2, "recall.preset"),
        (["set", "recall.kk", "7"], 1, "recall.k"),
        (["set", "recall.k", "700"], 1, "1-100"),
        (["recall.k", "7"], 2, "“7”"),
    ],
)
def test_a_mistake_in_setting_is_said_in_one_line(
    jiyi: Jiyi, arguments: list[str], code: int, said: str
) -> None:
    answer = jiyi("config", *arguments)
    assert answer.code == code
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1


def test_the_list_names_every_choice_and_what_it_needs(free: Jiyi) -> None:
    rows = {line[1]: line for line in free("model", "list").lines}
    assert set(rows) == {"embedded", "lite", "none", "ollama", "openai", "siliconflow"}
    assert [name for name, row in rows.items() if row[0] == "*"] == ["none"]
    assert "--api-key-env" in rows["openai"][-1]
    assert "localhost:11434" in rows["ollama"][-1]
    shown = free("model", "list", "--format", "table", "--lang", "zh").out
    assert "硅基流动" in shown
    assert "cli." not in shown
    assert free("model", "list", "--json").json[0]["name"] == "embedded"


def test_a_provider_is_chosen_and_all_memories_embedded_on_request(
    free: Jiyi, mock: MockEmbedder
) -> None:
    for number in range(3):
        free("remember", f"note {number}")
    chosen = free("model", "use", *remote(mock), "--no-wait", "--json")
    assert chosen.code == 0
    assert (chosen.json["in_force"], chosen.json["embedded"]) == (True, 0)
    assert "by words" in chosen.err
    done = free("model", "use", *remote(mock), "--wait", "--json")
    assert done.code == 0
    assert (done.json["embedded"], done.json["remaining"]) == (3, 0)
    assert "the new model answers" in done.err


def test_the_old_model_is_said_to_answer_meanwhile(free: Jiyi, mock: MockEmbedder) -> None:
    free("config", "set", "embedding.provider", "hashing")
    free("remember", "one")
    answer = free("model", "use", *remote(mock))
    assert "answers until all memories" in answer.err
    assert "jiyi model embed" in answer.err


def test_on_a_terminal_progress_is_shown_beside_the_answer(free: Jiyi, mock: MockEmbedder) -> None:
    free("remember", "one")
    answer = free.terminal("model", "use", *remote(mock))
    assert answer.code == 0
    assert "Vectors" in answer.err
    assert "1/1" in answer.err
    assert answer.out == ""


def test_ctrl_c_keeps_what_is_done_and_says_what_goes_on(
    free: Jiyi, mock: MockEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    free("remember", "one")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "embed_all", interrupted)
    answer = free("model", "use", *remote(mock), "--wait")
    assert answer.code == 130
    assert "Stopped at 0 of 1" in answer.err
    assert "still wait" in answer.err


def test_a_model_that_works_not_ends_with_1_and_the_reason(free: Jiyi, mock: MockEmbedder) -> None:
    assert free("model", "test").code == 1
    free("remember", "one")
    free("model", "use", *remote(mock))
    works = free("model", "test", "--json")
    assert (works.code, works.json["works"], works.json["dims"]) == (0, True, 8)
    mock.switches.status = 401
    refused = free("model", "test")
    assert refused.code == 1
    assert refused.lines[0][0] == "failed"
    assert "401" in refused.err
    assert free("model", "use", *remote(mock), "--wait").code == 1


def test_words_only_is_a_choice_and_keeps_the_vectors(free: Jiyi, mock: MockEmbedder) -> None:
    free("remember", "one")
    free("model", "use", *remote(mock), "--wait")
    off = free("model", "use", "none", "--wait")
    assert off.code == 0
    assert "words only" in off.err
    back = free("model", "use", *remote(mock), "--json")
    assert (back.json["embedded"], back.json["remaining"]) == (1, 0)


def test_a_variable_that_wins_over_the_choice_is_named(jiyi: Jiyi) -> None:
    answer = jiyi("model", "use", "none", "--json")
    assert answer.code == 0
    assert "JIYI_EMBEDDING__PROVIDER" in answer.err
    assert answer.json["in_force"] is False


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["use"], 2, "siliconflow"),
        (["use", "ollma"], 1, "ollama"),
        (["use", "siliconflow"], 1, "--api-key-env"),
        (["test", "ollama"], 2, "ollama"),
        (["lst"], 1, "list"),
    ],
)
def test_a_mistake_in_choosing_is_said_in_one_line(
    free: Jiyi, arguments: list[str], code: int, said: str
) -> None:
    answer = free("model", *arguments)
    assert answer.code == code
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1
