"""Opening the store beside the protocol, so that the handshake never waits for it."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine.config.messages import detect_language
from engine.domain.errors import Busy, JiyiError, StoreUnavailable

if TYPE_CHECKING:
    from engine.bootstrap import Engine
    from engine.config.live import LiveSettings

log = logging.getLogger("jiyi.mcp")

_WAIT_S = 20.0
_TOOLSET_VARIABLES = ("JIYI_TOOLSETS", "JIYI_MCP__TOOLSETS")
_TOOLSETS_LINE = re.compile(r"(?m)^ +toolsets:\s*\[?([^\]#\n]*?)\s*\]?\s*(?:#.*)?$")
# The first answer is on its way when this is over; imports would delay it.
_HEAD_START_S = 0.05


class Store:
    """The engine of a server: opened once in the background, tried again at the next call when
    it could not be opened. Thread-safe."""

    def __init__(self, home: str | None, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._settings: LiveSettings | None = None
        self._started = False
        self._closed = False

    def open_soon(self) -> None:
        """Open in the background, shortly after this call; again is harmless."""
        if not self._started:
            self._started = True
            timer = threading.Timer(_HEAD_START_S, self._open_quietly)
            timer.daemon = True
            timer.start()

    def engine(self, actor: str, wait_s: float = _WAIT_S) -> Engine:
        """The open engine, waiting for it; ``actor`` is shown as this process's client.

        Raises the :class:`JiyiError` that keeps the store from being opened, and
        :class:`Busy` when opening takes longer than ``wait_s`` seconds.
        """
        if not self._lock.acquire(timeout=wait_s):
            raise Busy("mcp.still_opening")
        try:
            engine = self._opened()
            engine.start_background(actor)
        finally:
            self._lock.release()
        return engine

    def language(self) -> str:
        """The interface's language, also while the store cannot be opened."""
        try:
            setting = self._live().current().language
        except JiyiError:
            setting = "auto"
        return detect_language(setting, self._environ)

    def toolsets(self) -> Sequence[str]:
        """The configured toolsets; opens no store. Raises :class:`JiyiError`."""
        return self._live().current().mcp.toolsets

    def offers_the_usual(self) -> bool:
        """Whether the settings surely name the usual toolsets: nothing set in the environment,
        and a file that says so in the words in which it is made, or no file yet. Reads that one
        line and loads nothing."""
        from engine.config.home import resolve_home

        if any(self._environ.get(name) for name in _TOOLSET_VARIABLES):
            return False
        try:
            file = resolve_home(self._home, self._environ) / "config.yaml"
            lines = _TOOLSETS_LINE.findall(file.read_text(encoding="utf-8", errors="replace"))
        except (OSError, JiyiError):
            return True
        return lines == ["core"]

    def close(self) -> None:
        """Let go of the store for good."""
        with self._lock:
            self._closed = True
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _opened(self) -> Engine:
        from engine.bootstrap import open_engine

        if self._closed:
            raise StoreUnavailable("mcp.ending")
        if self._engine is None:
            self._engine = open_engine(self._home, environ=self._environ)
        return self._engine

    def _open_quietly(self) -> None:
        try:
            self.engine("mcp")
        except JiyiError as error:
            if not self._closed:
                log.warning("the store could not be opened: %s", error)

    def _live(self) -> LiveSettings:
        from engine.config.home import resolve_home
        from engine.config.live import LiveSettings

        if self._settings is None:
            folder = resolve_home(self._home, self._environ)
            self._settings = LiveSettings(folder, self._environ)
        return self._settings
