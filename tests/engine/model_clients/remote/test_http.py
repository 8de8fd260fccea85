"""The door to a provider: retries, pauses, proxies, redirects, and a key that stays inside."""

from __future__ import annotations

import logging
import threading
import time
import traceback

import pytest

from engine.config.messages import render
from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote import http
from engine.model_clients.remote.address import is_loopback
from engine.model_clients.remote.gate import PAUSE_S
from engine.model_clients.remote.http import RemoteClient
from tests.engine.model_clients.remote.conftest import KEY
from tests.engine.model_clients.remote.mock_embedder import running

PAYLOAD = {"model": "mock-model", "input": ["标记QX9"]}
DEAD = "http://127.0.0.1:9"


@pytest.fixture
def client_of(config_of):
    """Clients that are closed after the test."""
    opened = []

    def make(clock=time.time, **changes) -> RemoteClient:
        opened.append(RemoteClient(config_of(**changes), clock))
        return opened[-1]

    yield make
    for client in opened:
        client.close()


def post(client: RemoteClient, wait_s: float | None = None) -> object:
    return client.post("embeddings", PAYLOAD, client.patience(wait_s))


def failure_of(client: RemoteClient, wait_s: float | None = None) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        post(client, wait_s)
    return caught.value


# ---- addresses


@pytest.mark.parametrize(
    "ending", ["", "/", "/v1", "/v1/", "/v1/embeddings", "/v1/v1", "/v1/embeddings/"]
)
def test_every_spelling_of_the_address_finds_the_interface(client_of, server, ending):
    client = client_of(base_url=f"http://127.0.0.1:{server.port}{ending}")
    post(client)
    assert [request.path for request in server.requests] == ["/v1/embeddings"]


def test_an_address_without_scheme_works(client_of, server):
    post(client_of(base_url=f"localhost:{server.port}"))


@pytest.mark.parametrize(
    ("root", "written"), [("", ""), ("/api", "/api"), ("/api/v1", "/api"), ("/api/v3", "/api/v3")]
)
def test_an_interface_at_another_place_is_found_and_remembered(client_of, server, root, written):
    server.switches.root = root
    client = client_of(base_url=f"http://127.0.0.1:{server.port}{written}")
    post(client)
    server.requests.clear()
    post(client)
    assert [request.path for request in server.requests] == [f"{root}/embeddings"]


@pytest.mark.parametrize(
    "address",
    ["", "ftp://x/v1", "http://", "http://[::1", "http://h:99999", "http://a b/v1", KEY + " "],
)
def test_an_unusable_address_is_refused_without_repeating_it(config_of, address):
    if address.strip() == KEY:
        address = f"key {KEY}"
    with pytest.raises(ModelUnavailable) as caught:
        RemoteClient(config_of(base_url=address))
    assert caught.value.key == "error.remote_bad_address"
    assert KEY not in str(caught.value)


def test_a_missing_model_is_named(client_of, server):
    client = client_of()
    server.switches.root = "/elsewhere"
    assert failure_of(client).key == "error.remote_not_found"


# ---- retries and pauses


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refused_account_is_asked_once_and_then_left_alone(client_of, server, status):
    now = [1_000_000.0]
    client = client_of(clock=lambda: now[0], max_retries=3)
    server.switches.status = status
    keys = {failure_of(client).key for _ in range(12)}
    assert len(server.requests) == 1 and len(keys) == 1
    state = client.state()
    assert (state.state, state.since, state.until) == ("paused", now[0], now[0] + PAUSE_S)
    assert state.reason is not None and str(status) in render(state.reason, "zh")
    now[0] += PAUSE_S + 1
    server.switches.status = 0
    post(client)
    assert client.state().state == "ready"


def test_a_new_configuration_is_not_paused(client_of, server):
    server.switches.status = 402
    failure_of(client_of())
    server.switches.status = 0
    post(client_of(api_key="another"))


def test_an_empty_quota_told_as_too_many_requests_pauses_too(client_of, server):
    server.switches.status, server.switches.error_code = 429, "insufficient_quota"
    client = client_of(max_retries=3)
    assert failure_of(client).key == "error.remote_unpaid"
    assert len(server.requests) == 1 and client.state().state == "paused"


def test_a_rate_limit_is_waited_for_as_long_as_it_asks(client_of, server):
    server.switches.status, server.switches.status_times = 429, 1
    server.switches.retry_after = "2"
    started = time.monotonic()
    post(client_of(max_retries=3))
    assert 2.0 <= time.monotonic() - started < 4.0
    assert len(server.requests) == 2


