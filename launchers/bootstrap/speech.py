"""What the bootstrap says: catalogue sentences and progress on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

QUIET_PROGRESS_S = 15.0
"""How often progress is told where it cannot overwrite its own line."""

_WINDOWS_CHINESE = 0x04


@dataclass(slots=True)
class Speaker:
    """Says catalogue sentences in one language, and shows progress in place on a terminal."""

    language: str
    stream: TextIO | None
    started: float = field(default_factory=time.monotonic)
    _last_progress: float = field(default_factory=time.monotonic)
    _line_open: bool = False

    def say(self, key: str, **params: object) -> None:
        """Print the sentence ``bootstrap.<key>``."""
        self._write(("\n" if self._line_open else "") + self.sentence(key, **params) + "\n")
        self._line_open = False

    def sentence(self, key: str, **params: object) -> str:
        """The sentence, or its key where the catalogue itself is missing."""
        return sentences(self.language).get(key, key).format(**params)

    def progress(self, step: str) -> None:
        """Show elapsed time and the current step; seldom where lines cannot be overwritten."""
        live = self.stream is not None and self.stream.isatty()
        if not live and time.monotonic() - self._last_progress < QUIET_PROGRESS_S:
            return
        self._last_progress = time.monotonic()
        text = self.sentence("progress", seconds=self.elapsed_s(), step=step)[:72]
        self._write(f"\r{text:<74}" if live else text + "\n")
        self._line_open = live

    def elapsed_s(self) -> int:
        """Whole seconds since this start began."""
        return round(time.monotonic() - self.started)

    def _write(self, text: str) -> None:
        if self.stream is None:
            return
        with suppress(OSError):
            encoding = self.stream.encoding or "ascii"
            self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self.stream.flush()


def language_of(environment: Mapping[str, str]) -> str:
    """``zh`` or ``en``: the first variable that is set decides, then the Windows language."""
    for name in ("JIYI_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "").casefold()
        if value and value != "auto":
            return "zh" if value.startswith(("zh", "chinese")) else "en"
    return _windows_language()


def shown_language(language: str, stream: TextIO | None) -> str:
    """``language``, or English where the console cannot show its characters."""
    try:
        "中文".encode((stream and stream.encoding) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "en"
    return language


def _windows_language() -> str:
    if sys.platform == "win32":
        import ctypes

        primary_language = ctypes.windll.kernel32.GetUserDefaultUILanguage() & 0x3FF
        return "zh" if primary_language == _WINDOWS_CHINESE else "en"
    return "en"


def sentences(language: str) -> dict[str, str]:
    """The bootstrap's sentences by key; empty where the checkout lacks them."""
    import tomllib

    assets = Path(__file__).resolve().parents[2] / "assets" / "messages"
    try:
        text = (assets / f"bootstrap.{language}.toml").read_text(encoding="utf-8")
        return {key: str(value) for key, value in tomllib.loads(text)["bootstrap"].items()}
    except (OSError, ValueError, KeyError):
        return {}
