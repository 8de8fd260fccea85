"""The templates: everything put into a page is escaped, whatever it is."""

from __future__ import annotations

from pathlib import Path

import jinja2
from starlette.requests import Request
from starlette.templating import Jinja2Templates

PLACES = ("tune", "settings", "memories", "statistics", "maintenance", "connections")
"""The places of the panel, in the order of its menu."""

_FOLDER = Path(__file__).parent / "templates"


def build_templates() -> Jinja2Templates:
    """Templates with the values that every page has."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return Jinja2Templates(env=environment, context_processors=[_frame])


def _frame(request: Request) -> dict[str, object]:
    engine = request.app.state.engine
    return {
        "words": request.state.words,
        "language": request.state.language,
        "theme": request.state.theme,
        "page_token": request.state.page_token,
        "places": PLACES,
        "here": request.url.path.strip("/").partition("/")[0],
        "home": str(engine.context.home),
        "writable": engine.browsing.is_writable,
    }
