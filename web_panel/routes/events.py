"""What happens, sent to open pages: settings and memories changed by others, and long work."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from engine.domain.errors import Busy, JiyiError
from web_panel.answers import Body, action, data, engine_of
from web_panel.feed import Feed
from web_panel.work import Works

_LOOK_EVERY_S = 0.2
_ASK_STORE_EVERY_S = 1.0
_ALIVE_EVERY_S = 15.0
_MAX_STREAMS = 16
# After this change there is none yet: asks for nothing but the number of the last.
_BEYOND = 1 << 62


@dataclass(slots=True)
class _Seen:
    """What a stream has told of the store and the settings."""

    change: int
    version: str


async def events(request: Request) -> Response:
    """A stream of events: ``settings``, ``memories`` and ``work``, each with JSON."""
    state = request.app.state
    open_now = getattr(state, "streams", 0)
    if open_now >= _MAX_STREAMS:
        raise Busy("panel.too_many_pages")
    state.streams = open_now + 1
    return StreamingResponse(_stream(request), media_type="text/event-stream")


async def _stream(request: Request) -> AsyncIterator[str]:
    feed: Feed = request.app.state.feed
    told, asked_at, sent_at = feed.last, 0.0, time.monotonic()
    try:
        seen = await run_in_threadpool(_look, request)
        yield f"retry: 2000\nevent: hello\ndata: {json.dumps({'change': seen.change})}\n\n"
        while True:
            now, out = time.monotonic(), ""
            for event in feed.after(told):
                told, out = event.number, out + _framed(event.name, event.data)
            if now - asked_at >= _ASK_STORE_EVERY_S:
                asked_at, out = now, out + await run_in_threadpool(_changes, request, seen)
            if not out and now - sent_at >= _ALIVE_EVERY_S:
                out = ": alive\n\n"
            if out:
                sent_at = now
                yield out
            await anyio.sleep(_LOOK_EVERY_S)
    finally:
        request.app.state.streams -= 1


def _look(request: Request) -> _Seen:
    engine = engine_of(request)
    return _Seen(engine.browsing.changes(_BEYOND).number, engine.context.live.version())


def _changes(request: Request, seen: _Seen) -> str:
    """What others changed since the last look; a store that does not answer is asked again."""
    engine, out = engine_of(request), ""
    version = engine.context.live.version()
    if version != seen.version:
        seen.version = version
        out += _framed("settings", json.dumps({"version": version}))
    try:
        changed = engine.browsing.changes(seen.change)
    except JiyiError:
        return out
    if changed.number != seen.change:
        seen.change = changed.number
        out += _framed("memories", json.dumps({"ids": list(changed.memory_ids)[:200]}))
    return out


def _framed(name: str, text: str) -> str:
    return f"event: {name}\ndata: {text}\n\n"


def stop_work(request: Request, body: Body) -> Response:
    """Ask what runs to end."""
    works: Works = request.app.state.works
    return data({"stopping": works.stop()})


ROUTES = [
    Route("/events", events),
    Route("/jobs/stop", action(stop_work), methods=["POST"]),
]
