"""Documents as texts: which files are taken, and what they hold, whatever their encoding."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from engine.domain.errors import InvalidInput, NotFound
from engine.exchange.bytes_in import UTF_8, UTF_16, encoding_of

MARKDOWN = (".md", ".markdown", ".mdx", ".mkd")
SUFFIXES = (*MARKDOWN, ".txt", ".text", ".rst", ".org", ".adoc")
"""What is taken of a folder; a file that is named is taken whatever its suffix."""

MAX_BYTES = 32 << 20
_BINARY = b"\0"


def documents_in(path: Path) -> Iterator[Path]:
    """The file itself, or the documents of a folder and its folders, in alphabetical order.
    What begins with a dot is left out. Raises :class:`NotFound` for a path that is not there."""
    if not path.exists():
        raise NotFound("error.no_document", path=path)
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield Path(folder) / name


def document_text(path: Path) -> str:
    """The text of a document: UTF-8, UTF-16 with a mark, or GB18030. Raises
    :class:`InvalidInput` for what is no text, is unreadable or above 32 MiB."""
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidInput("error.document_unreadable", path=path, reason=reason) from error
    if size > MAX_BYTES:
        raise InvalidInput("error.document_too_large", path=path, limit_mb=MAX_BYTES >> 20)
    encoding = encoding_of(content)
    if encoding != UTF_16 and _BINARY in content:
        raise InvalidInput("error.document_binary", path=path)
    try:
        return content.decode("utf-8-sig" if encoding == UTF_8 else encoding)
    except UnicodeDecodeError as error:
        raise InvalidInput("error.import_encoding") from error


def is_markdown(path: Path) -> bool:
    """Whether a document's name says that it is Markdown."""
    return path.suffix.lower() in MARKDOWN
