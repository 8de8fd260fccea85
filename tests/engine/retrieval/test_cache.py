from __future__ import annotations

import threading

from engine.retrieval.cache import RecallCache


def test_an_answer_is_kept_for_its_time():
    cache = RecallCache[str](ttl_s=45)
    cache.put("q", "answer", change=7, now=100.0)
    assert cache.get("q", 7, 100.0) == "answer"
    assert cache.get("q", 7, 144.9) == "answer"
    assert cache.get("q", 7, 145.0) is None
    assert len(cache) == 0


def test_any_change_of_the_store_makes_it_miss():
    cache = RecallCache[str]()
    cache.put("q", "answer", change=7, now=100.0)
    assert cache.get("q", 8, 101.0) is None
    assert cache.get("q", 7, 101.0) is None


def test_an_answer_ends_with_the_first_deadline_in_it():
    cache = RecallCache[str]()
    cache.put("q", "answer", change=7, now=100.0, deadline=103.0)
    assert cache.get("q", 7, 102.9) == "answer"
    assert cache.get("q", 7, 103.0) is None
    cache.put("q", "answer", change=7, now=100.0, deadline=1e9)
    assert cache.get("q", 7, 146.0) is None


def test_a_clock_set_back_makes_it_miss():
    cache = RecallCache[str]()
    cache.put("q", "answer", change=7, now=100.0)
    assert cache.get("q", 7, 99.0) is None


def test_the_least_recently_used_goes_first():
    cache = RecallCache[int](size=2)
    cache.put("a", 1, 0, 0.0)
    cache.put("b", 2, 0, 0.0)
    assert cache.get("a", 0, 1.0) == 1
    cache.put("c", 3, 0, 1.0)
    assert cache.get("b", 0, 2.0) is None
    assert (cache.get("a", 0, 2.0), cache.get("c", 0, 2.0)) == (1, 3)


def test_nothing_is_kept_without_time_or_room():
    for cache in (RecallCache[int](ttl_s=0), RecallCache[int](size=0)):
        cache.put("a", 1, 0, 0.0)
        assert cache.get("a", 0, 0.0) is None


def test_many_threads_may_use_it_at_once():
    cache = RecallCache[int](size=8)
    wrong: list[object] = []

    def work(number: int) -> None:
        for turn in range(500):
            key = (turn * number) % 16
            cache.put(key, key, 0, 0.0)
            found = cache.get((turn + number) % 16, 0, 0.0)
            if found not in (None, (turn + number) % 16):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(cache) <= 8
