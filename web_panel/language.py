"""The language and the look of a page: what this browser chose, else the settings, else what
the browser asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.config.messages import LANGUAGES, detect_language, text

if TYPE_CHECKING:
    from engine.bootstrap import Engine

LANGUAGE_COOKIE, THEME_COOKIE = "jiyi_language", "jiyi_theme"
THEMES = ("auto", "light", "dark")

Words = Callable[..., str]
"""``words(key, **params)`` is a sentence."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Sets ``request.state.language``, ``.words`` and ``.theme``."""

    app: ASGIApp
    engine: Engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add to the request's state and pass on."""
        if scope["type"] == "http":
            request = Request(scope)
            language = self._language(request)
            state = scope.setdefault("state", {})
            state.setdefault("page_token", "")
            state["language"] = language
            state["words"] = partial(_sentence, language)
            state["theme"] = _chosen(request.cookies.get(THEME_COOKIE), THEMES) or "auto"
        await self.app(scope, receive, send)

    def _language(self, request: Request) -> str:
        chosen = _chosen(request.cookies.get(LANGUAGE_COOKIE), LANGUAGES)
        live = self.engine.context.live
        setting = live.current().language
        if chosen or setting in LANGUAGES:
            return chosen or setting
        asked = request.headers.get("accept-language", "").lower()
        if asked:
            return "zh" if asked.startswith("zh") else "en"
        return detect_language(setting, live.environ)


def _chosen(value: str | None, allowed: tuple[str, ...]) -> str | None:
    return value if value in allowed else None


def _sentence(language: str, key: str, /, **params: object) -> str:
    return text(key, language, **params)
