"""Who may talk to the server over HTTP: programs that know the token, under its exact address.

A page of the web can make a browser send requests to the loopback address, under another name
(DNS rebinding) or from its own origin, so both are looked at before the token is.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.domain.errors import StoreUnavailable

OPEN_PATHS = frozenset(("/health", "/ready"))
"""What says whether the server runs, and nothing else, to whoever asks."""

TOKEN_FILE = "token"
MAX_BODY = 4 * 1024 * 1024
"""The largest request in bytes."""

_LOOPBACK = ("127.0.0.1", "localhost")
_EVERYWHERE = ("0.0.0.0", "::")
_HEADERS = {"x-content-type-options": "nosniff", "cache-control": "no-store"}


def token_of(home: Path) -> str:
    """The token in the home folder, made when there is none; for the owner's eyes only.

    Raises :class:`StoreUnavailable`.
    """
    path = home / TOKEN_FILE
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return path.read_text(encoding="ascii").strip() or _refuse(path, "empty")
        with os.fdopen(handle, "w", encoding="ascii") as file:
            token = secrets.token_urlsafe(32)
            file.write(f"{token}\n")
        return token
    except (OSError, UnicodeDecodeError) as error:
        return _refuse(path, getattr(error, "strerror", None) or str(error))


class Guard:
    """Looks at every request before anything else does."""

    def __init__(self, app: ASGIApp, host: str, port: int, token: str) -> None:
        self._app = app
        self._token = token.encode("utf-8")
        named = host not in _EVERYWHERE
        names = {*_LOOPBACK, host} if named else set(_LOOPBACK)
        self._hosts = frozenset(f"{_bracketed(name)}:{port}" for name in names)
        # A server for every address of the machine cannot know all of its names.
        self._any_host = not named

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a refusal, or pass on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = self._refusal(scope["path"], Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, path: str, headers: Headers) -> JSONResponse | None:
        if not self._any_host and headers.getlist("host") not in [[host] for host in self._hosts]:
            return _refused(421, "wrong host")
        origins = headers.getlist("origin")
        if origins and origins not in [[f"http://{host}"] for host in self._hosts]:
            return _refused(403, "cross-origin request refused")
        if path not in OPEN_PATHS and not self._knows_token(headers.getlist("authorization")):
            answer = _refused(401, "the bearer token is missing or wrong")
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > MAX_BODY:
            return _refused(413, f"the request is larger than {MAX_BODY} bytes")
        return None

    def _knows_token(self, given: list[str]) -> bool:
        scheme, _, value = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        known = hmac.compare_digest(value.strip().encode("utf-8", "replace"), self._token)
        return known and scheme.casefold() == "bearer"


def _refuse(path: Path, reason: str) -> str:
    raise StoreUnavailable("http.token_unreadable", path=str(path), reason=reason)


def _refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"error": reason}, status)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
