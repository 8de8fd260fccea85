"""Writing a file whole or not at all, for its owner's eyes only."""

from __future__ import annotations

import gzip
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from engine.domain.errors import Conflict, InvalidInput, JiyiError, StoreUnavailable

PLAIN_SUFFIXES = (".jsonl", ".json", ".ndjson")
_ATTEMPTS, _PAUSE_S = 20, 0.05
_PERSONAL = 0o600


def write_archive(
    target: Path, lines: Iterable[str], header: Callable[[], str], *, replace: bool
) -> int:
    """Write lines and, before them, a header that is only known after them; return the bytes.

    ``.jsonl`` is written plain, any other name packed. Raises Conflict for a file that exists
    unless ``replace``, and :class:`StoreUnavailable` when the folder cannot be written.
    """
    require_free(target, replace=replace)
    with told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        draft, body = (target.with_name(f".{target.name}.{part}") for part in ("part", "body"))
        packed = target.suffix.lower() not in PLAIN_SUFFIXES
        try:
            _write(body, lines, packed=packed)
            _write(draft, [header()], packed=packed)
            # Packed files that follow one another are one packed file.
            with draft.open("ab") as whole, body.open("rb") as rest:
                shutil.copyfileobj(rest, whole)
                whole.flush()
                os.fsync(whole.fileno())
            size = draft.stat().st_size
            put_in_place(draft, target)
        finally:
            for leftover in (draft, body):
                with suppress(OSError):
                    leftover.unlink(missing_ok=True)
    return size


def write_text(target: Path, text: str) -> None:
    """Write a text file as UTF-8 with its line ends as they are."""
    draft = target.with_name(f".{target.name}.part")
    try:
        with _private(draft) as file:
            file.write(text.encode("utf-8"))
        put_in_place(draft, target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def require_free(target: Path, *, replace: bool) -> None:
    """Refuse a target that exists, or that is no file."""
    if target.is_dir():
        raise InvalidInput("error.export_is_folder", path=str(target))
    if target.exists() and not replace:
        raise Conflict("error.export_exists", path=str(target))


def put_in_place(draft: Path, target: Path) -> None:
    """Move a finished draft over its target; on Windows others may have that open for a moment."""
    for attempt in range(_ATTEMPTS):
        try:
            draft.replace(target)
            return
        except PermissionError as error:
            if getattr(error, "winerror", None) is None or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_PAUSE_S)


@contextmanager
def told(target: Path) -> Iterator[None]:
    """Turn errors of the file system into ours."""
    try:
        yield
    except JiyiError:
        raise
    except OSError as error:
        raise StoreUnavailable(
            "error.export_failed", path=str(target), reason=error.strerror or str(error)
        ) from error


def _write(path: Path, lines: Iterable[str], *, packed: bool) -> None:
    with _private(path) as file:
        if not packed:
            for line in lines:
                file.write(line.encode("utf-8") + b"\n")
            return
        # Neither name nor time in it: the same lines are the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
            for line in lines:
                stream.write(line.encode("utf-8") + b"\n")


@contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, _PERSONAL), "wb") as file:
        yield file
