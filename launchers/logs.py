"""The log of the launched programs: ``<home>/logs/jiyi.log``.

It never holds what people remember or ask: exceptions are written as their type and the
places in the code they passed, without their message, which may quote a text; of the product's own
errors only the key and its numbers are.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from copy import copy
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from engine.domain.errors import JiyiError

if TYPE_CHECKING:
    from io import TextIOWrapper

LOGGER = "jiyi"
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_MAX_BYTES = 1_000_000
_KEPT_FILES = 3
_TOLD = ("path", "folder", "host", "model", "job")
"""Values of errors that are no content."""

_FORM = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def log_path(home: Path) -> Path:
    """The log file of a home folder."""
    return home / "logs" / "jiyi.log"


def configure(home: Path, level: str = "info", *, warn_on_stderr: bool = False) -> None:
    """Send the product's log entries to the log file, replacing an earlier configuration.

    The file appears with the first entry, in a private folder. A file that cannot be written
    never stops the program; an unknown ``level`` counts as ``info``. ``warn_on_stderr`` also
    shows warnings on standard error.
    """
    logger = logging.getLogger(LOGGER)
    logger.setLevel(_LEVELS.get(level.strip().lower(), logging.INFO))
    release()
    logger.propagate = False
    logger.addHandler(_configured(_PrivateFile(log_path(home))))
    if warn_on_stderr:
        stream = logging.StreamHandler(sys.stderr)
        stream.setLevel(logging.WARNING)
        logger.addHandler(_configured(stream))


def record_crash(error: BaseException) -> None:
    """Write where an unexpected exception came from."""
    logging.getLogger(f"{LOGGER}.crash").error("unexpected failure", exc_info=error)


def release() -> None:
    """Close the log file."""
    logger = logging.getLogger(LOGGER)
    logger.propagate = True
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()


def _configured(handler: logging.Handler) -> logging.Handler:
    handler.setFormatter(_WithoutContent(_FORM))
    return handler


class _WithoutContent(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        shown = copy(record)
        # What another handler has put down of the exception holds its message.
        shown.exc_text = None
        if isinstance(record.args, tuple):
            shown.args = tuple(map(_without_content, record.args))
        return super().format(shown)

    def formatException(self, ei: _ExcInfo) -> str:
        return "\n".join(_traces(ei[1]))


def _without_content(value: object) -> object:
    """A value of an entry; of an error only what it is, since what it names may be a text."""
    if isinstance(value, JiyiError):
        told = {name: item for name, item in value.params.items() if _is_harmless(name, item)}
        return str(JiyiError(value.key, **told))
    if isinstance(value, BaseException):
        reason = f" ({value.strerror})" if isinstance(value, OSError) else ""
        return f"{type(value).__qualname__}{reason}"
    return value


def _is_harmless(name: str, value: object) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and name in _TOLD)


def _traces(error: BaseException | None) -> Iterator[str]:
    import traceback

    while error is not None:
        frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
        reason = f" ({error.strerror})" if isinstance(error, OSError) else ""
        yield f"{type(error).__module__}.{type(error).__qualname__}{reason}\n{frames}".rstrip()
        error = error.__cause__ or error.__context__


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner can read, and that gives up quietly."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            maxBytes=_MAX_BYTES,
            backupCount=_KEPT_FILES,
            encoding="utf-8",
            delay=True,
            errors="backslashreplace",
        )

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(
            self.baseFilename, "a", encoding="utf-8", errors="backslashreplace", opener=_private
        )

    def rotate(self, source: str, dest: str) -> None:
        # Another process may have the file open, which forbids renaming it on Windows.
        try:
            super().rotate(source, dest)
        except OSError:
            return

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk or a missing permission costs the entry, not the program."""


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
