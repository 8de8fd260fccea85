"""The file of a built graph: written once, never changed, checked before it is mapped.

Layout: magic, length and CRC-32 of the header, the header as JSON, zeros up to a multiple
of 4096; then the graph as usearch serialises it, zeros up to a multiple of 8, the piece ids
and the owner ids (int64, little-endian, one per row of the graph). The native library
crashes on damaged bytes, so size and CRC-32 are verified first; and it opens paths in the
ANSI code page on Windows, so it sees memory only, never a path.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
import struct
import time
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
_MAGIC = b"JIYIVEC\n"
_PREFIX = struct.Struct("<8sII")
_PAGE = 4_096
_MAX_HEADER = 1 << 20
_CHUNK = 1 << 20
_PRODUCT = "vectors-"
_SUFFIX = ".graph"
_BAD = ".bad"
_TEMP = ".tmp"
_TEMP_MAX_AGE_S = 3_600.0
_REPLACE_PAUSES_S = (0.02, 0.05, 0.1, 0.2, 0.4)
_HELD_BY_ANOTHER = (5, 32)


class UnusableFile(Exception):
    """Not a whole graph file of this format and space; never leaves this package."""


@dataclass(frozen=True, slots=True)
class GraphHeader:
    """What a file holds: ``count`` vectors of ``dims`` as of change ``seq`` of a space."""

    space_key: str
    dims: int
    count: int
    seq: int
    graph_bytes: int
    payload_bytes: int
    payload_crc32: int
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class GraphContent:
    """What is written: the serialised graph, whose key of a vector is its row, and the ids
    of each row (int64, shape (count,))."""

    graph: bytes | bytearray
    piece_ids: NDArray[np.int64]
    owner_ids: NDArray[np.int64]


class GraphFolder:
    """The graph files of one space in a cache folder that other spaces may share."""

    def __init__(self, folder: Path, space_key: str, dims: int) -> None:
        self._folder = folder
        self._space_key = space_key
        self._dims = dims
        self._stem = _stem(space_key)

    @property
    def lease_name(self) -> str:
        """The name under which one process builds for this space."""
        return f"{self._stem}build"

    def reserve(self) -> Path:
        """Make an empty temporary file, so that a folder that cannot be written shows before
        the work is done. Raises ``OSError``."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._stem}{secrets.token_hex(8)}{_TEMP}"
        with path.open("xb"):
            return path

    def publish(self, reserved: Path, content: GraphContent, seq: int) -> Path:
        """Write through the reserved file onto a new name; raises ``OSError``."""
        name = f"{self._stem}{seq:019d}-{secrets.token_hex(8)}{_SUFFIX}"
        with reserved.open("wb") as file:
            _write(file, content, (self._space_key, self._dims, seq))
        target = self._folder / name
        _replace(reserved, target)
        return target

    def newest_first(self) -> list[tuple[int, Path]]:
        """Change number and path of each graph file of this space, unchecked."""
        found = []
        for path in self._named(_SUFFIX):
            digits = path.name.removeprefix(self._stem).partition("-")[0]
            if digits.isascii() and digits.isdecimal():
                found.append((int(digits), path))
        return sorted(found, key=lambda item: (item[0], item[1].name), reverse=True)

    def open(self, path: Path) -> MappedGraph:
        """Check and map a file; raises :class:`UnusableFile` or ``OSError``."""
        with path.open("rb") as file:
            header, offset = _verified(file)
            if (header.space_key, header.dims) != (self._space_key, self._dims):
                raise UnusableFile("another space")
            return MappedGraph(path, header, file, offset)

    def set_aside(self, path: Path) -> None:
        """Rename a damaged file so that nobody opens it again; keep the latest such file."""
        with suppress(OSError):
            bad = path.with_name(path.name + _BAD)
            path.replace(bad)
            for older in self._named(_BAD):
                if older != bad:
                    older.unlink()

    def remove_older(self, adopted: Path) -> None:
        """Remove versions before ``adopted`` and what broken-off builds left. A file that
        another process has mapped may stay, on Windows."""
        versions = [path for _, path in self.newest_first()]
        older = versions[versions.index(adopted) + 1 :] if adopted in versions else []
        for path in [*older, *self._left_over()]:
            with suppress(OSError):
                path.unlink()

    def _left_over(self) -> Iterator[Path]:
        oldest = time.time() - _TEMP_MAX_AGE_S
        for path in self._named(_TEMP):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    yield path

    def _named(self, suffix: str) -> list[Path]:
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        mine = [name for name in names if name.startswith(self._stem) and name.endswith(suffix)]
        return [self._folder / name for name in mine]


