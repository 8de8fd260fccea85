"""The converted weights: one file of named arrays, each at a page's beginning.

Both engines and the tokenizer read from it; mapped, so that only touched parts of the word
table take memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_PAGE = 4_096


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where one array lies in the file; ``dtype`` is numpy's name of its elements."""

    name: str
    offset: int
    size_bytes: int
    dtype: str
    shape: tuple[int, ...]


def write_tensors(
    stream: BinaryIO, arrays: Iterable[tuple[str, NDArray[np.generic]]]
) -> list[Tensor]:
    """Write the arrays one after the other, little-endian, and say where each one is."""
    tensors = []
    for name, array in arrays:
        stream.write(bytes(-stream.tell() % _PAGE))
        small_end = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        offset = stream.tell()
        stream.write(small_end.data)
        tensors.append(Tensor(name, offset, small_end.nbytes, small_end.dtype.str, array.shape))
    return tensors


class TensorFile:
    """A written file, opened for reading."""

    def __init__(self, path: Path, tensors: Iterable[Tensor]) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self.tensors: Mapping[str, Tensor] = {tensor.name: tensor for tensor in tensors}

    def array(self, name: str) -> NDArray[np.generic]:
        """A read-only view of the file."""
        tensor = self.tensors[name]
        raw = self._bytes[tensor.offset : tensor.offset + tensor.size_bytes]
        return np.asarray(raw).view(tensor.dtype).reshape(tensor.shape)

    def floats(self, name: str) -> NDArray[np.float32]:
        """A float32 array, copied out of the file."""
        return np.array(self.array(name), dtype=np.float32)


def tensors_to_json(tensors: Iterable[Tensor]) -> str:
    """The directory as one JSON text."""
    rows = [[t.name, t.offset, t.size_bytes, t.dtype, list(t.shape)] for t in tensors]
    return json.dumps(rows)


def tensors_from_json(text: str) -> list[Tensor]:
    """What :func:`tensors_to_json` wrote."""
    return [
        Tensor(name, int(offset), int(size), dtype, tuple(shape))
        for name, offset, size, dtype, shape in json.loads(text)
    ]
