"""One store of one size: writing, recalling, opening, memory and disk."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.scope import Filters, Scope
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from tests.benchmarks.corpus import Item, items

# Vectors cost the same whatever made them; hashing keeps the model out of the figures. Answers
# kept from before would measure nothing.
ENVIRONMENT = {"JIYI_EMBEDDING__PROVIDER": "hashing", "JIYI_CACHE__TTL_S": "0"}
CALLER = Caller("benchmark")
_BATCH = 200
_QUERIES = 200
_SINGLES = 100

Figures = dict[str, object]


def measure(home: Path, size: int) -> Figures:
    """All figures of a store with ``size`` memories; builds it in ``home``."""
    corpus = list(items(size + _SINGLES))
    with open_engine(home, environ=ENVIRONMENT) as engine:
        per_second = _write_many(engine, corpus[:size])
        single = _timed(lambda item: _memorize(engine, item), corpus[size:])
    figures: Figures = {"memorize_many_per_s": per_second, "memorize": single}
    figures["open_ms"] = _open_ms(home)
    with open_engine(home, environ=ENVIRONMENT) as engine:
        asked = _asked(corpus[:size])
        engine.recall(RecallRequest(asked[0].question))
        timed = _timed(lambda item: _recall(engine, item), asked)
        figures["recall"] = {**timed, "stages": _stages(engine, asked)}
        figures["recall_scoped"] = _timed(lambda item: _recall(engine, item, scoped=True), asked)
        figures["found_at_1"] = _found(engine, asked)
        figures["rss_mb"] = psutil.Process().memory_info().rss / 1e6
    figures["disk_mb"] = sum(f.stat().st_size for f in home.rglob("*") if f.is_file()) / 1e6
    return figures


def _write_many(engine: Engine, corpus: Sequence[Item]) -> float:
    started = time.perf_counter()
    for start in range(0, len(corpus), _BATCH):
        batch = [
            MemorizeRequest({"text": item.text}, workspace=item.workspace)
            for item in corpus[start : start + _BATCH]
        ]
        engine.memorize_many(batch, CALLER)
    return len(corpus) / (time.perf_counter() - started)


def _memorize(engine: Engine, item: Item) -> None:
    engine.memorize(MemorizeRequest({"text": item.text}, workspace=item.workspace), CALLER)


def _recall(engine: Engine, item: Item, *, scoped: bool = False) -> None:
    scope = Scope("workspace", item.workspace) if scoped else Scope()
    engine.recall(RecallRequest(item.question, filters=Filters(scope=scope)))


def _asked(corpus: Sequence[Item]) -> list[Item]:
    return random.Random(7).choices(corpus, k=_QUERIES)


def _found(engine: Engine, asked: Sequence[Item]) -> float:
    hits = [engine.recall(RecallRequest(item.code, k=1)).hits for item in asked]
    return sum(
        bool(hit) and hit[0].memory.text == item.text for hit, item in zip(hits, asked, strict=True)
    ) / len(asked)


def _stages(engine: Engine, asked: Sequence[Item]) -> dict[str, float]:
    runs = [engine.recall(RecallRequest(item.question)).stages_ms for item in asked]
    names = runs[0].keys()
    return {name: statistics.median(run[name] for run in runs) for name in names}


def _timed(work: Callable[[Item], None], asked: Sequence[Item]) -> dict[str, float]:
    cpu: list[float] = []
    wall: list[float] = []
    for item in asked:
        cpu_start, wall_start = time.thread_time(), time.perf_counter()
        work(item)
        cpu.append((time.thread_time() - cpu_start) * 1000)
        wall.append((time.perf_counter() - wall_start) * 1000)
    return {
        "cpu_ms_p50": _percentile(cpu, 0.50),
        "cpu_ms_p95": _percentile(cpu, 0.95),
        "wall_ms_p50": _percentile(wall, 0.50),
        "wall_ms_p95": _percentile(wall, 0.95),
    }


def _open_ms(home: Path) -> float:
    times = []
    for _ in range(5):
        started = time.perf_counter()
        open_engine(home, environ=ENVIRONMENT).close()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
