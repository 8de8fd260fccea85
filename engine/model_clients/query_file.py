"""Vectors of questions in a file, for work that asks the same ones again and again.

A cache: a file that is missing, damaged or of another space is nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

if TYPE_CHECKING:
    from engine.model_clients.protocol import Vector

MOST = 20_000


def write_queries(path: Path, space_key: str, vectors: Mapping[str, Vector]) -> None:
    """Keep the vectors of texts, those used last; the file is there whole or not at all."""
    import numpy as np

    texts = list(vectors)[-MOST:]
    if not texts:
        return
    named = json.dumps([space_key, *texts]).encode("ascii")
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        np.savez(
            file,
            texts=np.frombuffer(named, dtype=np.uint8),
            vectors=np.stack([vectors[text] for text in texts]),
        )
    partial.replace(path)


def read_queries(path: Path, space_key: str) -> dict[str, Vector]:
    """The vectors of texts that were kept for this space."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as kept:
            named = json.loads(kept["texts"].tobytes())
            vectors = kept["vectors"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return {}
    if named[0] != space_key or len(named) != len(vectors) + 1:
        return {}
    vectors.flags.writeable = False
    return dict(zip(named[1:], vectors, strict=True))
