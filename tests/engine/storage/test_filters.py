"""Filters in SQL: each alone, several together, exactly and never by part of a word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.domain.errors import NotFound
from engine.domain.memory import FieldValue
from engine.domain.scope import Filters, Scope
from engine.storage import memories
from engine.storage.database import Connection, Database
from tests.engine.storage.writing_rows import add

NOW = 100.0


@pytest.fixture
def ids(database: Database) -> dict[str, int]:
    """Nine memories, by what is special about each."""
    with database.write() as connection:
        made = {
            "plain": add(connection, at=10.0),
            "tagged": add(connection, at=20.0, tags=["测试", "家"], topics=["工作"]),
            "longer": add(connection, at=30.0, tags=["测试环境"], participants=["小林"]),
            "work": add(connection, at=40.0, workspace="work", kind="decision", event_time=5.0),
            "home": add(connection, at=50.0, workspace="home", source="import", trust="external"),
            "session": add(connection, at=60.0, scope={"session_id": "s", "persona_id": "p"}),
            "pinned": add(connection, at=70.0, pinned=True, importance=0.9),
            "expired": add(connection, at=80.0, expires_at=NOW),
            "lasting": add(connection, at=90.0, expires_at=NOW + 0.001),
            "archived": add(connection, at=91.0),
            "superseded": add(connection, at=92.0),
            "deleted": add(connection, at=93.0, tags=["测试"]),
        }
        connection.execute("UPDATE workspace SET domain = 'work' WHERE name = 'work'")
        set_state(connection, made["archived"], {"archived_at": 95.0})
        set_state(connection, made["superseded"], {"superseded_at": 95.0})
        set_state(connection, made["deleted"], {"deleted_at": 95.0})
    return made


def set_state(connection: Connection, memory_id: int, values: dict[str, FieldValue]) -> None:
    memories.update(connection, memory_id, values)


ALIVE = {
    "plain", "tagged", "longer", "work", "home", "session", "pinned", "lasting", "archived",
}  # fmt: skip
CASES: list[tuple[Filters, set[str]]] = [
    (Filters(), ALIVE),
    (Filters(include_archived=False), ALIVE - {"archived"}),
    (Filters(include_expired=True), ALIVE | {"expired"}),
    (Filters(include_superseded=True), ALIVE | {"superseded"}),
    (Filters(deleted_only=True), {"deleted"}),
    (Filters(deleted_only=True, tags_all=("测试",)), {"deleted"}),
    (Filters(deleted_only=True, tags_all=("家",)), set()),
    (Filters(kinds=("decision",)), {"work"}),
    (Filters(kinds=("decision", "semantic")), ALIVE),
    (Filters(kinds=("directive",)), set()),
    (Filters(tags_all=("测试",)), {"tagged"}),
    (Filters(tags_all=("测",)), set()),
    (Filters(tags_all=("测%",)), set()),
    (Filters(tags_all=("测试", "家")), {"tagged"}),
    (Filters(tags_all=("测试", "测试环境")), set()),
    (Filters(tags_any=("测试", "测试环境")), {"tagged", "longer"}),
    (Filters(tags_any=("工作",)), set()),
    (Filters(topics=("工作",)), {"tagged"}),
    (Filters(participants=("小林", "小王")), {"longer"}),
    (Filters(sources=("import",)), {"home"}),
    (Filters(trusts=("external", "user")), {"home"}),
    (Filters(session_id="s"), {"session"}),
    (Filters(session_id=""), set()),
    (Filters(persona_id="p"), {"session"}),
    (Filters(min_importance=0.9), {"pinned"}),
    (Filters(pinned=True), {"pinned"}),
    (Filters(pinned=False), ALIVE - {"pinned"}),
    (Filters(since=70.0, until=90.0), {"pinned", "lasting"}),
    (Filters(since=5.0, until=5.0, time_field="event_time"), {"work"}),
    (Filters(scope=Scope("workspace", "work")), ALIVE - {"home"}),
    (Filters(scope=Scope("workspace", "work", exact=True)), {"work"}),
    (Filters(scope=Scope("workspace")), ALIVE - {"home", "work"}),
    (Filters(scope=Scope("workspace", "nowhere")), ALIVE - {"home", "work"}),
    (Filters(scope=Scope("workspace", "nowhere", exact=True)), set()),
    (Filters(scope=Scope("domain", "home")), ALIVE - {"work"}),
    (Filters(scope=Scope("domain", "work")), ALIVE - {"home"}),
    (Filters(scope=Scope("domain", "work", exact=True)), {"work"}),
    (
        Filters(
            scope=Scope("workspace", "home", exact=True), kinds=("semantic",),
            sources=("import",), trusts=("external",), since=50.0, until=50.0,
            min_importance=0.5, pinned=False, include_archived=False,
        ),
        {"home"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("filters", "expected"), CASES)
def test_a_filter_lets_through_what_it_says(
    database: Database, ids: dict[str, int], filters: Filters, expected: set[str]
) -> None:
    wanted = {ids[name] for name in expected}
    with database.read() as connection:
        assert set(memories.ids_within(connection, filters, NOW, 100)) == wanted
        assert set(memories.rank_rows(connection, ids.values(), filters, NOW)) == wanted
        page = memories.page(connection, filters, NOW, 100, None)
    assert {memory.id for memory in page.memories} == wanted
    assert page.total == len(wanted)


def test_a_label_is_looked_up_in_its_own_field(database: Database, ids: dict[str, int]) -> None:
    with database.read() as connection:
        for name in ("tags_all", "tags_any", "topics", "participants"):
            values: dict[str, Any] = {name: ("' OR 1=1 --",)}
            filters = replace(Filters(), **values)
            assert memories.ids_within(connection, filters, NOW, 100) == []


def test_half_an_emoji_in_a_filter_finds_nothing_and_stops_nothing(
    database: Database, ids: dict[str, int]
) -> None:
    half = "\ud83d"
    for filters in (
        Filters(tags_all=(half,)),
        Filters(sources=(half,)),
        Filters(session_id=half),
        Filters(scope=Scope("workspace", half, exact=True)),
    ):
        with database.read() as connection:
            assert memories.ids_within(connection, filters, NOW, 100) == []


def test_pages_neither_repeat_nor_skip_while_others_write(database: Database) -> None:
    with database.write() as connection:
        first = [add(connection, at=float(number // 3)) for number in range(25)]
    seen: list[int] = []
    cursor = None
    while True:
        with database.read() as connection:
            page = memories.page(connection, Filters(), NOW, 4, cursor)
        seen += [memory.id for memory in page.memories]
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
        with database.write() as connection:
            add(connection, at=50.0)
            set_state(connection, page.memories[-1].id, {"deleted_at": 60.0})
    assert seen == first[::-1]


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "-",
        "1.0",
        "nan-1",
        "inf-1",
        "1.0-",
        "1.0-x",
        f"1.0-{10**30}",
        "1e999-1",
        "\ud83d-1",
    ],
)
def test_a_cursor_that_is_not_ours_is_refused(database: Database, cursor: str) -> None:
    with pytest.raises(NotFound) as caught, database.read() as connection:
        memories.page(connection, Filters(), NOW, 4, cursor)
    assert caught.value.key == "error.bad_cursor"
