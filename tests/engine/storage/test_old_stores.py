"""Stores that older versions wrote open with everything in them.

``stores/version_N.db.gz`` was written by the program of that version: two memories and a third
in the trash, with vectors of the hashing model; from version 2 on with atoms and graph.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from engine.domain.caller import Caller
from engine.domain.ids import MemoryRef
from engine.domain.scope import Filters
from engine.storage import embeddings, fulltext, memories
from engine.storage.database import FILE_NAME, SCHEMA_VERSION, open_database
from engine.storage.fulltext import TEXT_INDEXES, WORDS, Match
from engine.use_cases.backup import RestoreWish, restore_backup
from tests.engine.storage.agreement import disagreements

ROWS_OF_ATOMS_AND_GRAPH = {"version_1.db.gz": [0, 0], "version_2.db.gz": [3, 3]}
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
        rows = [fulltext.totals(connection, index).row_count for index in TEXT_INDEXES[1:]]
        assert rows == ROWS_OF_ATOMS_AND_GRAPH[stored.name]
        (space,) = embeddings.complete_spaces(connection)
        space_id = embeddings.find_space(connection, space)
        assert space_id is not None
        assert embeddings.count_live(connection, space_id) == 2
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    database.close()
    assert disagreements(home / FILE_NAME) == []
    (copy,) = (home / "backups").iterdir()
    assert copy.name.startswith(f"before-v{SCHEMA_VERSION}-")


@pytest.mark.parametrize("stored", STORES, ids=lambda path: path.name)
def test_a_backup_of_an_old_layout_is_restored_in_the_present_one(
    home: Path, stored: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.db"
    old.write_bytes(gzip.decompress(stored.read_bytes()))
    open_database(home).close()
    restored = restore_backup(home, RestoreWish(path=old), Caller("test"), now=2e9)
    assert restored.replaced.contents.memories == 2
    assert restored.replaced.contents.in_trash == 1
    database = open_database(home)
    with database.read() as connection:
        assert memories.find(connection, MemoryRef(id=1)).text == "小明在甲公司做后端工程师"
    database.close()
    assert disagreements(home / FILE_NAME) == []
    assert old.read_bytes() == gzip.decompress(stored.read_bytes())
    assert [path.suffix for path in (home / "backups").iterdir()] == [".db"]
