"""The way in: the link that works once, the door for a second start, language and look."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.config.messages import LANGUAGES
from engine.domain.vocabulary import check
from web_panel.answers import Body, action, data, page, text_of, wants_page
from web_panel.language import LANGUAGE_COOKIE, THEME_COOKIE, THEMES
from web_panel.security import DOOR, LOGIN, NO_SESSION, Door, cookie_name
from web_panel.templating import PLACES

_YEAR_S = 365 * 86_400


class Gate:
    """Who has no session is told how to get one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on with a session only."""
        if scope["type"] == "http" and scope["state"].get("refusal") == NO_SESSION:
            await _outside(Request(scope), 401)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _outside(request: Request, status: int) -> Response:
    if not wants_page(request):
        return data({"error": request.state.words("panel.outside.text")}, status)
    answer = page(request, "outside.html")
    answer.status_code = status
    return answer


def login(request: Request) -> Response:
    """Exchange a link's token for a cookie, and drop it from the address bar."""
    door: Door = request.app.state.door
    session = door.enter(request.query_params.get("token", ""))
    if session is None:
        return _outside(request, 403)
    answer = RedirectResponse("/", 303)
    name = cookie_name(request.app.state.port)
    answer.set_cookie(name, session, httponly=True, samesite="strict", path="/")
    return answer


def front(request: Request) -> Response:
    """The first place of the menu."""
    return RedirectResponse(f"/{PLACES[0]}", 303)


def open_door(request: Request, body: Body) -> Response:
    """A new link for a second start of the program; the guard has looked at its key."""
    door: Door = request.app.state.door
    return data({"home": str(request.app.state.engine.context.home), "token": door.link()})


def appear(request: Request, body: Body) -> Response:
    """Language and look of the pages in this browser."""
    answer = data({"ok": True})
    for name, cookie, allowed in (
        ("language", LANGUAGE_COOKIE, LANGUAGES),
        ("theme", THEME_COOKIE, THEMES),
    ):
        if name in body:
            value = check(name, text_of(body, name), allowed)
            answer.set_cookie(cookie, value, max_age=_YEAR_S, httponly=True, samesite="strict")
    return answer


ROUTES = [
    Route("/", front),
    Route(LOGIN, login),
    Route(DOOR, action(open_door), methods=["POST"]),
    Route("/appearance", action(appear), methods=["POST"]),
]
