"""Vectors of questions in a file: a cache, so whatever is wrong with it is nothing."""

from __future__ import annotations

import numpy as np

from engine.model_clients.query_file import read_queries, write_queries

VECTORS = {"你好": np.array([0.6, 0.8], np.float32), "hello": np.array([1.0, 0.0], np.float32)}


def test_what_was_kept_is_read_again(tmp_path):
    path = tmp_path / "questions.npz"
    write_queries(path, "space", VECTORS)
    found = read_queries(path, "space")
    assert list(found) == ["你好", "hello"]
    assert found["你好"].tolist() == VECTORS["你好"].tolist()
    assert [entry.name for entry in tmp_path.iterdir()] == ["questions.npz"]


def test_vectors_of_another_space_are_nothing(tmp_path):
    path = tmp_path / "questions.npz"
    write_queries(path, "space", VECTORS)
    assert read_queries(path, "another") == {}


def test_a_missing_or_damaged_file_is_nothing(tmp_path):
    path = tmp_path / "questions.npz"
    assert read_queries(path, "space") == {}
    for content in (b"", b"PK", b"no archive"):
        path.write_bytes(content)
        assert read_queries(path, "space") == {}


def test_nothing_to_keep_makes_no_file(tmp_path):
    write_queries(tmp_path / "questions.npz", "space", {})
    assert list(tmp_path.iterdir()) == []
