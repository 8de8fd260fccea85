"""Reader of the weights file ``e5-small-q4.bin`` (format E5S1, little-endian).

After the magic and a version come ten 4-byte fields of the network's shape, five of the
vocabulary, then the vocabulary (offsets, scores, UTF-8), a table of replaced characters, a
directory of tensors, and the tensors. A quantised row is a run of 18-byte blocks: a float16
scale, then 16 bytes whose low halves are weights 0-15 and whose high halves are weights
16-31, each stored plus 8.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.model_clients.e5.space import BLOCK

_MAGIC = b"E5S1"
_SHAPE_BYTES = 8 + 9 * 4
_BLOCK_BYTES = 2 + BLOCK // 2
_LOW_HALF, _HALF_BITS = np.uint8(15), np.uint8(4)
_ROWS_AT_ONCE = 8_192


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All pieces in order of id: piece ``i`` is ``text[starts[i]:starts[i + 1]]`` in UTF-8."""

    starts: NDArray[np.uint32]
    scores: NDArray[np.float32]
    text: bytes

    def pieces(self) -> list[str]:
        """The pieces as text, in order of id."""
        bounds = self.starts.tolist()
        ends = bounds[1:]
        return [
            self.text[start:end].decode("utf-8", "replace")
            for start, end in zip(bounds, ends, strict=False)
        ]


class PackedFile:
    """The file, mapped into memory. The caller has checked that it is the genuine one."""

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        if self._bytes[:4].tobytes() != _MAGIC:
            raise ValueError("not an E5S1 file")
        self.vocabulary, end = self._read_vocabulary(_SHAPE_BYTES)
        self._tensors = self._read_directory(self._past_replacements(end))

    def floats(self, name: str) -> NDArray[np.float32]:
        """An unquantised tensor, flat."""
        return self._raw(name).view("<f4").astype(np.float32)

    def scales(self, name: str, rows: int) -> NDArray[np.float32]:
        """The scales of a quantised matrix, shape (rows, blocks)."""
        raw = self._raw(name).reshape(rows, -1, _BLOCK_BYTES)
        return np.ascontiguousarray(raw[..., :2]).view("<f2")[..., 0].astype(np.float32)

    def pairs(self, name: str, rows: int) -> NDArray[np.uint8]:
        """The values 0-15 (which mean value - 8) of a quantised matrix in order, two a byte,
        the first in the low half: shape (rows, blocks, 16)."""
        raw = self._raw(name).reshape(rows, -1, _BLOCK_BYTES)
        paired = np.empty((*raw.shape[:2], BLOCK // 2), dtype=np.uint8)
        # Part by part, since the word table is large.
        for start in range(0, rows, _ROWS_AT_ONCE):
            part = raw[start : start + _ROWS_AT_ONCE, :, 2:]
            values = np.concatenate([part & _LOW_HALF, part >> _HALF_BITS], axis=-1)
            paired[start : start + _ROWS_AT_ONCE] = (
                values[..., 0::2] | values[..., 1::2] << _HALF_BITS
            )
        return paired

    def _read_vocabulary(self, at: int) -> tuple[Vocabulary, int]:
        count = int(self._unpack("<i", at)[0])
        (text_bytes,) = self._unpack("<Q", at + 20)
        starts_at = at + 28
        scores_at = starts_at + 4 * (count + 1)
        text_at = scores_at + 4 * count
        end = text_at + int(text_bytes)
        vocabulary = Vocabulary(
            starts=np.array(self._bytes[starts_at:scores_at]).view("<u4"),
            scores=np.array(self._bytes[scores_at:text_at]).view("<f4"),
            text=self._bytes[text_at:end].tobytes(),
        )
        return vocabulary, end

    def _past_replacements(self, at: int) -> int:
        _, size = self._unpack("<iI", at)
        return at + 8 + int(size)

    def _read_directory(self, at: int) -> dict[str, tuple[int, int]]:
        (count,) = self._unpack("<i", at)
        at += 4
        tensors = {}
        for _ in range(int(count)):
            (length,) = self._unpack("<H", at)
            name = self._bytes[at + 2 : at + 2 + int(length)].tobytes().decode("ascii")
            at += 2 + int(length)
            _, _, offset, size = self._unpack("<BIQQ", at)
            tensors[name] = (int(offset), int(size))
            at += 21
        return tensors

    def _raw(self, name: str) -> NDArray[np.uint8]:
        offset, size = self._tensors[name]
        return np.asarray(self._bytes[offset : offset + size])

    def _unpack(self, form: str, at: int) -> tuple[int, ...]:
        size = struct.calcsize(form)
        return struct.unpack(form, self._bytes[at : at + size].tobytes())
