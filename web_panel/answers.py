"""Answers of the panel: pages from templates, JSON, and errors as sentences."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.config.messages import render
from engine.domain.caller import Caller
from engine.domain.errors import (
    Busy,
    ConfigInvalid,
    Conflict,
    InvalidInput,
    JiyiError,
    NotFound,
    StoreUnavailable,
)
from web_panel.security import HEADERS

if TYPE_CHECKING:
    from starlette.templating import Jinja2Templates

    from engine.bootstrap import Engine

ACTOR = "panel"
Body = Mapping[str, object]
Action = Callable[[Request, Body], Response]

_log = logging.getLogger("jiyi.panel")
_STATUS: tuple[tuple[type[JiyiError], int], ...] = (
    (InvalidInput, 422),
    (ConfigInvalid, 422),
    (NotFound, 404),
    (Conflict, 409),
    (Busy, 503),
    (StoreUnavailable, 503),
)


def engine_of(request: Request) -> Engine:
    """The open store."""
    engine: Engine = request.app.state.engine
    return engine


def caller() -> Caller:
    """Who changes things from here."""
    return Caller(ACTOR)


def page(request: Request, template: str, /, **values: object) -> Response:
    """A page made from a template, with what the frame around it needs."""
    templates: Jinja2Templates = request.app.state.templates
    return templates.TemplateResponse(request, template, values)


def data(values: Mapping[str, object], status: int = 200) -> Response:
    """A JSON object."""
    return JSONResponse(dict(values), status)


def action(handler: Action) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for a change: ``handler(request, body)`` gets the JSON object that was sent
    and runs on a worker thread. Raises :class:`InvalidInput` for what is no JSON object."""

    async def endpoint(request: Request) -> Response:
        body = _object(await request.body())
        return await run_in_threadpool(handler, request, body)

    return endpoint


def _object(raw: bytes) -> Body:
    try:
        body = json.loads(raw or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidInput("panel.no_json") from error
    if not isinstance(body, dict):
        raise InvalidInput("panel.no_json")
    return body


def text_of(body: Body, name: str, *, default: str | None = None) -> str:
    """A text that was sent. Raises :class:`InvalidInput` for another type, and when it is
    missing without a default."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise InvalidInput("panel.needs_text", name=name)
    return value


def flag_of(body: Body, name: str) -> bool:
    """A switch that was sent; off when it was not."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise InvalidInput("panel.needs_flag", name=name)
    return value


def status_of(error: JiyiError) -> int:
    """The HTTP status for an error of the engine."""
    if error.key == "error.config_changed_meanwhile":
        return 409
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def sentence(request: Request, error: JiyiError) -> str:
    """What an error says, in the language of the page."""
    return render(error, request.state.language)


def expected_failure(request: Request, error: Exception) -> Response:
    """An error of the engine as an answer: JSON to scripts of pages, a page to people."""
    assert isinstance(error, JiyiError)
    return _failure(request, sentence(request, error), status_of(error))


def unexpected_failure(request: Request, error: Exception) -> Response:
    """A fault of the program: a number to find it by in the log, nothing of its inside."""
    number = secrets.token_hex(4)
    _log.error("request %s failed", number, exc_info=error)
    said = request.state.words("panel.unexpected_number", number=number)
    answer = _failure(request, said, 500)
    answer.headers.update(HEADERS | {"cache-control": "no-store"})
    return answer


def _failure(request: Request, said: str, status: int) -> Response:
    if wants_page(request):
        answer = page(request, "failure.html", said=said)
        answer.status_code = status
        return answer
    return data({"error": said}, status)


def wants_page(request: Request) -> bool:
    """Whether a person asks by opening an address, not a script of a page."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")
