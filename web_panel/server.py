"""Serving the panel: one a store, on the loopback address alone."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from engine.config.file import draft_beside
from engine.config.placing import move_into_place
from engine.domain.errors import StoreUnavailable
from engine.mcp_server.calm_server import CalmServer
from web_panel.app import PanelOptions, build_app
from web_panel.security import DOOR, KEY_HEADER, LOGIN, Door

if TYPE_CHECKING:
    from engine.bootstrap import Engine

HOST = "127.0.0.1"
_MARK = "panel.json"
_TRIED_PORTS = 20
_KNOCK_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Opening:
    """The address to open, which works once. ``wanted`` is the port that was taken, ``None``
    when it was free; ``already`` tells that the panel of this store was open before."""

    url: str
    port: int
    wanted: int | None = None
    already: bool = False


def find_running(home: Path) -> Opening | None:
    """A new way into the panel that this store has open; ``None`` when it has none."""
    try:
        mark = json.loads((home / _MARK).read_text(encoding="utf-8"))
        port, key = int(mark["port"]), str(mark["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    token = _knock(port, key, home)
    return None if token is None else Opening(_url(port, token), port, already=True)


def serve(engine: Engine, port: int, tell: Callable[[Opening], None]) -> None:
    """Serve the panel of an open store until ended. ``tell`` is handed the address as soon as it
    answers, and is the place to print and open it.

    A port that is taken gives way to the next free one; 0 takes any. Raises
    :class:`StoreUnavailable` when none of them can be had.
    """
    bound = _bind(port)
    door = Door()
    found = bound.getsockname()[1]
    home = engine.context.home
    mark = home / _MARK
    _write_mark(mark, found, door.key)
    config = uvicorn.Config(
        build_app(engine, PanelOptions(found, door)),
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        limit_concurrency=200,
        h11_max_incomplete_event_size=64 * 1024,
    )
    try:
        wanted = port if port not in (0, found) else None
        tell(Opening(_url(found, door.link()), found, wanted))
        CalmServer(config).run(sockets=[bound])
    finally:
        bound.close()
        _remove_mark(mark, door.key)


def _bind(port: int) -> socket.socket:
    """A socket that takes connections already, on the port or one of those after it."""
    tries = [0] if port == 0 else [port + n for n in range(_TRIED_PORTS) if port + n < 65_536]
    reason = ""
    for one in tries:
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # On Windows another program could take over a port that is shared.
        exclusive: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        bound.setsockopt(socket.SOL_SOCKET, exclusive, 1)
        try:
            bound.bind((HOST, one))
            bound.listen(128)
        except OSError as error:
            bound.close()
            reason = error.strerror or str(error)
        else:
            return bound
    raise StoreUnavailable("panel.no_port", first=tries[0], last=tries[-1], reason=reason)


def _url(port: int, token: str) -> str:
    return f"http://{HOST}:{port}{LOGIN}?token={token}"


def _write_mark(mark: Path, port: int, key: str) -> None:
    """Where a second start finds this one; for the owner's eyes only."""
    content = json.dumps({"port": port, "pid": os.getpid(), "key": key}).encode()
    try:
        move_into_place(draft_beside(mark, content, 0o600), mark)
    except OSError:
        # A home that cannot be written is served all the same; a second start just does not
        # find this one.
        return


def _remove_mark(mark: Path, key: str) -> None:
    try:
        if json.loads(mark.read_text(encoding="utf-8"))["key"] == key:
            mark.unlink()
    except (OSError, ValueError, KeyError, TypeError):
        return


def _knock(port: int, key: str, home: Path) -> str | None:
    """Ask a panel for a new link. Another program may have the port by now: it gets no answer
    from us but a key that opens nothing."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_KNOCK_WAIT_S)
    try:
        headers = {KEY_HEADER: key, "content-type": "application/json"}
        connection.request("POST", DOOR, body="{}", headers=headers)
        answer = connection.getresponse()
        told = json.loads(answer.read(10_000)) if answer.status == 200 else {}
        return str(told["token"]) if told.get("home") == str(home) else None
    except (OSError, http.client.HTTPException, ValueError, KeyError, AttributeError):
        return None
    finally:
        connection.close()
