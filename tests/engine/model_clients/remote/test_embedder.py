"""Vectors from a provider: order, batches, and texts that fail alone."""

from __future__ import annotations

import time

import numpy as np
import pytest

from engine.domain.errors import ModelUnavailable, TextRefused
from engine.model_clients.remote.config import known_space
from engine.model_clients.remote.embedder import connect
from engine.model_clients.remote.embedding_api import PROBE
from tests.engine.model_clients.remote.mock_embedder import vector_of


def texts_of(count: int) -> list[str]:
    return [f"第{number}条 memory number {number}" for number in range(count)]


def is_vector_of(outcome, text: str, dim: int = 8) -> bool:
    return not isinstance(outcome, ModelUnavailable) and np.allclose(
        outcome, vector_of(text, dim), atol=1e-5
    )


def key_of(outcome) -> str:
    assert isinstance(outcome, ModelUnavailable)
    return outcome.key


def test_vectors_have_length_one_and_the_size_of_the_first_answer(connected, server):
    server.switches.dim = 16
    embedder = connected()
    rows = embedder.embed_passages(texts_of(3))
    assert rows.shape == (3, 16) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert embedder.identity.dims == 16
    assert embedder.embed_query("x").shape == (16,)


def test_answers_in_another_order_are_put_right(connected, server):
    server.switches.shuffle = True
    texts = texts_of(5)
    outcomes = connected().embed_each(texts)
    assert all(map(is_vector_of, outcomes, texts))


def test_a_batch_limit_is_learned_and_kept(connected, server):
    server.switches.max_batch = 10
    embedder = connected()
    texts = texts_of(25)
    assert all(map(is_vector_of, embedder.embed_each(texts), texts))
    assert 5 <= embedder.batch_limit <= 10
    server.requests.clear()
    texts = texts_of(30)
    assert all(map(is_vector_of, embedder.embed_each(texts), texts))
    assert max(server.batches) <= 10


def test_the_configured_batch_size_is_the_most_in_one_request(connected, server):
    connected(batch_size=10).embed_each(texts_of(25))
    assert server.batches == [10, 10, 5]


@pytest.mark.parametrize("status", [400, 422, 500, 503])
def test_failing_texts_fail_alone(connected, server, status):
    server.switches.fail_if, server.switches.fail_status = "坏", status
    embedder = connected()
    texts = [*texts_of(4), "坏 one", *texts_of(2), "two 坏", *texts_of(2)]
    outcomes = embedder.embed_each(texts)
    refused = [place for place, out in enumerate(outcomes) if isinstance(out, TextRefused)]
    assert refused == [4, 7]
    assert all(
        is_vector_of(out, text)
        for out, text in zip(outcomes, texts, strict=True)
        if "坏" not in text
    )
    assert embedder.state().state == "ready"
    # One bad text says nothing about how many fit into a request.
    assert embedder.batch_limit == 32


def test_every_text_refused_although_the_provider_works_is_each_text_s_own_fault(connected, server):
    server.switches.max_chars = 512
    embedder = connected()
    outcomes = embedder.embed_each(["长" * 600, "longer " * 200])
    assert [type(outcome) for outcome in outcomes] == [TextRefused, TextRefused]
    assert server.texts.count(PROBE) <= 2


def test_a_provider_that_fails_for_everything_blames_no_text(connected, server):
    embedder = connected()
    server.switches.status = 500
    outcomes = embedder.embed_each(texts_of(20))
    assert {type(outcome) for outcome in outcomes} == {ModelUnavailable}
    assert len(server.requests) == 2
    assert embedder.state().state == "failing"


def test_what_was_embedded_before_the_provider_went_down_is_kept(connected, server):
    embedder = connected(batch_size=5)
    server.switches.fail_if, server.switches.fail_status = "number 7", 402
    outcomes = embedder.embed_each(texts_of(12))
    assert [isinstance(outcome, ModelUnavailable) for outcome in outcomes] == [False] * 5 + [
        True
    ] * 7
    assert {key_of(outcome) for outcome in outcomes[5:]} == {"error.remote_unpaid"}


def test_the_strict_form_raises_what_failed(connected, server):
    server.switches.fail_if = "坏"
    with pytest.raises(TextRefused):
        connected().embed_passages(["good", "坏"])


