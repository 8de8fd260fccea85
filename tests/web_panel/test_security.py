"""Nobody but a browser of this machine, on the panel's own pages, gets anything (B42, B43)."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from tests.web_panel.visitor import ORIGIN, PORT, Visitor
from web_panel.security import HEADERS

OPEN = ("/login", "/static/panel.js")
"""What needs no session."""


def file_of(engine: Engine) -> bytes:
    return engine.settings.live.path.read_bytes()


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:8766", "localhost", ""]
)
def test_every_route_refuses_a_foreign_host(visitor: Visitor, engine: Engine, host: str) -> None:
    for method, path in visitor.routes():
        headers = {"host": host, "origin": ORIGIN, "x-jiyi-token": visitor.token}
        answer = visitor.client.request(method, path, headers=headers)
        assert answer.status_code in (400, 421), path
        assert visitor.token not in answer.text


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:8766", "http://localhost"]
)
def test_every_route_refuses_a_foreign_origin(
    visitor: Visitor, engine: Engine, origin: str
) -> None:
    before = file_of(engine)
    for method, path in visitor.routes():
        headers = {"origin": origin, "x-jiyi-token": visitor.token}
        answer = visitor.client.request(method, path, headers=headers, json={})
        assert answer.status_code == 403, path
    assert file_of(engine) == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_every_route_refuses_what_another_site_loads(visitor: Visitor, site: str) -> None:
    for method, path in visitor.routes():
        headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}
        answer = visitor.client.request(method, path, headers=headers)
        assert answer.status_code == 403, path


def test_every_route_refuses_who_has_no_session(stranger: Visitor) -> None:
    for method, path in stranger.routes():
        if path in OPEN:
            continue
        headers = {"origin": ORIGIN, "x-jiyi-token": "guess"} if method == "POST" else {}
        if path == "/door":
            headers = {"x-jiyi-key": "guess"}
        answer = stranger.client.request(method, path, headers=headers, json={})
        assert answer.status_code in (401, 403), path


@pytest.mark.parametrize("token", [None, "", "guess"])
def test_no_change_without_the_token_of_the_page(
    visitor: Visitor, engine: Engine, token: str | None
) -> None:
    before = file_of(engine)
    for method, path in visitor.routes():
        if method == "GET":
            continue
        headers = {"origin": ORIGIN} | ({} if token is None else {"x-jiyi-token": token})
        address = f"{path}?x-jiyi-token={visitor.token}"
        answer = visitor.client.post(address, json={}, headers=headers)
        assert answer.status_code == 403, path
    assert file_of(engine) == before


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_no_change_by_what_a_form_can_send(visitor: Visitor, kind: str) -> None:
    for method, path in visitor.routes():
        if method == "POST" and path != "/door":
            headers = {"origin": ORIGIN, "x-jiyi-token": visitor.token, "content-type": kind}
            answer = visitor.client.post(path, content=b"{}", headers=headers)
            assert answer.status_code == 415, path


def test_no_change_by_opening_an_address(visitor: Visitor) -> None:
    for method, path in visitor.routes():
        if method == "POST":
            assert visitor.get(path).status_code in (403, 404, 405), path


def test_a_change_without_origin_is_refused(visitor: Visitor) -> None:
    headers = {"x-jiyi-token": visitor.token}
    answer = visitor.client.post("/settings/undo", json={"seen": ""}, headers=headers)
    assert answer.status_code == 403


def test_a_link_works_once(stranger: Visitor) -> None:
    link = f"/login?token={stranger.door.link()}"
    first = stranger.client.get(link, follow_redirects=False)
    assert first.status_code == 303
    assert first.headers["location"] == "/"
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.client.get(link).status_code == 403
    assert stranger.client.get("/login?token=").status_code == 403


def test_every_answer_forbids_scripts_of_others(visitor: Visitor) -> None:
    for path in ("/settings", "/static/panel.js", "/nowhere", "/memories/found", "/memories/99"):
        answer = visitor.client.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (path, name)
        assert "access-control-allow-origin" not in answer.headers
    assert visitor.get("/memories/found").headers["cache-control"] == "no-store"


def test_only_the_key_opens_the_door_and_no_browser_has_it(stranger: Visitor) -> None:
    knock = stranger.client.post
    assert knock("/door", headers={"x-jiyi-key": "guess"}).status_code == 403
    key = {"x-jiyi-key": stranger.door.key}
    assert knock("/door", headers=key | {"origin": ORIGIN}).status_code == 403
    assert knock("/door", headers=key | {"sec-fetch-site": "same-origin"}).status_code == 403
    token = knock("/door", headers=key, json={}).json()["token"]
    assert stranger.client.get(f"/login?token={token}").status_code == 200


def test_a_fault_inside_says_a_number_and_nothing_else(
    visitor: Visitor, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr(engine.browsing, "strength", fail, raising=False)
    monkeypatch.setattr(type(engine.browsing), "facets", fail)
    answer = visitor.client.get("/statistics")
    assert answer.status_code == 500
    assert "secret inside" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_body_that_is_too_large_or_no_json_is_refused(visitor: Visitor) -> None:
    headers = {"origin": ORIGIN, "x-jiyi-token": visitor.token, "content-type": "application/json"}
    send = visitor.client.post
    assert send("/settings/save", content=b"[" * 200_000, headers=headers).status_code == 422
    assert send("/settings/save", content=b"x" * 5_000_000, headers=headers).status_code == 413
