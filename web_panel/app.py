"""The panel as an application: its routes, and what stands before them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from engine.config.messages import detect_language, render
from engine.domain.errors import JiyiError
from web_panel.answers import expected_failure, unexpected_failure
from web_panel.feed import Feed
from web_panel.language import Wording
from web_panel.routes import (
    connections,
    entry,
    events,
    judgments,
    maintenance,
    memories,
    settings,
    statistics,
    tune,
)
from web_panel.security import Door, Guard
from web_panel.templating import build_templates
from web_panel.work import Works

if TYPE_CHECKING:
    from engine.bootstrap import Engine

MAX_BODY_BYTES = 4 * 1024 * 1024
"""A memory may be long; nothing else that is sent is."""

Handler = Callable[[Request, Exception], Response | Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PanelOptions:
    """Where the panel listens, and who lets people in."""

    port: int
    door: Door


def build_app(engine: Engine, options: PanelOptions) -> Starlette:
    """The panel of an open store.

    ``app.state`` holds ``engine``, ``door``, ``feed`` (events for open pages), ``works`` (long
    work), ``templates`` and ``port``.
    """
    handlers: dict[type[Exception] | int, Handler] = {
        JiyiError: expected_failure,
        Exception: unexpected_failure,
    }
    app = Starlette(
        routes=_routes(),
        middleware=[
            Middleware(Guard, port=options.port, door=options.door),
            Middleware(Wording, engine=engine),
            Middleware(entry.Gate),
        ],
        exception_handlers=handlers,
        max_body_size=MAX_BODY_BYTES,
    )
    feed = Feed()
    app.state.engine = engine
    app.state.door = options.door
    app.state.port = options.port
    app.state.feed = feed
    app.state.works = Works(feed, lambda error: _said(engine, error))
    app.state.templates = build_templates()
    return app


def _routes() -> Sequence[BaseRoute]:
    return [
        *entry.ROUTES,
        *events.ROUTES,
        *tune.ROUTES,
        *judgments.ROUTES,
        *settings.ROUTES,
        *memories.ROUTES,
        *statistics.ROUTES,
        *maintenance.ROUTES,
        *connections.ROUTES,
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
    ]


def _said(engine: Engine, error: JiyiError) -> str:
    """Long work belongs to no page, so it speaks the language of the settings."""
    live = engine.context.live
    return render(error, detect_language(live.current().language, live.environ))
