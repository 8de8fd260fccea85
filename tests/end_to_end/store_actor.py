"""A process with an engine that does what it is told: one JSON request and answer a line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.bootstrap import Engine, open_engine
from engine.storage import backup
from engine.use_cases.edit import EditRequest
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember, remember_all

ROOT = Path(__file__).parents[2]


class Actor:
    """The told process, seen from the test."""

    def __init__(self, home: Path, environ: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "tests.end_to_end.store_actor", str(home)]
        self.process = subprocess.Popen(
            [*command, json.dumps(HASHING | (environ or {}))], cwd=ROOT, text=True,
            encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def start(self, do: str, **given: object) -> None:
        """Ask without waiting for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": do} | given) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Wait for the answer; fails with what the process met."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process ended"
        answer = json.loads(line)
        assert "failure" not in answer, answer["failure"]
        return answer["value"]

    def __call__(self, do: str, **given: object) -> Any:
        self.start(do, **given)
        return self.answer()

    def close(self) -> None:
        """End it as its client ends: the input closes."""
        self.process.communicate(timeout=30)
        assert self.process.returncode == 0

    def kill(self) -> None:
        """End it without a chance to tidy up."""
        self.process.kill()
        self.process.communicate()


def add_one_by_one(engine: Engine, prefix: str, count: int) -> dict[str, object]:
    ids, longest_s = [], 0.0
    for number in range(count):
        started = time.perf_counter()
        ids.append(remember(engine, f"{prefix} 第 {number} 条记忆 {prefix}x{number}"))
        longest_s = max(longest_s, time.perf_counter() - started)
    return {"ids": ids, "longest_s": longest_s}


def keep_busy(engine: Engine, target: str, seconds: float) -> int:
    """Repair, look deep and make backups, over and over."""
    deadline, turns = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        engine.repair()
        engine.diagnose()
        backup.copy_database(engine.context.database.path, Path(target))
        turns += 1
    return turns


def edit(engine: Engine, memory_id: int, text: str) -> None:
    engine.edit(EditRequest(memory_id, {"text": text}), CALLER)


def delete(engine: Engine, memory_id: int) -> None:
    engine.delete(memory_id, CALLER)


def restore(engine: Engine, memory_id: int) -> None:
    engine.restore(memory_id, CALLER)


DEEDS: dict[str, Callable[..., object]] = {
    "remember": remember,
    "remember_all": remember_all,
    "add_one_by_one": add_one_by_one,
    "keep_busy": keep_busy,
    "edit": edit,
    "delete": delete,
    "restore": restore,
    "found": found,
}


def main() -> None:
    home, environ = sys.argv[1], json.loads(sys.argv[2])
    with open_engine(home, environ=environ) as engine:
        engine.start_background("actor")
        for line in sys.stdin:
            request = json.loads(line)
            deed = DEEDS[request.pop("do")]
            try:
                answer: dict[str, object] = {"value": deed(engine, **request)}
            except Exception as error:
                answer = {"failure": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
