"""Assistants, a command line and maintenance on one store, killed at random.

``python -m tests.end_to_end.soak [--seconds 120] [--each 200] [--provider hashing]`` runs four
MCP servers with the official client, the command line one command after the other and
maintenance ticks, ends random ones of them by ``kill -9`` every few seconds, and then looks
whether every acknowledged write is there, found by text and by vector, and everything agrees.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.bootstrap import Engine, open_engine
from engine.storage.database import FILE_NAME
from tests.end_to_end.soak_roles import ROLES, Log, Post, Task
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import found

LONGEST_PAUSE_S = 4.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to; ``faults`` is empty when all is well."""

    figures: Mapping[str, float]
    faults: tuple[str, ...]


def soak(home: Path, task: Task, *, seconds: float, servers: int = 4, seed: int = 0) -> Outcome:
    """Run all roles on the store in ``home`` and look at what is left.

    Kills go on for ``seconds``; the roles go on until each has done its share.
    """
    spawn = multiprocessing.get_context("spawn")
    names = [*[f"server{number}" for number in range(servers)], "command", "upkeep"]
    posts = [Post(spawn.Value("q", 0), spawn.Value("b", 0)) for _ in names]
    with spawn.Pool(len(names), initializer=_take_posts, initargs=(posts,)) as pool:
        runs = [pool.apply_async(_play, (number, name, task)) for number, name in enumerate(names)]
        kills = _kill_at_random(posts, seconds, random.Random(seed), runs[:-1])
        logs = [run.get() for run in runs[:-1]]
        posts[-1].stop()
        runs[-1].get()
    faults = [*disagreements(home / FILE_NAME), *_missing(home, task, logs)]
    figures = {"kills": float(kills), "deaths_met": float(sum(log.deaths for log in logs))}
    figures |= _figures("server", logs[:servers]) | _figures("command", logs[servers:])
    return Outcome(figures, tuple(faults))


_posts: list[Post] = []


def _take_posts(posts: list[Post]) -> None:
    _posts.extend(posts)


def _play(number: int, name: str, task: Task) -> Log:
    role = ROLES[name.rstrip("0123456789")]
    return role(name, _posts[number], task)


def _kill_at_random(
    posts: Iterable[Post], seconds: float, dice: random.Random, runs: Iterable[object]
) -> int:
    deadline, kills, victims = time.monotonic() + seconds, 0, list(posts)
    waiting = list(runs)
    while time.monotonic() < deadline and not all(run.ready() for run in waiting):  # type: ignore[attr-defined]
        time.sleep(dice.uniform(1.0, LONGEST_PAUSE_S))
        pid = dice.choice(victims).pid.value
        if pid:
            try:
                os.kill(pid, signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                continue
    return kills


def _missing(home: Path, task: Task, logs: Iterable[Log]) -> list[str]:
    """Acknowledged writes that are not there, not as they were acknowledged, or not found."""
    faults: list[str] = []
    with open_engine(home, environ=task.environ) as engine:
        while engine.drain(budget_s=60.0):
            continue
        for log in logs:
            for memory_id, texts in log.texts.items():
                faults += _missing_one(engine, memory_id, texts)
            faults += log.faults
    return faults


def _missing_one(engine: Engine, memory_id: int, texts: list[str]) -> list[str]:
    stored = engine.get(memory_id).text
    if stored not in texts:
        return [f"#{memory_id} is {stored!r}, not {texts!r}"]
    marker = stored.rsplit(" ", 1)[-1]
    faults = []
    if found(engine, marker, k=1, mode="keyword") != [memory_id]:
        faults.append(f"#{memory_id} is not found by {marker}")
    if memory_id not in found(engine, stored, k=3, mode="semantic"):
        faults.append(f"#{memory_id} is not found by its vector")
    return faults


def _figures(who: str, logs: Iterable[Log]) -> dict[str, float]:
    """Of servers the time of a call, of commands that of a whole process."""
    written: list[float] = []
    recalled: list[float] = []
    memories = 0
    for log in logs:
        written += log.write_s
        recalled += log.recall_s
        memories += len(log.texts)
    written.sort()
    recalled.sort()
    figures = {
        "memories": float(memories),
        "acknowledged_writes": float(len(written)),
        "recalls": float(len(recalled)),
        "write_p50_ms": _quantile(written, 0.5) * 1000,
        "write_p99_ms": _quantile(written, 0.99) * 1000,
        "write_slowest_ms": written[-1] * 1000,
        "recall_p50_ms": _quantile(recalled, 0.5) * 1000,
        "recall_p99_ms": _quantile(recalled, 0.99) * 1000,
    }
    return {f"{who}_{name}": value for name, value in figures.items()}


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    """Run from the command line; exit code 1 when something is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.soak")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--provider", default="hashing")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "我的 store"
        task = Task(str(home), given.each, given.seconds, given.provider)
        outcome = soak(home, task, seconds=given.seconds, seed=given.seed)
    print(json.dumps({"figures": outcome.figures, "faults": outcome.faults}, indent=2))
    sys.exit(1 if outcome.faults else 0)


if __name__ == "__main__":
    main()
