"""Chat and rerank on the same door."""

from __future__ import annotations

import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.chat import ChatClient, ChatMessage
from engine.model_clients.remote.rerank import RerankClient
from tests.engine.model_clients.remote.conftest import KEY


@pytest.fixture
def chat(config_of):
    """A chat client for the provider."""
    client = ChatClient(config_of())
    yield client
    client.close()


@pytest.fixture
def rerank(config_of):
    """A rerank client for the provider."""
    client = RerankClient(config_of())
    yield client
    client.close()


def test_a_chat_answers_with_text(chat, server):
    server.switches.reply = " 小结 \n"
    turns = [ChatMessage("system", "be short"), ChatMessage("user", "sum up")]
    assert chat.complete(turns, max_tokens=50) == "小结"
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "mock-model",
        "messages": [
            {"role": "system", "content": "be short"},
            {"role": "user", "content": "sum up"},
        ],
        "max_tokens": 50,
    }


def test_a_chat_answer_in_parts_is_joined(chat, server):
    server.switches.reply = [
        {"type": "text", "text": "a"},
        {"type": "other"},
        {"type": "text", "text": "b"},
    ]
    assert chat.complete([ChatMessage("user", "x")]) == "ab"


@pytest.mark.parametrize("reply", [None, "", "  ", 5, []])
def test_a_chat_answer_without_text_is_a_failure(chat, server, reply):
    server.switches.reply = reply
    with pytest.raises(ModelUnavailable) as caught:
        chat.complete([ChatMessage("user", "x")])
    assert caught.value.key == "error.remote_no_text"


@pytest.mark.parametrize(
    "raw", [b"[]", b'{"choices": []}', b'{"choices": [1]}', b'{"choices": [{"message": "x"}]}']
)
def test_a_nonsense_chat_answer_is_a_failure(chat, server, raw):
    server.switches.raw = raw
    with pytest.raises(ModelUnavailable):
        chat.complete([ChatMessage("user", "x")])


def test_scores_come_back_in_the_order_of_the_documents(rerank, server):
    server.switches.scores = [
        {"index": 1, "relevance_score": 0.9},
        {"index": 0, "relevance_score": -2},
    ]
    assert rerank.scores("q", ["a", "b"]) == [-2.0, 0.9]
    assert server.requests[0].body == {"model": "mock-model", "query": "q", "documents": ["a", "b"]}


@pytest.mark.parametrize(
    "raw", [b'{"data": [{"index": 0, "relevance_score": 1}]}', b'[{"index": 0, "score": 1}]']
)
def test_other_forms_of_scores_are_read(rerank, server, raw):
    server.switches.raw = raw
    assert rerank.scores("q", ["a"]) == [1.0]


@pytest.mark.parametrize(
    "scores",
    [[], [{"index": 0, "score": 1}], [{"index": 0, "score": 1}, {"index": 0, "score": 2}],
     [{"index": 0, "score": 1}, {"index": 2, "score": 2}],
     [{"index": 0, "score": 1}, {"index": 1, "score": float("nan")}],
     [{"index": 0, "score": 1}, {"index": 1, "score": "high"}], [{"index": 0, "score": True}, 1],
     [{"index": i, "score": 1} for i in range(3)]],
)  # fmt: skip
def test_anything_but_one_score_per_document_is_a_failure(rerank, server, scores):
    server.switches.scores = scores
    with pytest.raises(ModelUnavailable) as caught:
        rerank.scores("q", ["a", "b"])
    assert caught.value.key == "error.remote_wrong_scores"


def test_no_documents_ask_nobody(rerank, server):
    assert rerank.scores("q", []) == []
    assert server.requests == []
