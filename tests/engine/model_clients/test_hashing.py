"""Vectors without a model."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.model_clients.hashing import HashingEmbedder


def test_equal_texts_have_equal_vectors_in_every_process() -> None:
    vector = HashingEmbedder().embed_query("猫 cat")
    assert vector.shape == (256,)
    assert np.flatnonzero(vector).tolist() == [8, 158, 170, 212]


def test_folded_forms_are_the_same_word() -> None:
    embedder = HashingEmbedder()
    upper, lower = embedder.embed_passages(["ＣＡＴ Sleeps", "cat sleeps"])
    assert float(upper @ lower) > 0.999


def test_texts_that_share_words_are_nearer() -> None:
    query, near, far = HashingEmbedder().embed_passages(
        ["雨天猫在睡觉", "猫总是在睡觉", "quarterly budget review"]
    )
    assert float(query @ near) > 0.25 > float(query @ far)


@given(st.lists(st.text(), max_size=5))
def test_every_text_has_a_vector_of_length_one(texts: list[str]) -> None:
    rows = HashingEmbedder(64).embed_passages(texts)
    assert rows.shape == (len(texts), 64)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