@pytest.mark.parametrize("blank", ["", "   ", "\n\n", "\x00\t"])
def test_blank_texts_are_never_sent(connected, server, blank):
    embedder = connected(passage_prefix="passage: ")
    outcomes = embedder.embed_each(["one", blank, "🎉"])
    assert key_of(outcomes[1]) == "error.remote_blank"
    assert is_vector_of(outcomes[2], "passage: 🎉")
    with pytest.raises(TextRefused):
        embedder.embed_query(blank)
    assert server.texts == ["passage: one", "passage: 🎉"]


def test_nothing_to_embed_asks_nobody(connected, server):
    assert connected().embed_each([]) == []
    assert server.requests == []


def test_half_an_emoji_and_nul_are_sent_as_blanks(connected, server):
    [outcome] = connected().embed_each(["a\ud83d b\x00c"])
    assert not isinstance(outcome, ModelUnavailable)
    assert server.texts == ["a  b c"]


def test_prefixes_are_put_in_front(connected, server):
    embedder = connected(query_prefix="query: ", passage_prefix="passage: ")
    embedder.embed_passages(["stored"])
    embedder.embed_query("asked")
    assert server.texts == ["passage: stored", "query: asked"]


# ---- answers that are not quite what they should be


def test_one_unusable_vector_costs_only_its_text(connected, server):
    server.switches.nan_if = "number 2"
    outcomes = connected().embed_each(texts_of(4))
    assert [isinstance(outcome, TextRefused) for outcome in outcomes] == [False, False, True, False]
    assert key_of(outcomes[2]) == "error.model_bad_vector"


@pytest.mark.parametrize("fault", ["nan", "zero"])
def test_a_provider_that_makes_only_unusable_vectors_is_to_blame(
    config_of, connected, server, fault
):
    embedder = connected()
    setattr(server.switches, fault, True)
    outcomes = embedder.embed_each(texts_of(6))
    assert {type(outcome) for outcome in outcomes} == {ModelUnavailable}
    assert {key_of(outcome) for outcome in outcomes} == {"error.model_bad_vector"}
    assert embedder.state().state == "failing"
    with pytest.raises(ModelUnavailable):
        connect(config_of())


def test_a_missing_vector_is_noticed(connected, server):
    embedder = connected()
    server.switches.short = True
    assert {key_of(outcome) for outcome in embedder.embed_each(texts_of(3))} == {
        "error.remote_wrong_count"
    }


def test_answers_that_all_say_index_zero_are_asked_for_one_by_one(connected, server):
    embedder = connected()
    server.switches.same_index = True
    texts = texts_of(4)
    assert all(map(is_vector_of, embedder.embed_each(texts), texts))


@pytest.mark.parametrize("answers", [True, "always"])
@pytest.mark.parametrize("asked", ["", "base64"])
def test_base64_answers_are_read_asked_for_or_not(connected, server, answers, asked):
    server.switches.base64 = answers
    [outcome] = connected(encoding_format=asked).embed_each(["text"])
    assert is_vector_of(outcome, "text")


@pytest.mark.parametrize(
    "raw",
    [b"{}", b"[]", b'{"data": null}', b'{"data": {}}', b'{"data": [null]}', b"null",
     b'{"data": [{"embedding": []}]}', b'{"data": [{"embedding": "%%"}]}',
     b'{"data": [{"embedding": [[1, 2]]}]}', b'{"data": [{"embedding": [1e999, "x"]}]}',
     b'{"error": {"message": "no"}}', b"<html>login</html>", b"\xff\xfe", b""],
)  # fmt: skip
def test_a_nonsense_answer_is_a_named_failure(connected, server, raw):
    embedder = connected()
    server.switches.raw = raw
    [outcome] = embedder.embed_each(["text"])
    assert key_of(outcome).startswith("error.")


def test_optional_fields_are_sent_only_when_configured(connected, server):
    server.switches.strict = True
    connected().embed_passages(["text"])
    assert [set(request.body) for request in server.requests] == [{"model", "input"}]
    server.switches.strict = False
    connected(dimensions=8, encoding_format="float").embed_passages(["text"])
    assert server.requests[-1].body == {
        "model": "mock-model", "input": ["text"], "dimensions": 8, "encoding_format": "float"
    }  # fmt: skip


