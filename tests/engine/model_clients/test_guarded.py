"""A fault inside a model's own code is a model that cannot answer, and nothing worse."""

from __future__ import annotations

import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients.guarded import GuardedEmbedder
from engine.model_clients.hashing import HashingEmbedder


class Broken(HashingEmbedder):
    """A model whose own code fails."""

    def embed_passages(self, texts):
        raise IndexError("secret text")

    def embed_query(self, text):
        raise MemoryError


def test_a_fault_in_the_model_is_reported_without_its_texts():
    guarded = GuardedEmbedder(Broken())
    with pytest.raises(ModelUnavailable) as passages:
        guarded.embed_passages(["secret text"])
    with pytest.raises(ModelUnavailable):
        guarded.embed_query("x")
    assert passages.value.params["detail"] == "IndexError"
    assert "secret" not in str(passages.value)


def test_what_the_model_says_itself_is_kept():
    class Off(HashingEmbedder):
        def embed_query(self, text):
            raise ModelUnavailable("error.model_off")

    with pytest.raises(ModelUnavailable) as raised:
        GuardedEmbedder(Off()).embed_query("x")
    assert raised.value.key == "error.model_off"


def test_answers_pass_through():
    inner, guarded = HashingEmbedder(), GuardedEmbedder(HashingEmbedder())
    assert guarded.identity == inner.identity
    assert (guarded.embed_query("记忆") == inner.embed_query("记忆")).all()
