"""Recall: scopes, filters, order, explanation, and what happens without a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.domain.errors import InvalidInput
from engine.domain.scope import Filters, Scope
from engine.use_cases.recall import RecallRequest, RecallResult
from tests.engine.use_cases.shortcuts import (
    CALLER,
    HASHING,
    found,
    hits,
    remember,
    remember_all,
    within,
)

MODES = ("auto", "keyword", "semantic")


@pytest.mark.parametrize("mode", MODES)
def test_nothing_of_one_workspace_shows_in_another(engine: Engine, mode: str) -> None:
    theirs = remember(engine, "我下周参加高考", workspace="甲", tags=["考试"])
    remember(engine, "晚饭吃面条", workspace="乙")
    shared = remember(engine, "妈妈的考试在周三")
    query = "我下周参加高考要准备什么考试"
    assert theirs in found(engine, query, mode=mode, filters=within("甲"))
    assert theirs not in found(engine, query, mode=mode, filters=within("乙"))
    assert shared in found(engine, query, mode=mode, filters=within("乙"))
    assert shared not in found(engine, query, mode=mode, filters=within("乙", exact=True))
    mine = remember(engine, "我下周参加高考", workspace="乙")
    assert found(engine, query, k=1, mode=mode, filters=within("乙")) == [mine]
    assert set(found(engine, query, k=2, mode=mode)) == {theirs, mine}


def test_an_unknown_workspace_sees_what_is_global_alone(engine: Engine) -> None:
    remember(engine, "高考", workspace="甲")
    shared = remember(engine, "高考大纲")
    assert found(engine, "高考", filters=within("丙")) == [shared]
    assert found(engine, "高考", filters=within("丙", exact=True)) == []
    assert found(engine, "高考", filters=Filters(scope=Scope("domain", "丙"))) == [shared]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Fifty memories of a small workspace among more than five thousand of another, all of
    the same common words."""
    environ = HASHING | {"JIYI_CONFLICTS__ON_WRITE": "ignore"}
    with open_engine(tmp_path_factory.mktemp("crowd"), environ=environ) as opened:
        remember_all(opened, (f"今天的会议记录 note {n}" for n in range(5_200)), workspace="big")
        remember_all(opened, (f"今天的会议记录 note {n}" for n in range(50)), workspace="small")
        yield opened


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("k", [1, 5, 50, 100])
def test_a_filtered_question_for_k_gets_k_when_there_are_k(
    crowd: Engine, k: int, mode: str
) -> None:
    answer = hits(crowd, "今天的会议记录", k=k, mode=mode, filters=within("small"))
    assert len(answer) == min(k, 50)
    assert {hit.memory.workspace for hit in answer} == {"small"}


@pytest.mark.parametrize("mode", MODES)
def test_wide_filters_get_k_too(crowd: Engine, mode: str) -> None:
    assert len(found(crowd, "今天的会议记录", k=60, mode=mode, filters=within("big"))) == 60
    assert len(found(crowd, "今天的会议记录", k=100, mode=mode)) == 100


def test_common_words_find_their_own_number_in_a_crowd(crowd: Engine) -> None:
    best = hits(crowd, "会议记录 note 4711", k=1, filters=within("big"))[0]
    assert best.memory.text.endswith("note 4711")


