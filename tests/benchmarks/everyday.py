"""What a person waits for with a large store: opening, searching, lists, filters, an export.

``python -m tests.benchmarks.everyday [--size 50000] [--plain] [--json]`` writes memories of about
200 Chinese characters with all their layers (``--plain``: text and vectors alone, which is much
sooner done) and prints wall-clock times in ms and the memory of the process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import psutil

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.scope import Filters
from engine.use_cases.export_memories import ExportRequest
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from tests.benchmarks.corpus import Item, items
from tests.benchmarks.store import ENVIRONMENT

CALLER = Caller("benchmark")
_BATCH = 200
_LENGTH = 200
_PAGE = 20
_TAGS = 50
_SEARCHES = 20
_PLAIN = {"JIYI_ATOMS__ENABLED": "false", "JIYI_GRAPH__ENABLED": "false"}


class _Enough(Exception):
    """Raised by a progress report to stop the work, as a person does."""


def measure(home: Path, size: int, *, plain: bool = False) -> dict[str, float]:
    """All figures of a store of ``size`` memories that is built in ``home``; times in ms."""
    environ = ENVIRONMENT | (_PLAIN if plain else {})
    asked = _build(home, size, environ)
    figures: dict[str, float] = {}
    started = time.perf_counter()
    with open_engine(home, environ=environ) as engine:
        figures["open"] = _since(started)
        figures["open_and_first_search"] = _timed_since(started, lambda: _search(engine, asked[0]))
        warm = [_timed(partial(_search, engine, item)) for item in asked[1:]]
        figures["search_p50"] = statistics.median(warm)
        figures["search_slowest"] = max(warm)
        figures |= _looking_around(engine, size)
        figures |= _long_work(engine, home)
        figures["rss_mb"] = psutil.Process().memory_info().rss / 1e6
    figures["disk_mb"] = sum(f.stat().st_size for f in home.rglob("*") if f.is_file()) / 1e6
    return figures


def _build(home: Path, size: int, environ: Mapping[str, str]) -> list[Item]:
    """Write the store; return some of its memories to ask for."""
    kept: list[Item] = []
    with open_engine(home, environ=environ) as engine:
        batch: list[MemorizeRequest] = []
        for number, item in enumerate(_long_items(size)):
            fields = {"text": item.text, "tags": [f"tag{number % _TAGS}"]}
            batch.append(MemorizeRequest(fields, workspace=item.workspace, on_conflict="ignore"))
            if number % (size // (_SEARCHES + 1)) == 0:
                kept.append(item)
            if len(batch) == _BATCH or number == size - 1:
                engine.memorize_many(batch, CALLER)
                batch = []
    return kept


def _long_items(size: int) -> Iterator[Item]:
    """Memories made of as many short ones as give the length wanted."""
    parts: list[Item] = []
    for item in items(size * 10):
        parts.append(item)
        text = "".join(part.text for part in parts)
        if len(text) >= _LENGTH:
            yield Item(text, item.code, item.question, item.workspace)
            parts = []
            size -= 1
            if not size:
                return


def _looking_around(engine: Engine, size: int) -> dict[str, float]:
    tagged = Filters(tags_any=("tag7",))
    hub = next(iter(engine.graph_nodes(limit=1)), None)
    last = max(0, size - _PAGE)
    figures = {
        "list_page_1": _timed(lambda: engine.list(limit=_PAGE)),
        "list_last_page": _timed(lambda: _page_at(engine, last)),
        "list_of_a_tag": _timed(lambda: engine.list(tagged, limit=_PAGE)),
        "search_in_a_tag": _timed(lambda: engine.recall(RecallRequest("花生", filters=tagged))),
        "order_of_all": _timed(lambda: engine.browsing.order()),
        "facets": _timed(lambda: engine.browsing.facets()),
    }
    if hub is not None:
        figures["graph_around_a_hub"] = _timed(partial(engine.graph_view.around, hub.id))
    return figures


def _page_at(engine: Engine, place: int) -> None:
    """A page in the middle of the list, as the browser reads it."""
    order = engine.browsing.order()
    engine.browsing.memories(order[place : place + _PAGE])


def _long_work(engine: Engine, home: Path) -> dict[str, float]:
    export = ExportRequest(home / "export.jsonl.gz")
    return {
        "export": _timed(lambda: engine.transfer.export(export)),
        "rebuild_stopped_early": _timed(lambda: _stopped(engine)),
    }


def _stopped(engine: Engine) -> None:
    def report(part: str, done: int, total: int) -> None:
        if done:
            raise _Enough

    try:
        engine.backups.rebuild_index((), report)
    except _Enough:
        return


def _search(engine: Engine, item: Item) -> None:
    engine.recall(RecallRequest(item.question))


def _timed(work: Callable[[], object]) -> float:
    return _timed_since(time.perf_counter(), work)


def _timed_since(started: float, work: Callable[[], object]) -> float:
    work()
    return _since(started)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.everyday")
    parser.add_argument("--size", type=int, default=50_000)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), options.size, plain=options.plain)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:<40}{value:>12.1f}")


if __name__ == "__main__":
    main()
