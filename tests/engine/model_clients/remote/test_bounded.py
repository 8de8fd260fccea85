"""Answers in time, whatever the work hangs on."""

from __future__ import annotations

import threading
import time

import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients.remote.bounded import Bounded


def late() -> ModelUnavailable:
    return ModelUnavailable("error.remote_slow", host="h", seconds=1)


def test_a_result_and_a_failure_come_through():
    bounded = Bounded()
    assert bounded.run(lambda: 7, 5.0, late()) == 7
    with pytest.raises(ZeroDivisionError):
        bounded.run(lambda: 1 // 0, 5.0, late())


def test_hanging_work_is_left_behind_and_a_full_house_refuses_at_once():
    release = threading.Event()
    bounded = Bounded(slots=2)
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            bounded.run(release.wait, 0.05, late())
    started = time.monotonic()
    with pytest.raises(ModelUnavailable):
        bounded.run(lambda: 7, 5.0, late())
    assert time.monotonic() - started < 4.0
    release.set()
    assert _eventually(bounded) == 7


def _eventually(bounded: Bounded) -> int:
    for _ in range(200):
        try:
            return bounded.run(lambda: 7, 5.0, late())
        except ModelUnavailable:
            time.sleep(0.01)
    raise AssertionError("the slots stay taken")