def test_refused_optional_fields_are_left_out_and_the_texts_embedded(connected, server):
    server.switches.strict = True
    embedder = connected(dimensions=8, encoding_format="float")
    texts = texts_of(6)
    assert all(map(is_vector_of, embedder.embed_each(texts), texts))
    assert embedder.batch_limit == 32
    server.requests.clear()
    embedder.embed_passages(["text"])
    assert [set(request.body) for request in server.requests] == [{"model", "input"}]


def test_refused_optional_fields_do_not_cost_a_query(connected, server):
    server.switches.strict = True
    assert connected(dimensions=8).embed_query("text").shape == (8,)


def test_another_size_than_configured_is_said_with_both_numbers(connected, server):
    server.switches.dim = 16
    outcomes = connected(dimensions=8).embed_each(["a", "b"])
    assert {type(outcome) for outcome in outcomes} == {ModelUnavailable}
    assert outcomes[0].key == "error.remote_wrong_size"
    assert (outcomes[0].params["expected"], outcomes[0].params["found"]) == (8, 16)


def test_a_size_that_changes_while_running_is_refused(connected, server):
    embedder = connected()
    server.switches.dim = 16
    assert key_of(embedder.embed_each(["a"])[0]) == "error.remote_wrong_size"


def test_a_query_the_model_does_not_take_is_its_own_fault(connected, server):
    server.switches.max_chars = 100
    embedder = connected()
    with pytest.raises(ModelUnavailable) as caught:
        embedder.embed_query("long " * 50)
    assert caught.value.params["status"] == 500
    assert embedder.state().state == "ready"
    server.switches.nan = True
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("short")
    assert embedder.state().state == "failing"


# ---- the space


@pytest.mark.parametrize(
    "change",
    [{"base_url": "http://other.example/v1"}, {"model": "m2"}, {"query_prefix": "q: "},
     {"passage_prefix": "p: "}, {"dimensions": 16}],
    ids=str,
)  # fmt: skip
def test_another_endpoint_model_prefix_or_size_is_another_space(config_of, change):
    base = {"dimensions": 8}
    assert known_space(config_of(**base)) != known_space(config_of(**(base | change)))


def test_key_batch_and_spelling_of_the_address_do_not_make_another_space(config_of, server):
    spaces = {
        known_space(config_of(dimensions=8, base_url=url, api_key=key, batch_size=size))
        for url in (server.url, server.url + "/", server.url + "/embeddings", server.url[:-3])
        for key, size in (("", 1), ("k", 2))
    }
    assert len(spaces) == 1


def test_a_known_size_needs_no_request_to_connect(config_of, server):
    embedder = connect(config_of(dimensions=8))
    assert embedder.identity == known_space(config_of(dimensions=8))
    assert server.requests == []


# ---- time


def test_a_query_ends_within_its_time_when_the_provider_is_slow(connected, server):
    embedder = connected()
    server.switches.delay = 20.0
    started = time.monotonic()
    with pytest.raises(ModelUnavailable) as caught:
        embedder.embed_query("text", wait_s=0.4)
    assert time.monotonic() - started < 4.0
    assert caught.value.key == "error.remote_slow"
    server.switches.delay = 0.0
    assert embedder.embed_query("text", wait_s=2.0).shape == (8,)


def test_writing_ends_within_its_time_when_the_provider_is_slow(connected, server):
    embedder = connected(max_retries=3)
    server.switches.delay = 20.0
    started = time.monotonic()
    outcomes = embedder.embed_each(texts_of(20), wait_s=0.4)
    assert time.monotonic() - started < 4.0
    assert {key_of(outcome) for outcome in outcomes} == {"error.remote_slow"}
    assert {type(outcome) for outcome in outcomes} == {ModelUnavailable}


def test_eight_threads_share_one_embedder(connected):
    from concurrent.futures import ThreadPoolExecutor

    embedder = connected(batch_size=3)
    texts = texts_of(7)
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: embedder.embed_each(texts), range(8)))
    assert all(
        is_vector_of(out, text) for run in runs for out, text in zip(run, texts, strict=True)
    )
