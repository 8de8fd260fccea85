"""Turning the weights file into what both engines read, once.

The folder ``e5-small-q4-<version>`` gets the graph, the weights and a manifest with their
hash. It appears complete or not at all: it is written beside and renamed. Two processes at
once both write, and one of the equal results stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5 import weights
from engine.model_clients.e5.space import (
    E5_SMALL,
    HIDDEN,
    INNER,
    LAYERS,
    MASK_ID,
    UNKNOWN_ID,
    WORDS,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.model_clients.e5.packed_file import PackedFile
    from engine.model_clients.e5.tensors import Tensor

LAYOUT_VERSION: Final = "1"
FOLDER_NAME: Final = f"e5-small-q4-{LAYOUT_VERSION}"
GRAPH: Final = "encoder.onnx"
WEIGHTS: Final = "weights.bin"
MANIFEST: Final = "manifest.json"
_ABANDONED_AFTER_S = 3_600.0
_PRODUCTS = (
    ("query", "q", HIDDEN),
    ("key", "k", HIDDEN),
    ("value", "v", HIDDEN),
    ("mix", "ao", HIDDEN),
    ("widen", "fi", INNER),
    ("narrow", "fo", HIDDEN),
)
"""Our name of a matrix, the weights file's, and its rows."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A checked folder."""

    graph: Path
    weights: Path
    tensors: tuple[Tensor, ...]


def is_available(models_folder: Path) -> bool:
    """Whether there are weights to load, converted or not. Looks at file names only, and
    loads no library."""
    converted = (models_folder / FOLDER_NAME / MANIFEST).is_file()
    return converted or weights.find(models_folder) is not None


def ensure(models_folder: Path) -> Converted:
    """The converted weights in ``models_folder``, made now (about 2 s, 77 MB) if they are
    missing or damaged.

    Raises :class:`ModelUnavailable`: ``error.e5_missing`` without the weights file,
    ``error.e5_other_weights``, ``error.e5_folder_unwritable``.
    """
    folder = models_folder / FOLDER_NAME
    converted = _opened(folder)
    if converted is None:
        _convert(_genuine_source(models_folder), folder)
        converted = _opened(folder)
    if converted is None:
        raise ModelUnavailable("error.e5_other_weights", model=E5_SMALL.model)
    return converted


def _genuine_source(models_folder: Path) -> Path:
    source = weights.find(models_folder)
    if source is None:
        raise ModelUnavailable("error.e5_missing", model=E5_SMALL.model)
    if not weights.is_genuine(source):
        raise ModelUnavailable("error.e5_other_weights", model=E5_SMALL.model)
    return source