def test_three_rate_limits_in_a_row_are_waited_out(client_of, server, monkeypatch):
    monkeypatch.setattr(http, "_FIRST_PAUSE_S", 0.01)
    server.switches.status, server.switches.status_times = 429, 3
    post(client_of(max_retries=3))
    assert len(server.requests) == 4


def test_a_rate_limit_without_end_is_given_up_and_works_later(client_of, server, monkeypatch):
    monkeypatch.setattr(http, "_FIRST_PAUSE_S", 0.01)
    server.switches.status = 429
    client = client_of(max_retries=2)
    assert failure_of(client).key == "error.remote_rate_limited"
    assert len(server.requests) == 3
    server.switches.status = 0
    post(client)


def test_a_long_rate_limit_holds_requests_back_for_a_while(client_of, server):
    now = [1_000_000.0]
    client = client_of(clock=lambda: now[0], max_retries=3)
    server.switches.status, server.switches.retry_after = 429, "86400"
    assert failure_of(client).key == failure_of(client).key == "error.remote_rate_limited"
    assert len(server.requests) == 1
    now[0] += PAUSE_S + 1
    server.switches.status = 0
    post(client)


def test_waiting_for_a_rate_limit_never_exceeds_the_caller_s_time(client_of, server):
    server.switches.status, server.switches.retry_after = 429, "5"
    started = time.monotonic()
    failure_of(client_of(max_retries=3), wait_s=1.0)
    assert time.monotonic() - started < 4.0


def test_closing_ends_a_wait(client_of, server):
    server.switches.status, server.switches.retry_after = 429, "30"
    client = client_of(max_retries=3)
    threading.Timer(0.3, client.close).start()
    started = time.monotonic()
    assert failure_of(client).key == "error.model_closed"
    assert time.monotonic() - started < 3.0


@pytest.mark.parametrize("status", [500, 502, 503, 529, 408])
def test_server_trouble_is_tried_again_with_growing_pauses(client_of, server, monkeypatch, status):
    monkeypatch.setattr(http, "_FIRST_PAUSE_S", 0.02)
    server.switches.status, server.switches.status_times = status, 2
    started = time.monotonic()
    post(client_of(max_retries=2))
    assert len(server.requests) == 3 and time.monotonic() - started >= 0.06
    server.switches.status_times = 99
    server.requests.clear()
    assert failure_of(client_of(max_retries=2)).params["status"] == status
    assert len(server.requests) == 3


def test_a_dropped_connection_is_tried_again(client_of, server, monkeypatch):
    monkeypatch.setattr(http, "_FIRST_PAUSE_S", 0.01)
    server.switches.drop = 1
    post(client_of(max_retries=1))


def test_a_provider_that_is_down_fails_at_once_and_works_when_it_is_back(client_of):
    with running() as first:
        port = first.port
    client = client_of(base_url=f"http://127.0.0.1:{port}")
    started = time.monotonic()
    assert failure_of(client).key == "error.remote_unreachable"
    assert time.monotonic() - started < 4.0
    assert client.state().state == "failing"
    with running(port):
        post(client)
    assert client.state().state == "ready"


def test_a_slow_provider_costs_the_configured_time_once(client_of, server):
    server.switches.delay = 20.0
    started = time.monotonic()
    assert failure_of(client_of(timeout_s=0.4, max_retries=3)).key == "error.remote_slow"
    assert time.monotonic() - started < 4.0
    assert len(server.requests) == 1


def test_an_answer_without_end_is_cut_off(client_of, server, monkeypatch):
    monkeypatch.setattr(http, "LARGEST_ANSWER_BYTES", 1_000)
    server.switches.raw = b" " * 5_000
    assert failure_of(client_of()).key == "error.remote_too_large"


# ---- proxies and redirects


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_this_machine_is_never_asked_through_a_proxy(
    client_of, server, monkeypatch, host, variable
):
    monkeypatch.setenv(variable, DEAD)
    post(client_of(base_url=f"http://{host}:{server.port}/v1"))


@pytest.mark.parametrize(
    ("host", "is_here"),
    [
        ("localhost", True), ("a.localhost", True), ("127.8.9.1", True), ("::1", True),
        ("[::1]", True), ("::ffff:127.0.0.1", True), ("0.0.0.0", True), ("localhost.", True),
        ("192.168.1.2", False), ("localhost.example", False), ("127.example", False),
        ("10.0.0.1", False), ("fe80::1%eth0", False), ("", False),
    ],
)  # fmt: skip
def test_names_of_this_machine_are_known(host, is_here):
    assert is_loopback(host) == is_here


