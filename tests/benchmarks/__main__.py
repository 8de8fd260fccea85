"""``python -m tests.benchmarks [--sizes 1000,10000] [--json]``: a table, or JSON."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.benchmarks import startup, store


def main() -> None:
    """Measure every size in a process of its own, then the start of a server."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-startup", action="store_true")
    options = parser.parse_args()
    result: dict[str, object] = {"sizes": {}}
    sizes: dict[str, store.Figures] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, options.sizes.split(",")):
            home = Path(folder) / str(size)
            sizes[str(size)] = _in_own_process(home, size)
        result["sizes"] = sizes
        if not options.no_startup:
            result["startup"] = startup.measure(home)
    print(json.dumps(result, indent=2) if options.json else _table(result))


def _in_own_process(home: Path, size: int) -> store.Figures:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(store.measure, (home, size))


def _table(result: Mapping[str, object]) -> str:
    lines = []
    for title, figures in _flat(result):
        lines.append(f"{title:<52}{figures:>12.3f}")
    return "\n".join(lines)


def _flat(values: Mapping[str, object], prefix: str = "") -> list[tuple[str, float]]:
    rows: list[tuple[str, float]] = []
    for name, value in values.items():
        title = f"{prefix}{name}"
        if isinstance(value, Mapping):
            rows += _flat(value, f"{title} / ")
        elif isinstance(value, (int, float)):
            rows.append((title, float(value)))
    return rows


if __name__ == "__main__":
    main()
