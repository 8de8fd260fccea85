"""Stores that older versions wrote open with everything in them.

``stores/version_N.db.gz`` was written by the program of that version: two memories and a third
in the trash, with vectors of the hashing model.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from engine.domain.ids import MemoryRef
from engine.domain.scope import Filters
from engine.storage import embeddings, fulltext, memories
from engine.storage.database import FILE_NAME, SCHEMA_VERSION, open_database
from engine.storage.fulltext import TEXT_INDEXES, WORDS, Match
from tests.engine.storage.agreement import disagreements

STORES = sorted((Path(__file__).parent / "stores").glob("version_*.db.gz"))


@pytest.mark.parametrize("stored", STORES, ids=lambda path: path.name)
def test_an_old_store_opens_and_keeps_everything(home: Path, stored: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / FILE_NAME).write_bytes(gzip.decompress(stored.read_bytes()))
    database = open_database(home)
    with database.read() as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        found = memories.find(connection, MemoryRef(id=1))
        assert found.text == "小明在甲公司做后端工程师"
        assert found.participants == ("小明",)
        match = Match(WORDS, "deploy")
        assert fulltext.search(connection, [match], Filters(), 2e9, 10) == [2]
        assert [fulltext.totals(connection, index).row_count for index in TEXT_INDEXES[1:]] == [
            0,
            0,
        ]
        (space,) = embeddings.complete_spaces(connection)
        space_id = embeddings.find_space(connection, space)
        assert space_id is not None
        assert embeddings.count_live(connection, space_id) == 2
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    database.close()
    assert disagreements(home / FILE_NAME) == []
    (copy,) = (home / "backups").iterdir()
    assert copy.name.startswith(f"before-v{SCHEMA_VERSION}-")
