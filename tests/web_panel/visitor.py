"""A browser's part of the conversation with the panel, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from engine.bootstrap import Engine
from web_panel.app import PanelOptions, build_app
from web_panel.security import Door

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"


class Visitor:
    """Somebody with the panel open."""

    def __init__(self, engine: Engine) -> None:
        self.door = Door()
        self.app: Starlette = build_app(engine, PanelOptions(PORT, self.door))
        self.client = TestClient(self.app, base_url=ORIGIN, raise_server_exceptions=False)
        self.token = ""

    def enter(self) -> None:
        """Follow a link that works once."""
        self.client.get(f"/login?token={self.door.link()}")
        [session] = [c.value for c in self.client.cookies.jar if c.name.startswith("jiyi_panel")]
        assert session is not None
        self.token = self.door.page_token(session) or ""

    def get(self, path: str) -> Any:
        """What a script of a page gets."""
        return self.client.get(path, headers={"accept": "application/json"})

    def post(self, path: str, **body: object) -> Any:
        """A change as a page of the panel sends it."""
        headers = {"origin": ORIGIN, "x-jiyi-token": self.token}
        return self.client.post(path, json=body, headers=headers)

    def routes(self) -> Iterator[tuple[str, str]]:
        """Every method and address."""
        for route in self.app.routes:
            if isinstance(route, Mount):
                yield "GET", f"{route.path}/panel.js"
            elif isinstance(route, Route):
                method = "POST" if "POST" in (route.methods or ()) else "GET"
                yield method, route.path.replace("{id:int}", "1")
