"""Making and reading files of memories for the tests of export and import."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from engine.bootstrap import Engine
from engine.domain.clock import FixedClock
from engine.use_cases.export_memories import ExportRequest
from engine.use_cases.import_memories import Imported, ImportRequest
from tests.engine.use_cases.shortcuts import CALLER, remember


def export(engine: Engine, path: Path, **options: object) -> list[str]:
    """Write an archive and return its lines."""
    engine.transfer.export(ExportRequest(path, **options))  # type: ignore[arg-type]
    return lines_of(path)


def lines_of(path: Path) -> list[str]:
    """The lines of an archive, unpacked."""
    return gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()


def bring_in(engine: Engine, path: Path, **options: object) -> Imported:
    """Import a file."""
    return engine.transfer.import_(ImportRequest(path, **options), CALLER)  # type: ignore[arg-type]


def counts(report: Imported) -> tuple[int, int, int, int, int]:
    """New, same, changed, deleted, bad."""
    return report.new, report.same, report.changed, report.deleted, report.bad


def json_lines(path: Path, *tables: object) -> Path:
    """A plain file of JSON lines."""
    lines = (json.dumps(table, ensure_ascii=False) for table in tables)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def fill(engine: Engine, clock: FixedClock) -> list[int]:
    """A store with a bit of everything."""
    ids = []
    for number in range(10):
        clock.advance(3601.123)
        ids.append(
            remember(
                engine,
                f"小雨在第{number}天去了灯塔，喝了{number}杯茶。",
                workspace="项目" if number % 3 else None,
                tags=["茶"],
                participants=["小雨"],
                topics=["灯塔计划"],
                key_facts=[f"小雨喜欢第{number}种茶", "小雨住在北京"],
                importance=number / 10,
            )
        )
    clock.advance(60)
    remember(engine, "I live in Lisbon")
    clock.advance(60)
    remember(engine, "I no longer live in Lisbon; I moved to Porto", pinned=True)
    remember(engine, "We chose SQLite", details={"what": "SQLite", "why": "one file"})
    return ids
