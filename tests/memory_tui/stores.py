"""Stores to look at: the same ids, times and names in every run."""

from __future__ import annotations

from pathlib import Path

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.clock import FixedClock
from engine.use_cases.edit import EditRequest
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.use_cases.shortcuts import HASHING, remember

ENVIRON = HASHING | {"JIYI_TIMEZONE": "Asia/Shanghai", "JIYI_TUI__THEME": "dark"}
BIG = 100_000
ASSISTANT = Caller("mcp:assistant")

HOSTILE = (
    "[/]",
    "[/旧路径] [red]红[/]",
    "[0] 第一条",
    "[link=x]y",
    "ZLEXCOUNT z [b + 的返回",
    '数组 [1, "3"]',
    "\x1b]2;taken over\x07 after",
    "left \u202e right",
    "很长的一段没有空格的文字" * 400,
    "https://example.com/" + "a" * 3_000,
    "第一行\n\n\t缩进\r\n最后一行",
    "👍👍 𠮷野家 ①☆ 全角ＡＢＣ e\u0301",
)


def open_store(home: Path) -> Engine:
    """An empty store with a clock that stands still."""
    return open_engine(home, environ=ENVIRON, clock=FixedClock())


def fill(engine: Engine, name: str) -> None:
    """Put into an empty store what its name says."""
    {"empty": _nothing, "one": _one, "many": _many, "big": _big, "hostile": _hostile}[name](engine)
    pin_names(engine)


def _nothing(engine: Engine) -> None:
    del engine


def _one(engine: Engine) -> None:
    remember(
        engine,
        "小雨在灯塔计划里负责测试，周五之前要写完报告。",
        participants=["小雨"],
        topics=["灯塔计划"],
        tags=["工作"],
        importance=0.8,
    )


def _many(engine: Engine) -> None:
    clock = engine.context.clock
    assert isinstance(clock, FixedClock)
    for request in (*engine.samples.requests("zh"), *engine.samples.requests("en")):
        stored = engine.memorize(request, ASSISTANT)
        clock.advance(3_600)
    engine.edit(EditRequest(stored.memory.id, {"importance": 0.9, "tags": ["later"]}), ASSISTANT)
    engine.delete(3, ASSISTANT)


def _hostile(engine: Engine) -> None:
    requests = [
        MemorizeRequest({"text": text, "tags": ["[x]"], "participants": ["[/小明]"]})
        for text in HOSTILE
    ]
    engine.memorize_many(requests, ASSISTANT)


def _big(engine: Engine) -> None:
    """One memory, and copies of its row; they are listed but have no other layer."""
    remember(engine, "第 1 条：每天早上七点在河边跑步", tags=["跑步"])
    with engine.context.database.write() as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(memory)")]
        values = {
            "id": "n.value",
            "uid": "printf('%032x', n.value)",
            "text": "'第 ' || n.value || ' 条：每天早上七点在河边跑步'",
            "created_at": "memory.created_at + n.value",
        }
        chosen = ", ".join(values.get(name, f"memory.{name}") for name in names)
        connection.execute(
            "WITH RECURSIVE n(value) AS (SELECT 2 UNION ALL SELECT value + 1 FROM n "
            f"WHERE value < {BIG}) INSERT INTO memory({', '.join(names)}) "
            f"SELECT {chosen} FROM n, memory WHERE memory.id = 1"
        )
        strength = [row[1] for row in connection.execute("PRAGMA table_info(memory_strength)")]
        others = ", ".join(name for name in strength if name != "memory_id")
        connection.execute(
            f"INSERT INTO memory_strength(memory_id, {others}) SELECT memory.id, "
            f"{', '.join(f's.{name}' for name in strength if name != 'memory_id')} "
            "FROM memory, memory_strength s WHERE s.memory_id = 1 AND memory.id > 1"
        )


def pin_names(engine: Engine) -> None:
    """Random names become numbers, so that a picture of them is the same in every run."""
    with engine.context.database.write() as connection:
        connection.execute("UPDATE memory SET uid = printf('%032x', id)")
        connection.execute("UPDATE journal SET group_uid = printf('%032x', id)")
