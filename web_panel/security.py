"""Who may talk to the panel: this machine's own browser, and only from the panel's own pages.

A page of the web can make a browser send requests to the loopback address, under another name
(DNS rebinding) or as a form. So every request has to name the panel's exact address, changes
have to come from its own pages and carry a token that only those pages know, and nothing at all
is shown without a cookie that is had for a link that works once.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-jiyi-token"
KEY_HEADER = "x-jiyi-key"
LOGIN, DOOR, STATIC = "/login", "/door", "/static/"
SAFE_METHODS = frozenset(("GET", "HEAD"))
_MAX_LINKS, _MAX_SESSIONS = 32, 32

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""On every answer."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered. The words are for programs and their authors: a browser
    of the person in front of it never sees but the last."""

    status: int
    reason: str


WRONG_HOST = Refusal(421, "wrong host")
WRONG_ORIGIN = Refusal(403, "cross-origin request refused")
WRONG_SITE = Refusal(403, "cross-site request refused")
NO_ORIGIN = Refusal(403, "a change has to come from a page of the panel")
NOT_JSON = Refusal(415, "only JSON is accepted")
WRONG_TOKEN = Refusal(403, "the page's token is missing or wrong")
NO_SESSION = Refusal(401, "no session")


class Door:
    """Links that work once, and the sessions they open. Thread-safe.

    ``key`` opens the door to other programs of the same person, who can read it in the home
    folder.
    """

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(32)
        self._links: OrderedDict[str, None] = OrderedDict()
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def link(self) -> str:
        """A new token for the address that is opened."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._links[token] = None
            while len(self._links) > _MAX_LINKS:
                self._links.popitem(last=False)
        return token

    def enter(self, token: str) -> str | None:
        """The session for a link's token, which is used up by that; ``None`` for no such."""
        with self._lock:
            found = _equal_to(self._links, token)
            if found is None:
                return None
            del self._links[found]
            session = secrets.token_urlsafe(32)
            self._sessions[session] = secrets.token_urlsafe(32)
            while len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
        return session

    def page_token(self, session: str) -> str | None:
        """What pages of a session send along with changes; ``None`` for no such session."""
        with self._lock:
            found = _equal_to(self._sessions, session)
            return None if found is None else self._sessions[found]

    def opens_with(self, key: str) -> bool:
        """Whether this is the key."""
        return _equal(self.key, key)


class Guard:
    """Looks at every request before anything else does. Leaves ``page_token`` in its state."""

    def __init__(self, app: ASGIApp, port: int, door: Door) -> None:
        self._app = app
        self._door = door
        self._hosts = frozenset(f"{host}:{port}" for host in ("127.0.0.1", "localhost"))
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._cookie = cookie_name(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a refusal, or pass on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _protect(MutableHeaders(scope=message))
            await send(message)

        if refusal in (None, NO_SESSION):
            scope.setdefault("state", {})["refusal"] = refusal
            await self._app(scope, receive, send_guarded)
            return
        assert refusal is not None
        answer = PlainTextResponse(refusal.reason, refusal.status)
        await answer(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return WRONG_HOST
        if scope["path"] == DOOR:
            return self._refusal_at_door(scope, headers)
        return self._refusal_of_origin(scope, headers) or self._refusal_of_session(scope, headers)

    def _refusal_at_door(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Another start of the program knocks here; a browser has no business at it."""
        if "origin" in headers or "sec-fetch-site" in headers:
            return WRONG_ORIGIN
        if scope["method"] != "POST" or not self._door.opens_with(headers.get(KEY_HEADER, "")):
            return WRONG_TOKEN
        return None

    def _refusal_of_origin(self, scope: Scope, headers: Headers) -> Refusal | None:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin not in self._origins:
            return WRONG_ORIGIN
        is_safe = scope["method"] in SAFE_METHODS
        if site not in ("same-origin", "none") and not (is_safe and _is_opened(headers)):
            return WRONG_SITE
        if is_safe:
            return None
        if origin is None and site != "same-origin":
            return NO_ORIGIN
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return NOT_JSON
        return None

    def _refusal_of_session(self, scope: Scope, headers: Headers) -> Refusal | None:
        is_safe = scope["method"] in SAFE_METHODS
        if is_safe and (scope["path"] == LOGIN or scope["path"].startswith(STATIC)):
            return None
        token = self._door.page_token(Request(scope).cookies.get(self._cookie, ""))
        if token is None:
            return NO_SESSION
        if not is_safe and not _equal(token, headers.get(TOKEN_HEADER, "")):
            return WRONG_TOKEN
        scope.setdefault("state", {})["page_token"] = token
        return None


def cookie_name(port: int) -> str:
    """Cookies do not tell ports apart; panels of two stores must."""
    return f"jiyi_panel_{port}"


def _is_opened(headers: Headers) -> bool:
    """Somebody follows a link to the panel from elsewhere: the page is shown, if the cookie
    comes along."""
    mode, target = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return mode == "navigate" and target == "document"


def _protect(headers: MutableHeaders) -> None:
    for name, value in HEADERS.items():
        headers[name] = value
    headers.setdefault("cache-control", "no-store")


def _equal_to(candidates: OrderedDict[str, None] | OrderedDict[str, str], given: str) -> str | None:
    return next((one for one in candidates if _equal(one, given)), None)


def _equal(expected: str, given: str) -> bool:
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))