@pytest.mark.parametrize("k", [0, -1, 101, 10**9])
def test_k_out_of_range_is_refused(engine: Engine, k: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        engine.recall(RecallRequest("文", k=k))
    assert caught.value.params["name"] == "k"


@pytest.mark.parametrize(
    "request_",
    [
        RecallRequest("文", mode="vectors"),
        RecallRequest("文", min_strength=1.5),
        RecallRequest("文", min_strength=float("nan")),
    ],
)
def test_a_bad_option_is_refused(engine: Engine, request_: RecallRequest) -> None:
    with pytest.raises(InvalidInput):
        engine.recall(request_)


def test_k_defaults_to_the_setting(engine: Engine) -> None:
    remember_all(engine, (f"同样的话 {number}" for number in range(20)))
    assert len(found(engine, "同样的话")) == 5


def test_an_empty_store_answers_with_nothing(engine: Engine) -> None:
    answer = engine.recall(RecallRequest("有人吗"))
    assert (answer.hits, answer.pool, answer.cut, answer.degraded) == ((), 0, 0, ())


def degraded(answer: RecallResult) -> list[tuple[str, str]]:
    return [(item.channel, item.reason.key) for item in answer.degraded]


def test_without_a_model_the_answer_says_keywords_only(keyword_engine: Engine) -> None:
    memory_id = remember(keyword_engine, "书房路由器")
    answer = keyword_engine.recall(RecallRequest("路由器"))
    assert [hit.memory.id for hit in answer.hits] == [memory_id]
    assert degraded(answer) == [("vector", "error.model_off")]
    assert answer.keywords_only
    asked_for = keyword_engine.recall(RecallRequest("路由器", mode="keyword"))
    assert not asked_for.keywords_only
    by_meaning = keyword_engine.recall(RecallRequest("路由器", mode="semantic"))
    assert by_meaning.hits == ()
    assert by_meaning.keywords_only


def test_with_a_model_nothing_is_said_to_be_missing(engine: Engine) -> None:
    remember(engine, "书房路由器")
    answer = engine.recall(RecallRequest("路由器"))
    assert degraded(answer) == []
    assert set(answer.stages_ms) >= {"embed", "analyse", "text", "vector", "score", "fetch"}


def test_signals_add_up_to_the_score(engine: Engine, clock: FixedClock) -> None:
    for number in range(30):
        remember(engine, f"会议 {number} 记录", importance=number / 30)
        clock.advance(86_400)
    for hit in hits(engine, "会议 7 记录", k=30):
        assert abs(hit.score - sum(signal.contribution for signal in hit.signals)) < 1e-9
        assert all(0.0 <= signal.value <= 1.0 for signal in hit.signals)
    ordered = [hit.score for hit in hits(engine, "会议 7 记录", k=30)]
    assert ordered == sorted(ordered, reverse=True)


def test_equal_matches_keep_one_order_newest_first(engine: Engine) -> None:
    ids = remember_all(engine, ["一模一样的话"] * 12)
    for mode in MODES:
        answers = {tuple(found(engine, "一模一样的话", k=12, mode=mode)) for _ in range(5)}
        assert answers == {tuple(ids[::-1])}


def test_an_exact_hit_is_strong_and_a_nonsense_query_is_weak(engine: Engine) -> None:
    remember_all(engine, ["邮件桥接程序用 Proton，端口 1143", "周五烤面包的计划", "牙医约在十二号"])
    exact = hits(engine, "proton 桥接", k=1)[0]
    assert not exact.weak
    assert set(exact.matched) == {"proton", "桥接"}
    nonsense = hits(engine, "ZXQ_无关_20260503")
    assert all(hit.weak for hit in nonsense)
    assert all(hit.strength < exact.strength / 2 for hit in nonsense)


def test_weak_matches_are_cut_when_asked_and_counted(engine: Engine) -> None:
    strong = remember(engine, "邮件桥接程序用 Proton，端口 1143")
    remember_all(engine, ["周五烤面包的计划", "牙医约在十二号", "毫不相干"])
    answer = engine.recall(RecallRequest("proton 桥接 端口", min_strength=0.5))
    assert [hit.memory.id for hit in answer.hits] == [strong]
    assert answer.cut == answer.pool - 1


@pytest.mark.parametrize("mode", MODES)
def test_states_that_hide_a_memory_hide_it_from_recall(engine: Engine, mode: str) -> None:
    ids = remember_all(engine, ["保险箱口令规则"] * 4)
    with engine.context.database.write() as connection:
        for memory_id, column in zip(
            ids, ("archived_at", "superseded_at", "expires_at"), strict=False
        ):
            connection.execute(f"UPDATE memory SET {column} = 1.0 WHERE id = ?", (memory_id,))
    archived, superseded, expired, live = ids

    def seen(**options: Any) -> set[int]:
        return set(found(engine, "保险箱口令规则", mode=mode, filters=Filters(**options)))

    assert seen() == {archived, live}
    assert seen(include_archived=False) == {live}
    assert seen(include_superseded=True) == {archived, live, superseded}
    assert seen(include_expired=True) == {archived, live, expired}
    states = {hit.memory.id: hit.state for hit in hits(engine, "保险箱口令规则", mode=mode)}
    assert states == {archived: "archived", live: "live"}


def test_an_old_exact_match_stays_first(engine: Engine, clock: FixedClock) -> None:
    old = remember(engine, "保险箱口令规则：生日倒写加门牌")
    clock.advance(242 * 86_400)
    remember_all(engine, (f"新的一天第 {number} 件事" for number in range(200)))
    assert found(engine, "保险箱口令规则", k=1) == [old]


def test_recall_changes_nothing(engine: Engine) -> None:
    remember_all(engine, ["一", "二", "三"])
    before = fingerprint(engine)
    for _ in range(20):
        found(engine, "一")
        engine.list()
        engine.get(1)
        engine.statistics()
    assert fingerprint(engine) == before


def fingerprint(engine: Engine) -> list[tuple[object, ...]]:
    with engine.context.database.read() as connection:
        rows = connection.execute("SELECT * FROM memory_strength").fetchall()
        changes = connection.execute("SELECT max(seq), count(*) FROM change").fetchall()
        version = connection.execute("PRAGMA data_version").fetchall()
    return [tuple(row) for row in (*rows, *changes, *version)]


def test_the_trash_is_not_recalled(engine: Engine) -> None:
    memory_id = remember(engine, "门禁码")
    engine.delete(memory_id, CALLER)
    for mode in MODES:
        assert found(engine, "门禁码", mode=mode) == []
        assert found(engine, "门禁码", mode=mode, filters=Filters(deleted_only=True)) == []