def _opened(folder: Path) -> Converted | None:
    """The folder's contents, ``None`` if anything in it is not as it was written."""
    from engine.model_clients.e5.graph import graph_bytes
    from engine.model_clients.e5.tensors import tensors_from_json

    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        tensors = tuple(tensors_from_json(manifest["tensors"]))
        intact = (
            manifest["source"] == weights.SHA256
            and manifest["weights"] == _hash(folder / WEIGHTS)
            and (folder / GRAPH).read_bytes() == graph_bytes(tensors, WEIGHTS)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Converted(folder / GRAPH, folder / WEIGHTS, tensors) if intact else None


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _convert(source: Path, folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{FOLDER_NAME}.new-"))
        try:
            _write(source, scratch)
            _put_in_place(scratch, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        detail = error.strerror or type(error).__name__
        raise ModelUnavailable(
            "error.e5_folder_unwritable", folder=str(folder.parent), detail=detail
        ) from error


def _put_in_place(scratch: Path, folder: Path) -> None:
    """Rename; what another process put there meanwhile stays if it is sound."""
    try:
        scratch.rename(folder)
    except OSError:
        if _opened(folder) is not None:
            return
        if folder.exists():
            # A folder in the way is renamed first: that also works while a file is read.
            folder.rename(tempfile.mkdtemp(dir=folder.parent, prefix=f"{FOLDER_NAME}.old-"))
        scratch.rename(folder)


def _sweep(folder: Path) -> None:
    """Remove what a killed conversion or a replaced folder left."""
    oldest = time.time() - _ABANDONED_AFTER_S
    for left in folder.parent.glob(f"{FOLDER_NAME}.*-*"):
        if left.stat().st_mtime < oldest:
            shutil.rmtree(left, ignore_errors=True)


def _write(source: Path, folder: Path) -> None:
    from engine.model_clients.e5.graph import graph_bytes
    from engine.model_clients.e5.packed_file import PackedFile
    from engine.model_clients.e5.tensors import tensors_to_json, write_tensors

    with (folder / WEIGHTS).open("wb") as stream:
        tensors = write_tensors(stream, _arrays(PackedFile(source)))
        stream.flush()
        os.fsync(stream.fileno())
    (folder / GRAPH).write_bytes(graph_bytes(tensors, WEIGHTS))
    manifest = {
        "source": weights.SHA256,
        "weights": _hash(folder / WEIGHTS),
        "tensors": tensors_to_json(tensors),
    }
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def _arrays(packed: PackedFile) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Everything the engines read, by our names."""
    import numpy as np

    yield from _vocabulary(packed)
    words = packed.pairs("emb.word", WORDS).reshape(WORDS, -1)
    # As signed halves, so that the graph needs no table of zero points.
    words ^= np.uint8(0x88)
    yield "words.values", words
    yield "words.scales", packed.scales("emb.word", WORDS)
    yield "positions.values", _positions(packed)
    yield "embedding.norm.scale", packed.floats("emb.ln.w")
    yield "embedding.norm.shift", packed.floats("emb.ln.b")
    for layer in range(LAYERS):
        yield from _layer(packed, f"l{layer}", f"layer{layer}")


def _layer(packed: PackedFile, theirs: str, ours: str) -> Iterator[tuple[str, NDArray[np.generic]]]:
    import numpy as np

    for name, short, rows in _PRODUCTS:
        yield f"{ours}.{name}.values", packed.pairs(f"{theirs}.{short}.w", rows)
        yield f"{ours}.{name}.scales", packed.scales(f"{theirs}.{short}.w", rows)
    bias = np.concatenate([packed.floats(f"{theirs}.{short}.b") for short in "qkv"])
    yield f"{ours}.attention.bias", bias
    for name, short in (("mix", "ao"), ("widen", "fi"), ("narrow", "fo")):
        yield f"{ours}.{name}.bias", packed.floats(f"{theirs}.{short}.b")
    for name, short in (("middle_norm", "aln"), ("out_norm", "oln")):
        yield f"{ours}.{name}.scale", packed.floats(f"{theirs}.{short}.w")
        yield f"{ours}.{name}.shift", packed.floats(f"{theirs}.{short}.b")


def _positions(packed: PackedFile) -> NDArray[np.float32]:
    """Positions with the vector of the only text type already added."""
    table: NDArray[np.float32] = packed.floats("emb.pos").reshape(-1, HIDDEN)
    return table + packed.floats("emb.type")[:HIDDEN]


def _vocabulary(packed: PackedFile) -> Iterator[tuple[str, NDArray[np.generic]]]:
    import numpy as np

    from engine.model_clients.e5.pieces_table import piece_hashes

    # A text that spells out a control token, such as </s>, must not get it.
    ids = np.arange(UNKNOWN_ID + 1, MASK_ID, dtype=np.int32)
    pieces = packed.vocabulary.pieces()[UNKNOWN_ID + 1 : MASK_ID]
    hashes = piece_hashes(pieces)
    order = np.argsort(hashes)
    yield "vocabulary.hashes", hashes[order]
    yield "vocabulary.ids", ids[order]
    yield "vocabulary.scores", packed.vocabulary.scores[ids][order]
    yield "vocabulary.longest", np.array([max(map(len, pieces))], dtype=np.int32)
