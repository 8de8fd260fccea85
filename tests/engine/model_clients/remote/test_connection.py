"""The connection test and the ready-made entries."""

from __future__ import annotations

import time

import pytest

from engine.model_clients.remote.connection import connection_test
from engine.model_clients.remote.entries import provider_entries


def test_a_working_provider_is_reported_with_model_size_and_latency(config_of, server):
    server.switches.delay = 0.05
    report = connection_test(config_of())
    assert (report.model, report.dims, report.problem) == ("mock-model", 8, None)
    assert 50 <= report.latency_ms < 2_000
    assert [request.body["model"] for request in server.requests] == ["mock-model"]


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_refusal_is_reported_after_one_request(config_of, server, status):
    server.switches.status = status
    report = connection_test(config_of(max_retries=5))
    assert report.problem is not None and report.dims == 0
    assert len(server.requests) == 1


def test_a_wrong_size_is_reported(config_of, server):
    report = connection_test(config_of(dimensions=99))
    assert report.problem is not None and report.problem.key == "error.remote_wrong_size"


def test_a_slow_provider_is_reported_within_the_configured_time(config_of, server):
    server.switches.delay = 20.0
    started = time.monotonic()
    report = connection_test(config_of(timeout_s=0.3))
    assert time.monotonic() - started < 4.0
    assert report.problem is not None and report.problem.key == "error.remote_slow"


def test_an_unusable_address_is_reported(config_of):
    report = connection_test(config_of(base_url=""))
    assert report.problem is not None and report.problem.key == "error.remote_bad_address"


def test_the_ready_made_entries_are_the_documented_ones():
    entries = {entry.name: entry for entry in provider_entries()}
    assert set(entries) == {"siliconflow", "openai", "deepseek", "ollama", "anthropic"}
    embedding = entries["siliconflow"]
    assert (embedding.embedding_model, embedding.dims) == ("Qwen/Qwen3-Embedding-8B", 4096)
    assert (entries["openai"].embedding_model, entries["openai"].dims) == (
        "text-embedding-3-small",
        1536,
    )
    assert entries["ollama"].base_url == "http://localhost:11434/v1"
    assert not entries["ollama"].needs_key
    assert entries["deepseek"].chat_model and entries["anthropic"].chat_model


def test_every_entry_is_a_usable_configuration():
    from engine.model_clients.remote.http import RemoteClient

    for entry in provider_entries():
        for config in (entry.embedding("key"), entry.chat("key")):
            if config.model:
                RemoteClient(config).close()
