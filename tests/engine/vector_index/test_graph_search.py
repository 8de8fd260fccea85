"""Large stores: a graph in a file, what changed since, and how it is renewed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.vector_index.exact import ExactTable
from engine.vector_index.graph import GraphSearcher
from tests.engine.vector_index.memory_source import SharedStore, clustered
from tests.engine.vector_index.opened_index import FAST, Opener, until, until_mode


def graph_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.graph"))


def vector_of(store: SharedStore, owner: int) -> np.ndarray:
    return store.pieces[store.of_owner[owner][0]][1].astype(np.float32)


def test_until_a_graph_is_built_answers_are_exact(store: SharedStore, opened: Opener) -> None:
    index = opened(store)
    index.catch_up()
    assert index.search(vector_of(store, 5), 1)[0].owner_id == 5
    assert index.status().mode in ("building", "hnsw")


def test_a_graph_finds_what_exact_search_finds(store: SharedStore, opened: Opener) -> None:
    index, exact = opened(store), opened(store, exact_below=10**6)
    until_mode(index, "hnsw")
    exact.catch_up()
    for owner in range(1, 600, 20):
        query = vector_of(store, owner)
        assert index.search(query, 10) == exact.search(query, 10)


def test_recall_on_clustered_vectors_is_high(opened: Opener) -> None:
    shared = SharedStore(dims=64)
    shared.put_all(clustered(4_000, 64))
    index, exact = opened(shared), opened(shared, exact_below=10**6)
    until_mode(index, "hnsw")
    found = 0
    for query in clustered(100, 64, seed=5):
        right = {hit.owner_id for hit in exact.search(query, 10)}
        found += len(right & {hit.owner_id for hit in index.search(query, 10)})
    assert found >= 950


def test_changes_after_the_file_are_found_and_old_vectors_are_not(
    store: SharedStore, opened: Opener
) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    old, new = vector_of(store, 7), clustered(1, 32, seed=8, spread=9.0)[0]
    store.put(7, [new])
    store.put(9_000, [old])
    store.remove(8)
    index.catch_up()
    assert index.search(new, 1)[0].owner_id == 7
    assert index.search(old, 1)[0].owner_id == 9_000
    assert index.size() == 600
    assert 8 not in {hit.owner_id for hit in index.search(old, 600)}
    assert index.status().mode == "hnsw"


def test_small_and_large_scopes_are_complete(store: SharedStore, opened: Opener) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    query = vector_of(store, 3)
    for scope in (frozenset(range(580, 600)), frozenset(range(200, 600, 3))):
        hits = index.search(query, 10, scope)
        exact = index.cosines(query, scope)
        best = sorted(exact, key=lambda owner: (-exact[owner], owner))[:10]
        assert [hit.owner_id for hit in hits] == best


def test_a_memory_with_many_pieces_does_not_crowd_out_others(opened: Opener) -> None:
    shared = SharedStore(dims=32)
    shared.put_all(clustered(600, 32))
    query = vector_of(shared, 1)
    shared.put(700, [query] * 90)
    index = opened(shared)
    until_mode(index, "hnsw")
    hits = index.search(query, 10)
    assert len({hit.owner_id for hit in hits}) == 10
    assert {1, 700} <= {hit.owner_id for hit in hits}


def test_many_changes_lead_to_a_new_file_and_the_old_one_goes(
    store: SharedStore, opened: Opener, folder: Path
) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    first = graph_files(folder)
    store.put_all(clustered(200, 32, seed=4), first_owner=5_000)
    until(index, lambda: index.status().file_name not in ("", *first))
    assert graph_files(folder) == [index.status().file_name]
    assert index.size() == 800
    assert not list(folder.glob("*.tmp"))


def test_a_store_that_shrinks_is_searched_exactly_again(store: SharedStore, opened: Opener) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    for owner in range(1, 300):
        store.remove(owner)
    index.catch_up()
    assert (index.status().mode, index.size()) == ("exact", 301)


def test_two_indexes_share_one_file_and_only_one_builds(
    store: SharedStore, opened: Opener, folder: Path
) -> None:
    first, second = opened(store), opened(store)
    first.catch_up()
    second.catch_up()
    until_mode(first, "hnsw")
    until_mode(second, "hnsw")
    assert graph_files(folder) == [first.status().file_name]
    assert first.status().file_name == second.status().file_name


def test_no_file_is_ever_written_twice(store: SharedStore, opened: Opener, folder: Path) -> None:
    indexes = [opened(store), opened(store)]
    contents: dict[str, bytes] = {}
    for turn in range(3):
        store.put_all(clustered(500, 32, seed=turn), first_owner=10_000 * (turn + 1))
        for index in indexes:
            until(index, lambda index=index: _is_fresh(index))  # type: ignore[misc]
        for path in folder.glob("*.graph"):
            assert contents.setdefault(path.name, path.read_bytes()) == path.read_bytes()
    assert len(contents) >= 3


def _is_fresh(index: object) -> bool:
    searcher = index._searcher  # type: ignore[attr-defined]
    return isinstance(searcher, GraphSearcher) and not searcher.worn


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_two_processes_add_is_found_by_both_and_after_both_end(
    order: tuple[int, int], opened: Opener
) -> None:
    shared = SharedStore(dims=32)
    vectors = clustered(21, 32)
    both = [opened(shared, exact_below=15), opened(shared, exact_below=15)]
    for adder, part in ((0, range(10)), (1, range(10, 20)), (0, range(20, 21))):
        both[adder].catch_up()
        for number in part:
            shared.put(number + 1, [vectors[number]])
        both[adder].catch_up()
    for index in both:
        until_mode(index, "hnsw")
        assert index.size() == 21
    for place in order:
        both[place].close()
    third = opened(shared, exact_below=15)
    third.catch_up()
    assert (third.size(), third.status().mode) == (21, "hnsw")
    for number, vector in enumerate(vectors, 1):
        assert third.search(vector, 1)[0].owner_id == number


def test_a_next_start_reads_the_file_and_not_the_whole_store(
    store: SharedStore, opened: Opener
) -> None:
    first = opened(store)
    until_mode(first, "hnsw")
    first.close()
    store.put(4_242, [clustered(1, 32, seed=6)[0]])
    second = opened(store)
    second.catch_up()
    assert (second.status().mode, second.size()) == ("hnsw", 601)
    assert second._source.snapshots == 0  # type: ignore[attr-defined]


def test_searching_writes_nothing(store: SharedStore, opened: Opener, folder: Path) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    for owner in range(1, 400):
        index.catch_up()
        index.search(vector_of(store, owner), 5)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_folder_deleted_while_running_is_made_again(
    store: SharedStore, opened: Opener, folder: Path
) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    shutil.rmtree(folder)
    assert index.search(vector_of(store, 9), 1)[0].owner_id == 9
    until(index, lambda: graph_files(folder) == [index.status().file_name])
    assert index.search(vector_of(store, 9), 1)[0].owner_id == 9


def test_a_folder_that_cannot_be_written_leaves_exact_search(
    store: SharedStore, opened: Opener, folder: Path
) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file stands where the folder should be", encoding="utf-8")
    index = opened(store)
    until(index, lambda: index.status().problem != "")
    assert index.status().problem == "index.folder_unwritable"
    assert index.status().mode == "exact"
    assert index.search(vector_of(store, 9), 1)[0].owner_id == 9


def test_closing_stops_a_build_between_two_batches(opened: Opener, folder: Path) -> None:
    shared = SharedStore(dims=32)
    shared.put_all(clustered(3_000, 32))
    index = opened(shared, tuning=replace(FAST, batch_rows=1))
    index.catch_up()
    assert index.status().mode == "building"
    index.close()
    assert not index._builder.running
    assert graph_files(folder) == []
    assert not list(folder.glob("*.tmp"))
    assert shared.leases == {}


def test_a_lease_left_by_a_killed_process_delays_but_does_not_stop_the_build(
    store: SharedStore, opened: Opener
) -> None:
    index = opened(store)
    store.leases[index._folder.lease_name] = (object(), float("inf"))
    index.catch_up()
    index._builder._thread.join()  # type: ignore[union-attr]
    assert index.status().mode == "building"
    store.leases.clear()
    index._builder._not_before = 0.0
    until_mode(index, "hnsw")


def test_eight_threads_search_while_graphs_are_replaced(store: SharedStore, opened: Opener) -> None:
    index = opened(store)
    queries = {owner: vector_of(store, owner) for owner in range(1, 101)}
    problems: list[object] = []
    over = threading.Event()

    def search(first: int) -> None:
        owner = first
        while not over.is_set():
            owner = owner % 100 + 1
            index.catch_up()
            hits = index.search(queries[owner], 1)
            if [hit.owner_id for hit in hits] != [owner]:
                problems.append((owner, hits))

    threads = [threading.Thread(target=search, args=(number * 10,)) for number in range(8)]
    for thread in threads:
        thread.start()
    files = set()
    for turn in range(4):
        store.put_all(clustered(700, 32, seed=20 + turn), first_owner=10_000 * (turn + 1))
        until(index, lambda: _is_fresh(index))
        files.add(index.status().file_name)
    over.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(files) == 4


def test_a_reranked_answer_equals_the_exact_table(store: SharedStore, opened: Opener) -> None:
    index = opened(store)
    until_mode(index, "hnsw")
    table = ExactTable(32)
    table.apply(frozenset(), store.block(store.of_owner))
    query = clustered(1, 32, seed=77)[0]
    assert index.search(query, 5) == table.search(query, 5)


def test_a_program_that_ends_during_a_build_ends_quietly(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from engine.vector_index.graph import GraphTuning\n"
        "from engine.vector_index.index import VectorIndex\n"
        "from tests.engine.vector_index.memory_source import *\n"
        "store = SharedStore(dims=32); store.put_all(clustered(20_000, 32))\n"
        "index = VectorIndex(MemorySource(store), Path(sys.argv[1]), exact_below=10,\n"
        "                    tuning=GraphTuning(batch_rows=1))\n"
        "index.catch_up(); print(index.status().mode)\n"
    )
    root = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (ended.stdout.strip(), ended.stderr) == ("building", "")
    assert list(tmp_path.iterdir()) == []