@pytest.mark.parametrize(
    "proxy", ["socks5h://127.0.0.1:9", "socks4://x:1", "weird://x", "http://", "http://h:no"]
)
def test_a_proxy_that_cannot_be_used_stops_nothing(client_of, server, monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)
    client = client_of()
    post(client)
    assert client.notice() is None


def test_a_proxy_left_unused_for_another_machine_is_told(client_of, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5h://user:secret@127.0.0.1:9")
    client = client_of(base_url="http://provider.invalid/v1")
    assert failure_of(client).key == "error.remote_unreachable"
    notice = client.notice()
    assert notice is not None and notice.params["proxy"] == "socks5h://127.0.0.1:9"


def test_another_machine_is_asked_through_the_proxy(client_of, server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{server.port}")
    post(client_of(base_url="http://provider.invalid/v1"))
    assert server.requests[0].headers["host"] == "provider.invalid"


def test_a_dead_proxy_is_named_as_the_cause(client_of, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://user:secret@127.0.0.1:9")
    failure = failure_of(client_of(base_url="http://provider.invalid/v1"))
    assert failure.key == "error.remote_unreachable_by_proxy"
    assert failure.params["proxy"] == "http://127.0.0.1:9"


def test_hosts_outside_the_proxy_go_direct(client_of, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", DEAD)
    monkeypatch.setenv("NO_PROXY", ".invalid")
    failure = failure_of(client_of(base_url="http://provider.invalid/v1"))
    assert failure.key == "error.remote_unreachable"


def test_a_redirect_to_another_host_gets_neither_key_nor_text(client_of, server):
    with running() as other:
        server.switches.redirect = f"{other.url}/embeddings"
        failure = failure_of(client_of())
        assert failure.key == "error.remote_redirected"
        assert failure.params["target"] == f"127.0.0.1:{other.port}"
        assert other.requests == []


def test_a_redirect_within_the_host_is_followed_with_the_key(client_of, server):
    server.switches.redirect = "/other"
    client = client_of()
    assert failure_of(client).key == "error.remote_redirected"
    assert [request.path for request in server.requests] == ["/v1/embeddings", "/other", "/other"]
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


# ---- the key


@pytest.mark.parametrize("written", [KEY, f" {KEY}\n", f"Bearer {KEY}"])
def test_the_key_is_sent_as_a_bearer_token(client_of, server, written):
    post(client_of(api_key=written))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_no_header_is_sent(client_of, server):
    post(client_of(api_key=""))
    assert "authorization" not in server.requests[0].headers


def test_a_login_in_the_address_is_sent_and_never_shown(client_of, config_of, server):
    url = f"http://anna:{KEY}@127.0.0.1:{server.port}/v1"
    post(client_of(base_url=url, api_key=""))
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert KEY not in repr(config_of(base_url=url, api_key=""))


@pytest.mark.parametrize("key", [f"{KEY}\n{KEY}", f"密{KEY}", f"{KEY} x", f"{KEY}\x00"])
def test_a_key_that_is_none_is_refused_without_repeating_it(config_of, key):
    with pytest.raises(ModelUnavailable) as caught:
        RemoteClient(config_of(api_key=key))
    assert caught.value.key == "error.remote_bad_key"
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_neither_key_nor_text_is_shown_or_logged_whatever_happens(
    client_of, config_of, server, monkeypatch, caplog
):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(http, "_FIRST_PAUSE_S", 0.0)
    said = [repr(config_of()), str(config_of()), f"{config_of()}"]
    for status in (0, 400, 401, 402, 403, 404, 413, 429, 500, 503):
        server.switches.status = status
        client = client_of(max_retries=1)
        try:
            post(client)
        except ModelUnavailable as error:
            said += [
                *traceback.format_exception(error),
                repr(error),
                render(error, "zh"),
                render(error, "en"),
            ]
        said.append(repr(client.state()))
    server.switches.status, server.switches.raw = 0, f"{KEY} 标记QX9".encode()
    said += traceback.format_exception(failure_of(client_of()))
    said.append(caplog.text)
    assert len(caplog.records) > 10
    shown = "\n".join(said)
    assert KEY not in shown and "QX9" not in shown
