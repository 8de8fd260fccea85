"""The shipped arrays, and what they were made from."""

from __future__ import annotations

import numpy as np
import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5.language_subspace import asset, of_language_means, shipped
from engine.model_clients.e5.numpy_engine import NumpyEngine
from engine.model_clients.e5.self_test import GOLDEN_FILE, GOLDEN_TEXTS
from engine.model_clients.unit_rows import unit_rows
from tests.engine.model_clients.e5.make_constants import (
    golden_vectors,
    passage_rows,
    sentences,
)


def test_the_directions_are_orthonormal_and_at_right_angles_to_the_mean() -> None:
    subspace = shipped()
    assert np.allclose(subspace.directions @ subspace.directions.T, np.eye(3), atol=1e-5)
    assert np.allclose(subspace.directions @ subspace.mean, 0, atol=1e-5)
    assert subspace.constant().nbytes == 4 * 384 * 4


def test_what_differs_between_languages_is_gone() -> None:
    means = np.random.default_rng(3).normal(size=(4, 384))
    cleared = of_language_means(means).without(means.astype(np.float32))
    assert np.allclose(cleared, cleared[0], atol=1e-4)


def test_every_language_has_two_hundred_different_sentences() -> None:
    assert {name: len(set(texts)) for name, texts in sentences().items()} == {
        "zh": 200,
        "en": 200,
        "ja": 200,
        "ko": 200,
    }


def test_the_golden_vectors_are_those_of_the_model(tensors, tokenizer) -> None:
    made = golden_vectors(tokenizer, NumpyEngine(tensors))
    assert (made * asset(GOLDEN_FILE, len(GOLDEN_TEXTS))).sum(1).min() > 0.99999


def test_the_directions_are_those_of_the_sentences(e5, tokenizer) -> None:
    """A sixteenth of the sentences and the faster engine; the whole takes half a minute."""
    means = [
        unit_rows(e5._engine.mean_states(passage_rows(tokenizer, texts[::16])), "e5").mean(0)
        for texts in sentences().values()
    ]
    measured = of_language_means(np.stack(means).astype(np.float64))
    overlap = np.linalg.svd(measured.directions @ shipped().directions.T)[1]
    assert overlap.min() > 0.95


def test_a_missing_or_foreign_array_is_an_error_of_the_installation() -> None:
    for name, rows in (("no-such-file.npy", 4), (GOLDEN_FILE, 99)):
        with pytest.raises(ModelUnavailable) as caught:
            asset(name, rows)
        assert caught.value.key == "error.e5_asset_missing"
