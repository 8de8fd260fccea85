"""Bytes of a file, unpacked and cut into lines, however large the file and whatever its encoding.

A line longer than the limit is skipped without ever being held; memory use does not depend on the
size of the file.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

from engine.domain.errors import InvalidInput

UTF_8 = "utf-8"
UTF_16 = "utf-16"
GB18030 = "gb18030"
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 16
_SAMPLE = 1 << 18
# Texts pack 3 to 20 times; what packs better than this far beyond its size is made to hurt.
_MAX_RATIO = 200
_RATIO_FROM = 256 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line by its number from 1: its text, or why it has none."""

    number: int
    text: str
    error: InvalidInput | None = None


def is_packed(path: Path) -> bool:
    """Whether a file is gzip."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def opened(path: Path) -> BufferedIOBase:
    """A file's bytes, unpacked where it is gzip."""
    if is_packed(path):
        return gzip.open(path, "rb")
    return path.open("rb")


def sample_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked; fewer where its end is missing."""
    with opened(path) as stream:
        return b"".join(_chunks(stream, _SAMPLE, _Tail()))


def require_sound_packing(path: Path) -> None:
    """Refuse a gzip file that unpacks to far more than any text would; nothing is kept."""
    if not is_packed(path):
        return
    limit = max(_RATIO_FROM, path.stat().st_size * _MAX_RATIO)
    total = 0
    with opened(path) as stream:
        for chunk in _chunks(stream, None, _Tail()):
            total += len(chunk)
            if total > limit:
                raise InvalidInput("error.import_bomb", ratio=_MAX_RATIO)


def encoding_of(sample: bytes) -> str:
    """The encoding of a file by its first bytes: UTF-8, UTF-16 with a mark, or GB18030.

    Where some line is UTF-8 beyond ASCII the file is, and lines that are not are broken ones.
    Raises :class:`InvalidInput` for anything else.
    """
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return UTF_16
    lines = sample.split(b"\n")
    whole = lines[:-1] if len(lines) > 1 else lines
    foreign = [line for line in whole if not line.isascii()]
    if not foreign or any(_decodes(line, UTF_8) for line in foreign):
        return UTF_8
    if len(whole) == 1 and _decodes_so_far(sample, UTF_8):
        return UTF_8
    if all(_decodes(line, GB18030) for line in foreign) and b"\0" not in sample:
        return GB18030
    raise InvalidInput("error.import_encoding")


def text_lines(path: Path, encoding: str, max_bytes: int) -> Iterator[Line]:
    """The lines of a file, blank ones left out. What cannot be decoded or is too long is given as
    an error in its place; so is the end of a gzip file that is cut off."""
    tail = _Tail()
    with opened(path) as stream:
        number = 0
        for number, raw in enumerate(_raw_lines(_utf_8(stream, encoding, tail), max_bytes), 1):
            line = _line(number, raw, GB18030 if encoding == GB18030 else UTF_8, max_bytes)
            if line is not None:
                yield line
    if tail.error is not None:
        yield Line(number + 1, "", tail.error)


def text_chunks(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file, piece by piece. Raises :class:`InvalidInput` where it cannot be
    decoded or is cut off."""
    tail = _Tail()
    name = "utf-8-sig" if encoding == UTF_8 else encoding
    decoder = codecs.getincrementaldecoder(name)()
    with opened(path) as stream:
        try:
            for chunk in _chunks(stream, None, tail):
                yield decoder.decode(chunk)
            yield decoder.decode(b"", True)
        except UnicodeDecodeError as error:
            raise InvalidInput("error.import_undecodable", encoding=encoding) from error
    if tail.error is not None:
        raise tail.error


@dataclass(slots=True)
class _Tail:
    """How a stream ended."""

    error: InvalidInput | None = None


def _chunks(stream: BufferedIOBase, limit: int | None, tail: _Tail) -> Iterator[bytes]:
    taken = 0
    while limit is None or taken < limit:
        try:
            # One piece at a time: what was unpacked before a missing end is not lost.
            chunk = stream.read1(_CHUNK)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            tail.error = InvalidInput("error.import_cut_off")
            return
        if not chunk:
            return
        taken += len(chunk)
        yield chunk


def _utf_8(stream: BufferedIOBase, encoding: str, tail: _Tail) -> Iterator[bytes]:
    """Bytes in which a line break is one byte: UTF-16 is turned into UTF-8."""
    if encoding != UTF_16:
        yield from _chunks(stream, None, tail)
        return
    decoder = codecs.getincrementaldecoder(UTF_16)(errors="replace")
    for chunk in _chunks(stream, None, tail):
        yield decoder.decode(chunk).encode(UTF_8, "replace")


def _raw_lines(chunks: Iterator[bytes], max_bytes: int) -> Iterator[bytes]:
    """Lines with at most one byte more than allowed: enough to see that one is too long."""
    pending, skipping = bytearray(), False
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if not skipping:
                pending += part[: max_bytes + 1 - len(pending)]
            yield bytes(pending)
            pending, skipping = bytearray(), False
        pending += rest[: max(0, max_bytes + 1 - len(pending))]
        skipping = len(pending) > max_bytes
    if pending:
        yield bytes(pending)


def _line(number: int, raw: bytes, encoding: str, max_bytes: int) -> Line | None:
    if len(raw) > max_bytes:
        return Line(
            number, "", InvalidInput("error.import_line_too_long", limit_mb=max_bytes / (1 << 20))
        )
    if number == 1:
        raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode(encoding).strip()
    except UnicodeDecodeError:
        return Line(number, "", InvalidInput("error.import_undecodable", encoding=encoding))
    return Line(number, text) if text else None


def _decodes(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _decodes_so_far(sample: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
