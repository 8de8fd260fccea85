"""Rebuild what is derived: the full-text index from the memories, the vector index from the
vectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.vocabulary import check
from engine.storage import fulltext
from engine.writing.text_index import index_again

PARTS = ("text", "vectors")

OnProgress = Callable[[str, int, int], None]
"""Told the part, how much is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was built again: memories indexed as text, rows of the indexes of atoms and graph,
    vectors in the index."""

    memories: int = 0
    other_rows: int = 0
    vectors: int = 0


def rebuild_index(
    context: EngineContext, parts: tuple[str, ...], on_progress: OnProgress
) -> Rebuilt:
    """Build the named parts (all when empty) anew. Search goes on meanwhile, and stopping it
    in the middle leaves an index that is right. Raises :class:`InvalidInput` for another
    part."""
    chosen = [check("part", part, PARTS) for part in parts] or list(PARTS)
    memories = other = vectors = 0
    if "text" in chosen:
        memories = index_again(context, lambda done, total: on_progress("text", done, total))
        other = _other_rows(context)
    if "vectors" in chosen:
        vectors = _vectors(context)
        on_progress("vectors", vectors, vectors)
    return Rebuilt(memories, other, vectors)


def _other_rows(context: EngineContext) -> int:
    rows = 0
    for index in fulltext.TEXT_INDEXES:
        with context.database.write() as connection:
            built = fulltext.rebuild(connection, index)
        rows += built if index is not fulltext.MEMORIES else 0
    return rows


def _vectors(context: EngineContext) -> int:
    """Forget the files, then read the vectors again; a large index is built in the background
    of any open process."""
    context.indexes.close()
    folder = context.home / "cache" / "vectors"
    for path in [*folder.glob("*.graph"), *folder.glob("*.bad"), *folder.glob("*.tmp")]:
        # Another process may have it open, on Windows; it is a cache, and checked when opened.
        with suppress(OSError):
            path.unlink()
    identity = context.serving().identity()
    if identity is None:
        return 0
    index = context.indexes.index(identity)
    index.catch_up()
    return index.size()
