"""Opening whatever file of memories somebody names, the database of another program included."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from engine.domain.errors import InvalidInput, NotFound
from engine.exchange import sources
from engine.exchange.source import Reading, Source
from engine.storage.foreign_sqlite import open_foreign


def open_file(path: Path, reading: Reading, stack: ExitStack) -> Source:
    """The records of a file or folder; ``stack`` keeps open what they are read from.

    Raises :class:`NotFound` where there is none, and :class:`InvalidInput` for one that holds no
    memories in any known format.
    """
    if not path.exists():
        raise NotFound("error.import_no_file", path=str(path))
    try:
        database = sources.database_in(path)
        if database is None:
            return sources.open_source(path, reading)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput("error.import_unreadable", reason=reason) from error
    foreign = stack.enter_context(open_foreign(database))
    return sources.open_database(foreign.tables, foreign.rows, reading)
