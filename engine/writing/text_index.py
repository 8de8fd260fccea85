"""The full-text rows of memories, made again from the memories themselves."""

from __future__ import annotations

from collections.abc import Callable

from engine.context import EngineContext
from engine.storage import fulltext, integrity, memories
from engine.writing import memories as writing
from engine.writing.layers import tokens_of

_BATCH = 50


def fill_missing(context: EngineContext) -> int:
    """Index the memories that full-text search cannot see; return how many."""
    filled = 0
    while True:
        with context.database.write() as connection:
            missing = integrity.without_text_row(connection, _BATCH)
            for memory in memories.fetch(connection, missing).values():
                tokens = tokens_of(context, writing.authored(memory))
                fulltext.put(connection, memory.id, tokens)
        filled += len(missing)
        if len(missing) < _BATCH:
            return filled


def index_again(context: EngineContext, on_progress: Callable[[int, int], None]) -> int:
    """Segment and index every memory anew, in short transactions; return how many.

    ``on_progress`` is told how many are done, and of how many. Search goes on meanwhile; who
    stops it in the middle leaves an index that is right, partly old and partly new.
    """
    with context.database.read() as connection:
        total = integrity.counts(connection).live
    done, last_id = 0, 0
    on_progress(0, total)
    while ids := _index_batch(context, last_id):
        last_id = ids[-1]
        done += len(ids)
        on_progress(done, max(done, total))
    return done


def _index_batch(context: EngineContext, last_id: int) -> list[int]:
    """The next memories, segmented before anybody is kept from writing. One that was written
    meanwhile was indexed with that."""
    with context.database.read() as connection:
        ids = integrity.live_after(connection, last_id, _BATCH)
        seen = memories.fetch(connection, ids)
    made = {found.id: tokens_of(context, writing.authored(found)) for found in seen.values()}
    with context.database.write() as connection:
        present = memories.fetch(connection, ids)
        for memory_id, tokens in made.items():
            memory = present.get(memory_id)
            if memory is None or memory.deleted_at is not None:
                continue
            if memory.revision == seen[memory_id].revision:
                fulltext.put(connection, memory_id, tokens)
    return ids
