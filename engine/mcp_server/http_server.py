"""The MCP server over HTTP: one process for all clients, without sessions.

No session is kept between requests, so a client goes on after a restart as if nothing had been.
What needs a way back to the client within a call (progress) travels in the answer's own stream.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import uvicorn
from anyio.to_thread import run_sync
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from engine.config.home import resolve_home
from engine.config.live import LiveSettings
from engine.domain.errors import Busy, JiyiError, StoreUnavailable
from engine.mcp_server.asker import surroundings_of
from engine.mcp_server.calls import Running, Service
from engine.mcp_server.calm_server import CalmServer
from engine.mcp_server.ending import Ending
from engine.mcp_server.http_guard import MAX_BODY, TOKEN_FILE, Guard, token_of
from engine.mcp_server.opening import Store
from engine.mcp_server.server import build_server

HOST = "127.0.0.1"
PATH = "/mcp"
ACTOR = "mcp-http"
_PROBE_KEPT_S = 5.0
_PROBE_WAIT_S = 2.0
_GRACE_S = 2


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. ``port`` ``None``: as the settings say; 0: any."""

    host: str = HOST
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Serving:
    """What to tell whoever started the server: its address, and the file with the token
    (``None``: the settings hold it)."""

    url: str
    token_file: str | None


def serve_http(
    home: str | None,
    environ: Mapping[str, str],
    toolsets: Sequence[str] | None,
    address: Address,
    tell: Callable[[Serving], None],
) -> int:
    """Serve until ended; return the exit code. ``tell`` is called as soon as it answers.

    Raises :class:`StoreUnavailable` when the port cannot be had or the token cannot be read.
    """
    logging.getLogger("mcp").setLevel(logging.WARNING)
    folder = resolve_home(home, environ)
    settings = LiveSettings(folder, environ).current().http
    token = settings.token or token_of(folder)
    bound = _bind(address.host, settings.port if address.port is None else address.port)
    store, running = Store(home, environ), Running()
    service = Service(store, surroundings_of(environ, in_folder=False), toolsets)
    port = bound.getsockname()[1]
    config = uvicorn.Config(
        Guard(build_app(service, store, running), address.host, port, token),
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
        limit_concurrency=200,
        h11_max_incomplete_event_size=64 * 1024,
    )
    file = None if settings.token else str(folder / TOKEN_FILE)
    store.open_soon()
    try:
        tell(Serving(f"http://{_shown(address.host)}:{port}{PATH}", file))
        CalmServer(config).run(sockets=[bound])
    finally:
        bound.close()
        ending = Ending(running, store)
        if not ending.finish():
            ending.leave()
    return 0


def build_app(service: Service, store: Store, running: Running) -> ASGIApp:
    """The routes, without the guard in front of them."""
    server = build_server(service, store, running)
    return server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        # The guard in front knows the exact port and looks at every route.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        custom_starlette_routes=[
            Route("/health", _Health(store).answer),
            Route("/ready", _Readiness(store).answer),
        ],
    )


class _Health:
    """Whether the process lives, and how many memories there are."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def answer(self, request: Request) -> Response:
        return JSONResponse(await run_sync(self._look))

    def _look(self) -> dict[str, object]:
        try:
            engine = self._store.engine(ACTOR, _PROBE_WAIT_S)
            return {"status": "ok", "count": engine.list(limit=1).total}
        except Busy:
            return {"status": "opening", "count": None}
        except JiyiError:
            return {"status": "failing", "count": None}


class _Readiness:
    """Whether requests can be answered, one flag a check; asked at most every five seconds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: tuple[float, dict[str, bool]] | None = None

    async def answer(self, request: Request) -> Response:
        now = time.monotonic()
        if self._kept is None or now - self._kept[0] > _PROBE_KEPT_S:
            self._kept = (now, await run_sync(self._look))
        flags = self._kept[1]
        return JSONResponse(flags, 200 if all(flags.values()) else 503)

    def _look(self) -> dict[str, bool]:
        try:
            engine = self._store.engine(ACTOR, _PROBE_WAIT_S)
            engine.list(limit=1)
        except JiyiError:
            return {"store": False, "writable": False}
        return {"store": True, "writable": engine.browsing.is_writable}


def _bind(host: str, port: int) -> socket.socket:
    """A socket that takes connections already. A port that is taken is refused: clients are
    registered with it. Raises :class:`StoreUnavailable`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise StoreUnavailable("http.bad_host", host=host[:60], reason=str(error)) from error
    family, kind, protocol, _, place = found[0]
    bound = socket.socket(family, kind, protocol)
    # On Windows another program could take over a port that is shared.
    exclusive: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
    bound.setsockopt(socket.SOL_SOCKET, exclusive, 1)
    try:
        bound.bind(place)
        bound.listen(128)
    except OSError as error:
        bound.close()
        reason = error.strerror or str(error)
        raise StoreUnavailable("http.port_taken", host=host, port=port, reason=reason) from error
    return bound


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
