"""Keep the store consistent: the cheap check at the start, and repair of the text index."""

from __future__ import annotations

from dataclasses import dataclass

from engine.context import EngineContext
from engine.storage import embeddings, fulltext, integrity
from engine.storage.identity import new_uid
from engine.storage.journal import Stamp
from engine.writing import atoms
from engine.writing.text_index import fill_missing


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did: text rows written, stray ones removed, whether the whole index was
    built again, failed vectors that will be tried again, and atoms mended."""

    filled: int
    removed: int
    rebuilt: bool
    retried: int
    atoms: int = 0


def fill_missing_text(context: EngineContext) -> int:
    """Index memories that full-text search cannot see; return how many.

    Compares two counts and writes only when they differ, so it is fit for every start.
    """
    with context.database.read() as connection:
        if integrity.counts(connection).agree:
            return 0
    return fill_missing(context)


def repair_text(context: EngineContext) -> Repaired:
    """Make full text agree with the memories, and let failed vectors be tried again."""
    # The deep look takes seconds in a large store: it is no time to keep others from writing.
    broken = _is_broken(context)
    with context.database.write() as connection:
        broken = broken or integrity.fulltext_verdict(connection) != "ok"
        strays = integrity.stray_text_rows(connection)
        for row_id in strays:
            fulltext.remove(connection, row_id)
        rebuilt = broken or not integrity.counts(connection).indexed_rows_agree
        if rebuilt:
            for index in fulltext.TEXT_INDEXES:
                fulltext.rebuild(connection, index)
        retried = embeddings.retry_failed(connection, context.clock.now())
        mended = atoms.mend(connection, context.analyser, _stamp(context))
    filled = fill_missing(context)
    context.background.wake()
    return Repaired(filled, len(strays), rebuilt, retried, mended)


def _stamp(context: EngineContext) -> Stamp:
    return Stamp("maintenance", context.clock.now(), new_uid())


def _is_broken(context: EngineContext) -> bool:
    with context.database.read() as connection:
        return integrity.fulltext_differences(connection) > 0
