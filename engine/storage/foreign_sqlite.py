"""Databases of other programs, read as they lie: nothing is written, no extension is loaded."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.domain.errors import InvalidInput

_TOO_LONG = 64 << 20


@dataclass(frozen=True, slots=True)
class ForeignDatabase:
    """An opened database: the names of its ordinary tables, and the rows of each."""

    tables: tuple[str, ...]
    connection: sqlite3.Connection

    def rows(self, table: str) -> Iterator[Mapping[str, object]]:
        """The rows of one of the tables by column, in the order of their ids."""
        if table not in self.tables:
            return
        quoted = '"{}"'.format(table.replace('"', '""'))
        with _told():
            for row in self.connection.execute(f"SELECT * FROM {quoted} ORDER BY rowid"):
                yield dict(zip(row.keys(), tuple(row), strict=True))


@contextmanager
def open_foreign(path: Path) -> Iterator[ForeignDatabase]:
    """A database for reading, with what its write-ahead log holds. Raises :class:`InvalidInput`
    when it cannot be read."""
    with _told():
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
        )
    with closing(connection):
        with _told():
            connection.row_factory = sqlite3.Row
            connection.text_factory = _text
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _TOO_LONG)
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA query_only=ON")
            rows = connection.execute(
                """SELECT name FROM sqlite_schema WHERE type = 'table'
                AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"""
            )
            tables = tuple(str(row[0]) for row in rows)
        yield ForeignDatabase(tables, connection)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise InvalidInput("error.import_database", reason=str(error)[:120]) from error
