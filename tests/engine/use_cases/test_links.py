"""Links, what takes the place of what, and what a search takes along."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import Conflict, InvalidInput, NotFound
from engine.retrieval.explanation import replay
from engine.storage import changes, journal, links
from engine.storage.journal import LINK
from engine.use_cases.links import NeighbourQuery
from tests.engine.use_cases.shortcuts import CALLER, HASHING, found, hits, remember, remember_all

LETTERS = ["甲 alpha", "乙 bravo", "丙 charlie", "丁 delta"]


def link_rows(engine: Engine) -> int:
    with engine.context.database.read() as connection:
        return links.count(connection)


def entries(engine: Engine, operation: str) -> list[tuple[int, int | None, dict[str, object]]]:
    with engine.context.database.read() as connection:
        rows = connection.execute(
            """SELECT subject_id, other_id, changes FROM journal
            WHERE subject_kind = ? AND operation = ? ORDER BY id""",
            (LINK, operation),
        ).fetchall()
    return [(row[0], row[1], row[2]) for row in rows]


def test_a_link_is_made_once_and_noted_once(engine: Engine) -> None:
    a, b = remember_all(engine, LETTERS[:2])
    assert engine.links.link(a, b, CALLER, relation="refines").relations == ("refines",)
    assert engine.links.link(a, b, CALLER, relation="refines").relations == ()
    assert engine.links.link(a, b, CALLER).relations == ("related",)
    assert [(source, target) for source, target, _ in entries(engine, "link")] == [(a, b), (a, b)]


@pytest.mark.parametrize("relation", ["friend", "", "SUPERSEDE D"])
def test_only_the_six_relations_are_taken(engine: Engine, relation: str) -> None:
    a, b = remember_all(engine, LETTERS[:2])
    with pytest.raises(InvalidInput):
        engine.links.link(a, b, CALLER, relation=relation)


def test_ends_must_be_two_memories_outside_the_trash(engine: Engine) -> None:
    a, b = remember_all(engine, LETTERS[:2])
    with pytest.raises(InvalidInput):
        engine.links.link(a, a, CALLER)
    with pytest.raises(NotFound):
        engine.links.link(a, 99, CALLER)
    engine.delete(b, CALLER)
    with pytest.raises(Conflict):
        engine.links.link(a, b, CALLER)
    assert link_rows(engine) == 0


def test_unlinking_without_a_relation_takes_all_back_as_one_group(engine: Engine) -> None:
    a, b = remember_all(engine, LETTERS[:2])
    for relation in ("refines", "related", "contradicts"):
        engine.links.link(a, b, CALLER, relation=relation)
    done = engine.links.unlink(a, b, CALLER)
    assert sorted(done.relations) == ["contradicts", "refines", "related"]
    assert link_rows(engine) == 0
    with engine.context.database.read() as connection:
        groups = connection.execute(
            "SELECT count(DISTINCT group_uid) FROM journal WHERE operation = 'unlink'"
        ).fetchone()[0]
    assert groups == 1
    assert engine.links.unlink(a, b, CALLER).relations == ()


def test_neighbours_go_outwards_and_show_every_link_once(engine: Engine) -> None:
    a, b, c, d = remember_all(engine, LETTERS)
    for source, target in ((a, b), (b, c), (c, a), (c, d)):
        engine.links.link(source, target, CALLER, relation="related")
    near = engine.links.neighbours(NeighbourQuery(a))
    assert {(row.memory.id, row.outwards) for row in near} == {(b, True), (c, False)}
    out = engine.links.neighbours(NeighbourQuery(a, direction="out", depth=3))
    assert [(row.memory.id, row.hop) for row in out] == [(b, 1), (c, 2), (a, 3), (d, 3)]
    far = engine.links.neighbours(NeighbourQuery(a, depth=5))
    assert len(far) == len({(row.link.source_id, row.link.target_id) for row in far}) == 4
    assert engine.links.neighbours(NeighbourQuery(a, relation="refines")) == []
    with pytest.raises(InvalidInput):
        engine.links.neighbours(NeighbourQuery(a, depth=6))
    with pytest.raises(InvalidInput):
        engine.links.neighbours(NeighbourQuery(a, direction="up"))


def test_the_graph_gives_shortest_distances(engine: Engine) -> None:
    a, b, c, d = remember_all(engine, LETTERS)
    for source, target in ((a, b), (b, c), (c, d), (a, d)):
        engine.links.link(source, target, CALLER)
    graph = engine.links.graph([a], depth=2)
    shown = dict(zip((m.id for m in graph.memories), graph.distances, strict=True))
    assert shown == {a: 0, b: 1, d: 1, c: 2}
    assert len(graph.links) == 4
    assert not graph.truncated


def test_links_of_the_trash_are_not_shown_and_come_back(engine: Engine) -> None:
    a, b = remember_all(engine, LETTERS[:2])
    engine.links.link(a, b, CALLER)
    engine.delete(b, CALLER)
    assert engine.links.neighbours(NeighbourQuery(a)) == []
    engine.restore(b, CALLER)
    assert [row.memory.id for row in engine.links.neighbours(NeighbourQuery(a))] == [b]


def test_superseding_hides_the_old_one_and_restoring_undoes_it(engine: Engine) -> None:
    old, new = remember_all(engine, ["办公室在三楼", "办公室在五楼"])
    done = engine.links.supersede(old, new, CALLER)
    assert (done.changed, done.old.superseded_by) == (True, new)
    assert old not in found(engine, "办公室在几楼", k=5)
    assert not engine.links.supersede(old, new, CALLER).changed
    assert [row.link.relation for row in engine.links.neighbours(NeighbourQuery(new))] == [
        "supersedes"
    ]
    restored = engine.restore(old, CALLER)
    assert (restored.was, restored.memory.superseded_by) == ("superseded", None)
    assert link_rows(engine) == 0
    assert old in found(engine, "办公室在几楼", k=5)


def test_nothing_supersedes_itself_over_a_circle(engine: Engine) -> None:
    a, b, c = remember_all(engine, LETTERS[:3])
    engine.links.supersede(a, b, CALLER)
    engine.links.supersede(b, c, CALLER)
    with pytest.raises(Conflict):
        engine.links.supersede(c, a, CALLER)
    with pytest.raises(Conflict):
        engine.links.link(a, c, CALLER, relation="supersedes")
    with pytest.raises(Conflict):
        engine.links.supersede(a, c, CALLER)
    with pytest.raises(InvalidInput):
        engine.links.supersede(c, c, CALLER)


def test_unlinking_what_supersedes_shows_the_old_one_again(engine: Engine) -> None:
    old, new = remember_all(engine, LETTERS[:2])
    engine.links.link(new, old, CALLER, relation="supersedes")
    assert engine.get(old).superseded_by == new
    engine.links.unlink(new, old, CALLER)
    assert engine.get(old).state(0.0) == "live"


def test_every_link_is_seen_by_other_processes(engine: Engine) -> None:
    a, b = remember_all(engine, LETTERS[:2])
    with engine.context.database.read() as connection:
        before = changes.last(connection)
    engine.links.link(a, b, CALLER)
    with engine.context.database.read() as connection:
        marked = changes.subjects_after(connection, before, changes.MEMORY)
    assert sorted(marked) == [a, b]
    assert journal.LINK == "link"


def test_what_refines_a_result_comes_along_after_the_cut(engine: Engine) -> None:
    main = remember(engine, "灯塔计划的数据库备份规则")
    rule = remember(engine, "磁带每晚送到城北仓库")
    other = remember(engine, "午饭吃了面条")
    engine.links.link(rule, main, CALLER, relation="refines")
    engine.links.link(other, main, CALLER, relation="related")
    answer = hits(engine, "灯塔计划 数据库 备份", k=1)
    assert [hit.memory.id for hit in answer] == [main, rule]
    along = answer[1]
    assert along.score == pytest.approx(0.70)
    assert along.expansion is not None
    assert (along.expansion.relation, along.expansion.hop) == ("refines", 1)
    assert along.expansion.source_id == main
    assert replay(along.explanation) == along.score


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"JIYI_EXPANSION__CAP": "0"}, []),
        ({"JIYI_EXPANSION__RELATIONS": "derived_from"}, []),
        ({"JIYI_EXPANSION__DEPTH": "2", "JIYI_EXPANSION__DECAY": "0.5"}, [0.70, 0.35]),
    ],
)
def test_relations_depth_and_cap_are_settings(
    home: Path, clock: FixedClock, settings: dict[str, str], expected: list[float]
) -> None:
    with open_engine(home, environ=HASHING | settings, clock=clock) as engine:
        ids = remember_all(engine, ["鲸鱼观察日志", "磁带在仓库", "钥匙在前台"])
        for source, target in ((ids[1], ids[0]), (ids[2], ids[1])):
            engine.links.link(source, target, CALLER, relation="refines")
        answer = hits(engine, "鲸鱼观察日志", k=1)
        assert [hit.score for hit in answer[1:]] == pytest.approx(expected)


def test_hidden_memories_do_not_come_along(engine: Engine, clock: FixedClock) -> None:
    main = remember(engine, "鲸鱼观察日志")
    gone, old, new = remember_all(engine, ["磁带在仓库", "钥匙在前台", "钥匙在后院"])
    for source in (gone, old):
        engine.links.link(source, main, CALLER, relation="refines")
    engine.delete(gone, CALLER)
    engine.links.supersede(old, new, CALLER)
    assert found(engine, "鲸鱼观察日志", k=1) == [main]


def test_competing_ones_keep_k_and_their_explanation(home: Path, clock: FixedClock) -> None:
    settings = HASHING | {"JIYI_EXPANSION__COMPETE": "true"}
    with open_engine(home, environ=settings, clock=clock) as engine:
        main = remember(engine, "鲸鱼观察日志 2026")
        rule = remember(engine, "磁带每晚送到城北仓库")
        remember_all(engine, [f"观察 {n}" for n in range(4)])
        engine.links.link(rule, main, CALLER, relation="refines")
        answer = hits(engine, "鲸鱼观察日志 2026", k=2)
        assert len(answer) == 2
        assert rule in [hit.memory.id for hit in answer]
        for hit in answer:
            assert replay(hit.explanation) == pytest.approx(hit.score, abs=1e-9)


def test_nearness_by_links_lifts_what_is_linked(home: Path, clock: FixedClock) -> None:
    settings = HASHING | {
        "JIYI_RECALL__PRESET": "hybrid-blend",
        "JIYI_RECALL__WEIGHTS__PROXIMITY": "0.5",
        "JIYI_EXPANSION__CAP": "0",
    }
    with open_engine(home, environ=settings, clock=clock) as engine:
        first, second, third = remember_all(
            engine, ["鲸鱼观察日志", "鲸鱼观察记录", "鲸鱼观察笔记"]
        )
        engine.links.link(third, first, CALLER)
        answer = hits(engine, "鲸鱼观察日志", k=3)
        values = {
            hit.memory.id: next(s.value for s in hit.signals if s.signal == "proximity")
            for hit in answer
        }
        assert values[third] > values[second]
        for hit in answer:
            assert replay(hit.explanation) == pytest.approx(hit.score, abs=1e-9)
