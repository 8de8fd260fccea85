"""Files that are damaged, cut, foreign or of another time are put aside, never mapped."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from engine.vector_index.graph_file import GraphFolder, UnusableFile
from tests.engine.vector_index.memory_source import SharedStore, clustered
from tests.engine.vector_index.opened_index import Opener, until_mode


@pytest.fixture
def built(store: SharedStore, opened: Opener, folder: Path) -> Path:
    """The one graph file of a closed index."""
    index = opened(store)
    until_mode(index, "hnsw")
    index.close()
    (path,) = folder.glob("*.graph")
    return path


def assert_put_aside(built: Path, store: SharedStore, opened: Opener) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    assert index.size() == 600
    assert index.status().file_name != built.name
    assert [path.name for path in built.parent.glob("*.bad")] == [built.name + ".bad"]


@pytest.mark.parametrize("left", [0, 1, 12, 4_096, 20_000])
def test_a_truncated_file_is_put_aside(
    left: int, built: Path, store: SharedStore, opened: Opener
) -> None:
    os.truncate(built, left)
    assert_put_aside(built, store, opened)


def test_bytes_that_follow_the_end_are_noticed(
    built: Path, store: SharedStore, opened: Opener
) -> None:
    with built.open("ab") as file:
        file.write(b"more")
    assert_put_aside(built, store, opened)


def test_a_foreign_file_is_put_aside(built: Path, store: SharedStore, opened: Opener) -> None:
    built.write_bytes(b"SQLite format 3\0" * 500)
    assert_put_aside(built, store, opened)


def test_any_flipped_byte_is_noticed(built: Path) -> None:
    whole = built.read_bytes()
    folder = GraphFolder(built.parent, "space", 32)
    folder.open(built).close()
    header_end = whole.index(b"\0\0\0\0", 16)
    rng = random.Random(1)
    places = [*range(0, header_end, 7), *(rng.randrange(4_096, len(whole)) for _ in range(200))]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        built.write_bytes(damaged)
        with pytest.raises(UnusableFile):
            folder.open(built)


def test_wrong_dimensions_or_space_are_noticed(built: Path) -> None:
    with pytest.raises(UnusableFile):
        GraphFolder(built.parent, "space", 64).open(built)
    with pytest.raises(UnusableFile):
        GraphFolder(built.parent, "another space", 32).open(built)


def test_files_of_another_space_are_left_alone(
    built: Path, store: SharedStore, opened: Opener
) -> None:
    index = opened(store, space_key="another space")
    until_mode(index, "hnsw")
    assert built.exists()
    assert len(list(built.parent.glob("*.graph"))) == 2


def test_a_file_from_after_the_last_change_is_not_used(built: Path, opened: Opener) -> None:
    restored = SharedStore(dims=32)
    restored.put_all(clustered(550, 32, seed=9))
    index = opened(restored)
    index.catch_up()
    assert index.status().mode == "building"
    assert index.size() == 550


def test_what_a_broken_off_build_left_is_removed_in_time(
    built: Path, store: SharedStore, opened: Opener
) -> None:
    stem = built.name.rsplit("-", 2)[0]
    old, young = (built.with_name(f"{stem}-{name}.tmp") for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7_200, time.time() - 7_200))
    until_mode(opened(store), "hnsw")
    assert (old.exists(), young.exists()) == (False, True)


def test_a_scanner_that_holds_the_new_file_for_a_moment_is_waited_for(
    store: SharedStore, opened: Opener, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [5, 32, 32]
    rename = Path.replace

    def held(self: Path, target: Path) -> Path:
        if refusals and self.suffix == ".tmp":
            error = PermissionError("held")
            error.winerror = refusals.pop()  # type: ignore[attr-defined]
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", held)
    until_mode(opened(store), "hnsw")
    assert refusals == []
    assert not list(folder.glob("*.tmp"))


def test_a_file_that_can_never_be_renamed_leaves_nothing_behind(
    store: SharedStore, opened: Opener, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refused)
    index = opened(store)
    index.catch_up()
    index._builder._thread.join()  # type: ignore[union-attr]
    assert index.status().problem == "index.folder_unwritable"
    assert list(folder.iterdir()) == []
