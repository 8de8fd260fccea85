"""A fault inside a model's own code is a model that cannot answer, and nothing worse."""

from __future__ import annotations

import pytest

from engine.domain.errors import ModelUnavailable, TextRefused
from engine.model_clients.hashing import HashingEmbedder
from engine.model_clients.loaded import LocalModel


class Choosy(HashingEmbedder):
    """Breaks on some texts, and on all of them when ``broken``."""

    broken = False

    def embed_passages(self, texts):
        if self.broken or any("坏" in text for text in texts):
            raise IndexError("secret text")
        return super().embed_passages(texts)

    def embed_query(self, text):
        raise MemoryError


def test_a_bad_text_costs_only_itself():
    outcomes = LocalModel(Choosy()).embed_texts(["好", "坏", "妙"])
    assert [isinstance(outcome, TextRefused) for outcome in outcomes] == [False, True, False]


def test_a_lone_bad_text_is_to_blame_when_the_model_takes_another():
    (outcome,) = LocalModel(Choosy()).embed_texts(["坏"])
    assert isinstance(outcome, TextRefused)
    assert "secret" not in str(outcome)


def test_no_text_is_to_blame_when_the_model_is_broken():
    model = Choosy()
    model.broken = True
    for outcome in LocalModel(model).embed_texts(["好", "坏"]):
        assert isinstance(outcome, ModelUnavailable) and not isinstance(outcome, TextRefused)


def test_a_fault_on_a_query_names_its_kind_only():
    with pytest.raises(ModelUnavailable) as raised:
        LocalModel(Choosy()).embed_query("x")
    assert raised.value.params["detail"] == "MemoryError"


def test_what_the_model_says_itself_is_kept():
    class Off(HashingEmbedder):
        def embed_query(self, text):
            raise ModelUnavailable("error.model_off")

    with pytest.raises(ModelUnavailable) as raised:
        LocalModel(Off()).embed_query("x")
    assert raised.value.key == "error.model_off"


def test_answers_pass_through():
    inner = HashingEmbedder()
    (outcome,) = LocalModel(inner).embed_texts(["记忆"])
    assert isinstance(outcome, tuple)
    (cut,) = outcome
    assert (cut.start, cut.end) == (0, 2)
    assert (cut.vector == inner.embed_passages(["记忆"])[0]).all()
