"""Killed in the middle of writing, again and again: what was acknowledged is there, whole.

``JIYI_KILL_ROUNDS=100`` makes it a hundred kills.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.bootstrap import open_engine
from engine.storage import memories
from engine.storage.database import FILE_NAME
from tests.end_to_end.store_writer import INSIDE, OUTSIDE
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import HASHING, found, remember

ROOT = Path(__file__).parents[2]
# Read at import: variables of this name are kept from the tests themselves.
ROUNDS = int(os.environ.get("JIYI_KILL_ROUNDS", "12"))
ROUNDS_PER_STORE = 10
CHANGES_EVERY = 4

State = tuple[str, bool]


@dataclass
class Witness:
    """What was acknowledged, and what was begun and not acknowledged."""

    acknowledged: dict[int, State] = field(default_factory=dict)
    begun: dict[int, State] = field(default_factory=dict)
    lines: int = 0

    def hear_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.hear(line)

    def hear(self, line: str) -> None:
        kind, memory_id, text, deleted = json.loads(line)
        if kind == "will":
            self.begun[memory_id] = (text, deleted)
            return
        self.acknowledged[memory_id] = (text, deleted)
        self.begun.pop(memory_id, None)
        self.lines += 1


def writer(home: Path, marker: Path, number: int) -> subprocess.Popen[str]:
    what = "change" if number % CHANGES_EVERY == CHANGES_EVERY - 1 else "add"
    command = [sys.executable, "-m", "tests.end_to_end.store_writer"]
    return subprocess.Popen(
        [*command, str(home), str(marker), f"r{number}", what], cwd=ROOT, text=True,
        encoding="utf-8", stdout=subprocess.PIPE,
    )  # fmt: skip


def kill_when(process: subprocess.Popen[str], marker: Path, wanted: bytes, delay_s: float) -> bool:
    """Kill after the delay, at a moment when the marker says ``wanted``; tell if it was inside."""
    time.sleep(delay_s)
    deadline = time.monotonic() + 5.0
    with marker.open("rb", buffering=0) as file:
        while time.monotonic() < deadline:
            file.seek(0)
            if file.read(1) == wanted:
                break
    process.kill()
    process.wait()
    return marker.read_bytes() == INSIDE


def one_round(home: Path, marker: Path, number: int, witness: Witness) -> bool:
    """Let a writer work, kill it, and tell whether a transaction was open."""
    marker.write_bytes(OUTSIDE)
    process = writer(home, marker, number)
    assert process.stdout is not None
    stdout = process.stdout
    first = stdout.readline()
    assert first, "the store did not open"
    witness.hear(first)
    listener = threading.Thread(target=witness.hear_all, args=(stdout,))
    listener.start()
    wanted = OUTSIDE if number % 4 == 0 else INSIDE
    inside = kill_when(process, marker, wanted, random.Random(number).uniform(0.0, 0.25))
    listener.join()
    stdout.close()
    return inside


def losses(home: Path, witness: Witness) -> list[str]:
    """What is not as it was acknowledged, or as the change that was under way would have it."""
    with open_engine(home, environ=HASHING) as engine:
        with engine.context.database.read() as connection:
            stored = memories.fetch(connection, witness.acknowledged)
        wrong = []
        for memory_id, state in witness.acknowledged.items():
            memory = stored.get(memory_id)
            now = (memory.text, memory.deleted_at is not None) if memory else None
            if now is None or now not in (state, witness.begun.get(memory_id)):
                wrong.append(f"#{memory_id} is {now}, was {state}")
            else:
                witness.acknowledged[memory_id] = now
        witness.begun.clear()
        return wrong + unfound(home, witness)


def unfound(home: Path, witness: Witness) -> list[str]:
    """Some of the acknowledged memories are looked for, and one more is written."""
    with open_engine(home, environ=HASHING) as engine:
        wrong = []
        for memory_id in random.Random(0).sample(sorted(witness.acknowledged), 3):
            memory = engine.get(memory_id)
            for mode in ("keyword", "semantic"):
                ids = found(engine, memory.text, k=5, mode=mode)
                if (memory_id in ids) == (memory.deleted_at is not None):
                    wrong.append(f"#{memory_id} by {mode}: {ids}")
        text = f"after {witness.lines}"
        witness.acknowledged[remember(engine, text)] = (text, False)
        return wrong


@pytest.mark.slow
@pytest.mark.timeout(60 + 10 * ROUNDS)
def test_nothing_acknowledged_is_lost_and_nothing_half_written(tmp_path: Path) -> None:
    marker, inside, acknowledged = tmp_path / "marker", 0, 0
    witness, home = Witness(), tmp_path
    for number in range(ROUNDS):
        if number % ROUNDS_PER_STORE == 0:
            acknowledged += witness.lines
            witness, home = Witness(), tmp_path / f"store {number}"
        inside += one_round(home, marker, number, witness)
        assert disagreements(home / FILE_NAME) == []
        assert losses(home, witness) == []
    acknowledged += witness.lines
    print(f"\nkills {ROUNDS}, inside a transaction {inside}, acknowledged writes {acknowledged}")
    assert inside >= ROUNDS / 2
