"""The schema as a readable file, kept equal to what the migrations make.

Run with ``JIYI_WRITE_SCHEMA=1`` after adding a migration to write the file again.
"""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

import pytest

import engine.storage
from engine.storage import migrations
from engine.storage.database import FILE_NAME, SCHEMA_VERSION, Database, open_database

SCHEMA_FILE = Path(engine.storage.__file__).with_name("schema.sql")
HEADER = f"-- The schema of version {SCHEMA_VERSION}, as the migrations make it.\n\n"
# Read at import: variables of this name are kept from the tests themselves.
WRITING = os.environ.get("JIYI_WRITE_SCHEMA") == "1"
MADE_BY_OTHERS = re.compile(r"_?sqlite_|idx__sqlite_|\w+_fts_(data|idx|config|content|docsize)$")


def statements(database: Database) -> str:
    with database.read() as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY rowid").fetchall()
    wanted = [row for row in rows if row["sql"] and not MADE_BY_OTHERS.match(row["name"])]
    made = [row["sql"].replace(" " * 8, " " * 4).replace("\n    )", "\n)") for row in wanted]
    return HEADER + ";\n\n".join(made) + ";\n"


def test_the_schema_file_says_what_the_migrations_make(database: Database) -> None:
    made = statements(database)
    if WRITING:
        SCHEMA_FILE.write_text(made, encoding="utf-8", newline="\n")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == made


def test_the_schema_file_is_itself_valid_sql() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA_FILE.read_text(encoding="utf-8"))
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    connection.close()
    assert {"memory", "piece", "fts_row", "journal", "change", "tombstone", "process"} <= tables


def test_migrating_again_changes_nothing(home: Path) -> None:
    database = open_database(home)
    before = statements(database)
    migrations.migrate(home / FILE_NAME, 0, 5.0)
    assert statements(database) == before
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM store").fetchone()[0] == 1
    database.close()


def test_a_store_with_data_is_backed_up_before_it_is_migrated(home: Path) -> None:
    database = open_database(home)
    with database.write() as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    database.close()
    # A version below the first cannot exist; the step itself is what is tried here.
    migrations.migrate(home / FILE_NAME, 1, 5.0)
    (copy,) = (home / "backups").iterdir()
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT count(*) FROM store").fetchone()[0] == 1
    connection.close()


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    statements_with_a_slip = (*migrations._FIRST_SCHEMA[:3], "CREATE TABLE (")
    monkeypatch.setattr(migrations, "_FIRST_SCHEMA", statements_with_a_slip)
    connection = sqlite3.connect(home / FILE_NAME)
    connection.execute("PRAGMA user_version").fetchone()
    with pytest.raises(sqlite3.OperationalError):
        migrations.migrate(home / FILE_NAME, 0, 5.0)
    assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
    connection.close()