def remove_other_spaces(folder: Path, space_keys: Collection[str], older_than_s: float) -> None:
    """Remove the files of all spaces but the named ones, when they are ``older_than_s`` old.

    Another process may have mapped one: it is then gone for those who look for it, and on
    Windows it stays until a later call.
    """
    kept = tuple(_stem(key) for key in space_keys)
    oldest = time.time() - older_than_s
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name.startswith(_PRODUCT) and not path.name.startswith(kept):
                with suppress(OSError):
                    if path.stat().st_mtime < oldest:
                        path.unlink()


class MappedGraph:
    """A checked file in memory. :meth:`close` only after everything made from
    :attr:`graph` is gone: the native library does not keep the memory alive."""

    def __init__(self, path: Path, header: GraphHeader, file: BinaryIO, offset: int) -> None:
        self.path = path
        self.header = header
        self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._view = memoryview(self._map)
        self.graph = self._view[offset : offset + header.graph_bytes]
        ids = offset + _padded(header.graph_bytes, 8)
        self.piece_ids = self._ids(ids)
        self.owner_ids = self._ids(ids + 8 * header.count)

    def close(self) -> None:
        """Unmap the file."""
        self.graph.release()
        self._view.release()
        self._map.close()

    def _ids(self, offset: int) -> NDArray[np.int64]:
        raw = np.frombuffer(self._map, dtype="<i8", count=self.header.count, offset=offset)
        return raw.astype(np.int64, copy=True)


def _stem(space_key: str) -> str:
    digest = hashlib.sha256(space_key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_PRODUCT}{digest[:16]}-"


def _write(file: BinaryIO, content: GraphContent, identity: tuple[str, int, int]) -> None:
    space_key, dims, seq = identity
    parts = _payload(content)
    crc32 = 0
    for part in parts:
        crc32 = zlib.crc32(part, crc32)
    header = GraphHeader(
        space_key=space_key,
        dims=dims,
        count=len(content.piece_ids),
        seq=seq,
        graph_bytes=len(content.graph),
        payload_bytes=sum(len(part) for part in parts),
        payload_crc32=crc32,
    )
    for part in (_header_block(header), *parts):
        file.write(part)


def _payload(content: GraphContent) -> list[bytes | bytearray]:
    graph = content.graph
    gap = bytes(_padded(len(graph), 8) - len(graph))
    ids = (content.piece_ids.astype("<i8").tobytes(), content.owner_ids.astype("<i8").tobytes())
    return [graph, gap, *ids]


def _header_block(header: GraphHeader) -> bytes:
    text = json.dumps(asdict(header), sort_keys=True).encode("ascii")
    block = _PREFIX.pack(_MAGIC, len(text), zlib.crc32(text)) + text
    return block.ljust(_padded(len(block), _PAGE), b"\0")


def _verified(file: BinaryIO) -> tuple[GraphHeader, int]:
    header, offset = _read_header(file)
    if os.fstat(file.fileno()).st_size != offset + header.payload_bytes:
        raise UnusableFile("size")
    needed = _padded(header.graph_bytes, 8) + 16 * header.count
    if min(header.graph_bytes, header.count, header.seq) < 0 or header.payload_bytes != needed:
        raise UnusableFile("layout")
    file.seek(offset)
    crc32 = 0
    while chunk := file.read(_CHUNK):
        crc32 = zlib.crc32(chunk, crc32)
    if crc32 != header.payload_crc32:
        raise UnusableFile("checksum")
    return header, offset


def _read_header(file: BinaryIO) -> tuple[GraphHeader, int]:
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size:
        raise UnusableFile("short")
    magic, length, crc32 = _PREFIX.unpack(prefix)
    if magic != _MAGIC or length > _MAX_HEADER:
        raise UnusableFile("magic")
    text = file.read(length)
    if len(text) < length or zlib.crc32(text) != crc32:
        raise UnusableFile("header")
    try:
        header = GraphHeader(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise UnusableFile("header") from error
    if header.format != FORMAT:
        raise UnusableFile("format")
    return header, _padded(_PREFIX.size + length, _PAGE)


def _replace(source: Path, target: Path) -> None:
    """Rename; on Windows wait a moment for a scanner that has the new file open."""
    for pause_s in _REPLACE_PAUSES_S:
        try:
            source.replace(target)
            return
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _HELD_BY_ANOTHER:
                raise
            time.sleep(pause_s)
    source.replace(target)


def _padded(length: int, step: int) -> int:
    return -(-length // step) * step
