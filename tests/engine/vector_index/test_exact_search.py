"""Small stores: every vector is compared."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.domain.errors import InvalidInput, StoreUnavailable
from engine.vector_index.exact import ExactTable
from engine.vector_index.source import VectorBlock
from tests.engine.vector_index.memory_source import MemorySource, SharedStore, clustered
from tests.engine.vector_index.opened_index import Opener

DIMS = 8


def axis(*weights: float) -> np.ndarray:
    vector = np.zeros(DIMS, np.float32)
    vector[: len(weights)] = weights
    return vector / np.linalg.norm(vector)


@pytest.fixture
def small() -> SharedStore:
    shared = SharedStore(dims=DIMS)
    shared.put(1, [axis(1)])
    shared.put(2, [axis(0, 1), axis(1, 0.1)])
    shared.put(3, [axis(0, 0, 1)])
    return shared


def test_the_best_piece_of_each_owner_is_answered_best_first(
    small: SharedStore, opened: Opener
) -> None:
    index = opened(small)
    index.catch_up()
    hits = index.search(axis(1), 3)
    assert [hit.owner_id for hit in hits] == [1, 2, 3]
    assert hits[1].piece_id == small.of_owner[2][1]
    assert [round(hit.cosine, 3) for hit in hits] == [1.0, 0.995, 0.0]


def test_only_allowed_owners_are_answered(small: SharedStore, opened: Opener) -> None:
    index = opened(small)
    index.catch_up()
    assert [hit.owner_id for hit in index.search(axis(1), 5, frozenset({2, 3, 77}))] == [2, 3]
    assert index.search(axis(1), 5, frozenset()) == []
    assert index.search(axis(1), 0) == []


def test_cosines_are_those_of_the_best_piece(small: SharedStore, opened: Opener) -> None:
    index = opened(small)
    index.catch_up()
    assert index.cosines(axis(1), [2, 3, 99]) == pytest.approx({2: 0.995, 3: 0.0}, abs=1e-3)
    assert index.cosines(axis(1), []) == {}


def test_a_changed_memory_is_found_by_its_new_vector_alone(
    small: SharedStore, opened: Opener
) -> None:
    index = opened(small)
    index.catch_up()
    small.put(1, [axis(0, 0, 0, 1)])
    small.remove(3)
    index.catch_up()
    assert index.size() == 3
    assert index.search(axis(0, 0, 0, 1), 1)[0].owner_id == 1
    assert {hit.owner_id for hit in index.search(axis(1), 9)} == {1, 2}


def test_nothing_is_read_again_when_nothing_changed(small: SharedStore, opened: Opener) -> None:
    index = opened(small)
    for _ in range(5):
        index.catch_up()
    source = index._source
    assert isinstance(source, MemorySource)
    assert source.snapshots == 1


def test_a_store_replaced_by_an_older_one_is_read_anew(small: SharedStore, opened: Opener) -> None:
    index = opened(small)
    index.catch_up()
    small.remove(1)
    index.catch_up()
    small.log.clear()
    small.put(9, [axis(0, 0, 0, 0, 1)])
    index.catch_up()
    assert {hit.owner_id for hit in index.search(axis(1), 9)} == {2, 3, 9}


def test_an_empty_store_answers_nothing_and_grows(opened: Opener) -> None:
    shared = SharedStore(dims=DIMS)
    index = opened(shared)
    index.catch_up()
    assert index.search(axis(1), 5) == []
    shared.put(1, [axis(1)])
    index.catch_up()
    assert index.search(axis(1), 5)[0].owner_id == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_vectors_without_direction_are_refused(value: float, opened: Opener) -> None:
    shared = SharedStore(dims=DIMS)
    shared.put(1, [np.full(DIMS, value, np.float32)])
    shared.put(2, [axis(1)])
    index = opened(shared)
    index.catch_up()
    assert [hit.owner_id for hit in index.search(axis(0, 1), 5)] == [2]
    assert index.size() == 1


@pytest.mark.parametrize(
    "query", [np.zeros(DIMS), np.full(DIMS, np.nan), np.full(DIMS, np.inf), np.ones(DIMS + 1)]
)
def test_a_query_without_direction_is_an_error(
    query: np.ndarray, small: SharedStore, opened: Opener
) -> None:
    index = opened(small)
    with pytest.raises(InvalidInput):
        index.search(query.astype(np.float32), 3)


def test_a_closed_index_says_so(small: SharedStore, opened: Opener) -> None:
    index = opened(small)
    index.close()
    index.close()
    with pytest.raises(StoreUnavailable):
        index.search(axis(1), 3)


def test_equal_vectors_are_answered_in_order_of_their_ids(opened: Opener) -> None:
    shared = SharedStore(dims=DIMS)
    for owner in (30, 7, 19, 4, 25):
        shared.put(owner, [axis(1, 2)])
    index = opened(shared)
    assert [hit.owner_id for hit in index.search(axis(1, 2), 3)] == [4, 7, 19]


def test_very_large_tables_in_half_precision_answer_the_same() -> None:
    vectors = clustered(300, DIMS)
    block = VectorBlock(np.arange(300), np.arange(300), vectors.astype(np.float16))
    single, half = ExactTable(DIMS, 300), ExactTable(DIMS, 10**6)
    for table in (single, half):
        table.apply(frozenset(), block)
    found = [[hit.owner_id for hit in table.search(vectors[5], 3)] for table in (single, half)]
    assert found[0] == found[1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), max_size=120))
def test_any_sequence_of_changes_ends_as_a_fresh_reading(changes: list[tuple[int, int]]) -> None:
    pool = clustered(8, DIMS, seed=3)
    table = ExactTable(DIMS)
    now: dict[int, list[int]] = {}
    for step, (owner, pieces) in enumerate(changes):
        now[owner] = [(owner + step + number) % 8 for number in range(pieces)]
        table.apply(
            frozenset({owner}),
            VectorBlock(
                np.arange(pieces) + 10 * step, np.full(pieces, owner), pool[now[owner]].astype("f2")
            ),
        )
    query = pool[0]
    expected = {o: max(float(pool[p] @ query) for p in rows) for o, rows in now.items() if rows}
    found = {hit.owner_id: hit.cosine for hit in table.search(query, 99)}
    assert found == pytest.approx(expected, abs=2e-3)
    assert table.size == sum(map(len, now.values()))


def test_a_table_edited_many_times_does_not_grow() -> None:
    table = ExactTable(DIMS)
    vector = axis(1).astype(np.float16)[None, :]
    for step in range(6_000):
        table.apply(
            frozenset({step % 10}), VectorBlock(np.array([step]), np.array([step % 10]), vector)
        )
    assert table.size == 10
    assert len(table._rows.owner_ids) < 4_000


def test_eight_threads_search_while_one_changes_the_store(opened: Opener) -> None:
    shared = SharedStore(dims=DIMS)
    fixed, moving = clustered(50, DIMS, seed=1), clustered(200, DIMS, seed=2)
    shared.put_all(fixed, first_owner=1_000)
    index = opened(shared, exact_below=10**6)
    problems: list[str] = []

    def search(number: int) -> None:
        for step in range(150):
            place = (number * 7 + step) % 50
            index.catch_up()
            hits = index.search(fixed[place], 1, frozenset({1_000 + place}))
            if [hit.owner_id for hit in hits] != [1_000 + place] or hits[0].cosine < 0.99:
                problems.append(str(hits))

    threads = [threading.Thread(target=search, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for owner, vector in enumerate(moving, 1):
        shared.put(owner, [vector])
        shared.remove(max(1, owner - 20))
    for thread in threads:
        thread.join()
    assert problems == []
