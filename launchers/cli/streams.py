"""Bytes in, bytes out: UTF-8 whatever the console says, and no control codes on a terminal."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import TextIO

from engine.domain.errors import InvalidInput

# C0 without tab and line feed, DEL, C1, and the marks that reorder or hide what stands around
# them: a memory must not be able to move the cursor, set a title or fake another line.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)


def prepare() -> None:
    """Make standard output and error able to say anything: UTF-8 into pipes and files, escapes
    for what a terminal's own encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def shows_chinese(stream: TextIO | None) -> bool:
    """Whether the stream's encoding has Chinese characters."""
    try:
        "中文".encode((stream and stream.encoding) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def repaired(arguments: Sequence[str]) -> list[str]:
    """Arguments as the UTF-8 they were typed in, also where the locale is plain ASCII."""
    return [repaired_text(argument) for argument in arguments]


def repaired_text(text: str) -> str:
    """Text whose bytes the locale could not decode, such as a path, as the UTF-8 it is."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text


def native_path(path: str) -> str:
    """A repaired path in the form this process's locale can open."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return os.fsdecode(path.encode("utf-8", "surrogateescape"))
    return path


def read_stdin() -> str:
    """All of standard input as text: UTF-8, or UTF-16 with a byte order mark."""
    raw = sys.stdin.buffer.read()
    encoding = "utf-8-sig"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidInput("cli.stdin_encoding", position=error.start) from error


def visible(text: str) -> str:
    """``text`` with control and direction characters as escapes such as ``\\x1b``."""
    return _CONTROLS.sub(_escape, text)


def json_safe(document: str) -> str:
    """JSON that means the same, with those characters as JSON escapes."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
