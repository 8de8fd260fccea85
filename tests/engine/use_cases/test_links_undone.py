"""Links, superseding and merging are taken back in one step, and done again."""

from __future__ import annotations

from engine.bootstrap import Engine
from engine.domain.clock import FixedClock
from engine.domain.memory import Memory
from engine.domain.scope import Filters
from engine.storage import links
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.use_cases.shortcuts import CALLER, found, remember, remember_all

TEXT = "打印机在三楼走廊尽头"
Picture = dict[int, tuple[object, ...]]


def picture(engine: Engine, ids: list[int]) -> tuple[Picture, list[tuple[int, int, str]]]:
    """What people see of memories, and all links."""
    with engine.context.database.read() as connection:
        rows = [
            (link.source_id, link.target_id, link.relation)
            for memory_id in ids
            for link in links.of_memory(connection, memory_id)
        ]
    return {memory_id: _seen(engine.get(memory_id)) for memory_id in ids}, sorted(set(rows))


def _seen(memory: Memory) -> tuple[object, ...]:
    return (
        memory.tags,
        memory.key_facts,
        memory.created_at,
        memory.event_time,
        memory.superseded_by,
        memory.superseded_at,
        memory.deleted_at,
    )


def test_a_write_that_superseded_is_one_step(engine: Engine) -> None:
    old = remember(engine, "例会每周三上午十点开", kind="semantic")
    before = picture(engine, [old])
    fields = {"text": "例会每周四上午十点开", "kind": "semantic"}
    engine.memorize(MemorizeRequest(fields, on_conflict="supersede"), CALLER)
    engine.journal.undo(CALLER)
    assert picture(engine, [old]) == before
    assert old in found(engine, "例会每周几开", k=5)
    engine.journal.redo(CALLER)
    assert engine.get(old).superseded_by is not None


def test_unlinking_all_comes_back_at_once(engine: Engine) -> None:
    a, b = remember_all(engine, ["甲 alpha", "乙 bravo"])
    for relation in ("refines", "related", "supersedes"):
        engine.links.link(a, b, CALLER, relation=relation)
    before = picture(engine, [a, b])
    engine.links.unlink(a, b, CALLER)
    assert picture(engine, [a, b])[1] == []
    engine.journal.undo(CALLER)
    assert picture(engine, [a, b]) == before


def test_a_restore_of_a_superseded_memory_can_be_undone(engine: Engine) -> None:
    a, b = remember_all(engine, ["甲 alpha", "乙 bravo"])
    engine.links.supersede(a, b, CALLER)
    before = picture(engine, [a, b])
    engine.restore(a, CALLER)
    engine.journal.undo(CALLER)
    assert picture(engine, [a, b]) == before


def test_merging_is_undone_and_done_again(engine: Engine, clock: FixedClock) -> None:
    first = remember(engine, TEXT, tags=["办公室"], key_facts=["三楼有打印机"])
    clock.advance(86_400)
    second = remember(engine, TEXT, pinned=True, tags=["打印"])
    other = remember(engine, "墨盒在柜子里")
    old = remember(engine, "打印机在二楼")
    engine.links.link(first, other, CALLER, relation="related")
    engine.links.supersede(old, first, CALLER)
    ids = [first, second, other, old]
    before = picture(engine, ids)
    clock.advance(60)
    engine.links.consolidate(Filters(), CALLER, apply=True)
    merged = picture(engine, ids)
    assert merged != before
    engine.journal.undo(CALLER)
    assert picture(engine, ids) == before
    assert {first, second} <= set(found(engine, "打印机在哪里", k=5))
    clock.advance(60)
    engine.journal.redo(CALLER)
    again = picture(engine, ids)
    assert again[1] == merged[1]
    assert engine.get(first).deleted_at is not None
