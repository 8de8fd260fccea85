"""Workspaces: counted, renamed, moved, copied with everything, deleted as one group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, InvalidInput, JiyiError, NotFound
from engine.domain.fact import FactQuery, FactRequest
from engine.domain.memory import Memory
from engine.domain.scope import Filters, Scope
from engine.storage import memories
from engine.use_cases.undo import UndoRequest
from tests.engine.storage.agreement import disagreements
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, remember, within


def quietly(done: int, total: int) -> None:
    """Progress that nobody looks at."""


def inside(engine: Engine, workspace: str) -> list[Memory]:
    """Everything outside the trash, oldest first."""
    place = Scope("workspace", workspace, exact=True)
    filters = Filters(scope=place, include_expired=True, include_superseded=True)
    return list(reversed(engine.list(filters, limit=1000).memories))


def vectors(engine: Engine, memory_id: int) -> list[tuple[object, ...]]:
    """The pieces of a memory as stored."""
    with engine.context.database.read() as connection:
        rows = connection.execute(
            """SELECT space_id, start_offset, end_offset, content_hash, vector FROM piece
            WHERE owner_kind = 'memory' AND owner_id = ? ORDER BY id""",
            (memory_id,),
        )
        return [tuple(row) for row in rows]


def test_workspaces_are_listed_with_what_they_hold(engine: Engine) -> None:
    remember(engine, "一", "甲")
    gone = remember(engine, "二", "甲")
    remember(engine, "三", "乙")
    engine.delete(gone, CALLER)
    listed = [(w.name, w.domain, w.memories, w.in_trash) for w in engine.workspaces()]
    assert sorted(listed) == [("乙", "personal", 1, 0), ("甲", "personal", 1, 1)]
    assert engine.workspace("乙").newest_at == engine.context.clock.now()


def test_a_new_workspace_is_empty_and_in_its_domain(engine: Engine) -> None:
    made = engine.create_workspace(" 项目  一 ", CALLER, domain="Work")
    assert (made.name, made.domain, made.memories) == ("项目 一", "work", 0)
    assert engine.create_workspace("二", CALLER).domain == "personal"


@pytest.mark.parametrize(
    ("act", "error", "key"),
    [
        (lambda e: e.create_workspace("甲", CALLER), Conflict, "error.workspace_exists"),
        (lambda e: e.create_workspace("global", CALLER), Conflict, "error.workspace_exists"),
        (lambda e: e.create_workspace(" ", CALLER), InvalidInput, "error.bad_workspace"),
        (
            lambda e: e.create_workspace("丙", CALLER, domain="d" * 41),
            InvalidInput,
            "error.bad_domain",
        ),
        (lambda e: e.rename_workspace("甲", "乙", CALLER), Conflict, "error.workspace_exists"),
        (lambda e: e.rename_workspace("甲", "global", CALLER), Conflict, "error.workspace_exists"),
        (lambda e: e.rename_workspace("丙丙", "丁", CALLER), NotFound, "error.no_such_workspace"),
        (
            lambda e: e.rename_workspace("global", "丁", CALLER),
            InvalidInput,
            "error.global_workspace",
        ),
        (lambda e: e.move_workspace("甲", " ", CALLER), InvalidInput, "error.bad_domain"),
        (
            lambda e: e.delete_workspace("global", CALLER, quietly),
            InvalidInput,
            "error.global_workspace",
        ),
        (
            lambda e: e.copy_workspace("甲", "乙", CALLER, quietly),
            Conflict,
            "error.workspace_exists",
        ),
    ],
)
def test_a_bad_wish_changes_nothing(
    engine: Engine, act: Callable[[Engine], object], error: type[JiyiError], key: str
) -> None:
    remember(engine, "一", "甲")
    remember(engine, "二", "乙")
    before = engine.workspaces()
    with pytest.raises(error) as caught:
        act(engine)
    assert caught.value.key == key
    assert engine.workspaces() == before


def test_an_unknown_name_gets_the_nearest_one(engine: Engine) -> None:
    remember(engine, "a", "webshop")
    with pytest.raises(NotFound) as caught:
        engine.workspace("webshopp")
    assert caught.value.params["nearest"] == "webshop"


def test_renaming_keeps_memories_and_kept_answers_show_the_new_name(engine: Engine) -> None:
    memory_id = remember(engine, "咖啡机在厨房", "甲")
    assert found(engine, "咖啡机", filters=within("甲")) == [memory_id]
    engine.rename_workspace("甲", "新", CALLER)
    assert engine.get(memory_id).workspace == "新"
    assert found(engine, "咖啡机", filters=within("新")) == [memory_id]
    assert found(engine, "咖啡机", filters=within("甲")) == []


def test_moving_to_a_domain_widens_what_that_domain_finds(engine: Engine) -> None:
    memory_id = remember(engine, "咖啡机在厨房", "甲")
    remember(engine, "别的", "乙")
    engine.move_workspace("乙", "work", CALLER)
    domain = Filters(scope=Scope("domain", "乙"))
    assert memory_id not in found(engine, "咖啡机", filters=domain)
    assert engine.move_workspace("甲", "work", CALLER).domain == "work"
    assert memory_id in found(engine, "咖啡机", filters=domain)


def test_a_copy_has_new_uids_and_all_else_as_it_was(engine: Engine, clock: FixedClock) -> None:
    first = remember(engine, "小明住在杭州", "甲", tags=["家"], pinned=True, importance=0.7)
    clock.advance(3600)
    second = remember(engine, "咖啡机在厨房", "甲", topics=["咖啡"])
    clock.advance(3600)
    done = engine.copy_workspace("甲", "副本", CALLER, quietly)
    assert (done.count, done.workspace.name, done.workspace.domain) == (2, "副本", "personal")
    for original_id, copy in zip((first, second), inside(engine, "副本"), strict=True):
        original = engine.get(original_id)
        assert copy.uid != original.uid
        for name in ("text", "kind", "tags", "topics", "pinned", "importance", "created_at"):
            assert getattr(copy, name) == getattr(original, name)
        assert vectors(engine, copy.id) == vectors(engine, original.id) != []
    assert len(inside(engine, "甲")) == 2


def test_a_copy_is_found_by_words_meaning_and_graph(engine: Engine, home: Path) -> None:
    remember(engine, "阿丽在厨房修咖啡机", "甲", participants=["阿丽"])
    engine.copy_workspace("甲", "副本", CALLER, quietly)
    [copy] = inside(engine, "副本")
    for mode in ("keyword", "semantic", "graph"):
        assert copy.id in found(engine, "阿丽 咖啡机", mode=mode, filters=within("副本")), mode
    assert disagreements(home / "jiyi.db") == []


def test_what_superseded_what_is_copied_among_the_copies(engine: Engine) -> None:
    old = remember(engine, "旧", "甲")
    new = remember(engine, "新", "甲")
    with engine.context.database.write() as connection:
        memories.update(connection, old, {"superseded_by": new, "superseded_at": 5.0})
    engine.copy_workspace("甲", "副本", CALLER, quietly)
    copied_old, copied_new = inside(engine, "副本")
    assert (copied_old.superseded_by, copied_old.superseded_at) == (copied_new.id, 5.0)
    assert engine.get(old).superseded_by == new


def test_waiting_memories_wait_in_the_copy_too(keyword_engine: Engine) -> None:
    remember(keyword_engine, "一", "甲")
    keyword_engine.copy_workspace("甲", "副本", CALLER, quietly)
    with keyword_engine.context.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM pending_embedding").fetchone()[0] == 2


def test_the_trash_is_not_copied(engine: Engine) -> None:
    remember(engine, "留", "甲")
    engine.delete(remember(engine, "去", "甲"), CALLER)
    assert engine.copy_workspace("甲", "副本", CALLER, quietly).count == 1


def known(engine: Engine, workspace: str) -> list[tuple[str, int | None]]:
    """What the facts of a workspace say, and the memories that they come from."""
    query = FactQuery("Ana", scope=Scope("workspace", workspace, exact=True))
    return [(fact.object, fact.memory_id) for fact in engine.facts.timeline(query)]


def test_facts_are_copied_and_deleted_with_their_workspace(keyword_engine: Engine) -> None:
    engine = keyword_engine
    told = remember(engine, "Ana moved to Bergen", "甲")
    for place, memory_id, since in (("Oslo", None, 1.0), ("Bergen", told, 9.0)):
        fact = FactRequest("Ana", "lives in", place, since, memory=memory_id, workspace="甲")
        engine.facts.add(fact, CALLER)
    before = known(engine, "甲")
    assert before == [("Oslo", None), ("Bergen", told)]
    copy = engine.copy_workspace("甲", "副本", CALLER, quietly)
    (twin,) = inside(engine, "副本")
    assert known(engine, "副本") == [("Oslo", None), ("Bergen", twin.id)]
    gone = engine.delete_workspace("甲", CALLER, quietly)
    assert known(engine, "甲") == [] and len(known(engine, "副本")) == 2
    engine.journal.undo(CALLER, UndoRequest(group=gone.group_uid))
    assert known(engine, "甲") == before
    engine.journal.undo(CALLER, UndoRequest(group=copy.group_uid))
    assert known(engine, "副本") == [] and known(engine, "甲") == before


def test_deleting_moves_all_to_the_trash_as_one_group(engine: Engine, home: Path) -> None:
    doomed = [remember(engine, f"记忆 {number}", "甲") for number in range(230)]
    kept = remember(engine, "别的", "乙")
    seen: list[tuple[int, int]] = []
    done = engine.delete_workspace("甲", CALLER, lambda step, total: seen.append((step, total)))
    assert (done.count, done.workspace.memories, done.workspace.in_trash) == (230, 0, 230)
    assert {engine.history(memory_id)[-1].group_uid for memory_id in doomed} == {done.group_uid}
    assert seen[-1] == (230, 230)
    assert [memory.id for memory in engine.list().memories] == [kept]
    assert disagreements(home / "jiyi.db") == []
    engine.restore(doomed[0], CALLER)
    assert engine.get(doomed[0]).workspace == "甲"


def test_another_process_sees_a_new_name_at_once(home: Path) -> None:
    with open_engine(home, environ=HASHING) as one, open_engine(home, environ=HASHING) as two:
        memory_id = remember(one, "咖啡机在厨房", "甲")
        assert found(two, "咖啡机", filters=within("甲")) == [memory_id]
        one.rename_workspace("甲", "新", CALLER)
        assert found(two, "咖啡机", filters=within("甲")) == []
        assert found(two, "咖啡机", filters=within("新")) == [memory_id]
