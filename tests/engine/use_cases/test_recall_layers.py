"""All layers together: what is current comes first, and without one of them answers still come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from engine.retrieval.explanation import replay
from engine.use_cases.recall import RecallRequest
from tests.engine.use_cases.shortcuts import HASHING, KEYWORDS, hits, remember, remember_all

DAY_S = 86_400.0


def stored(engine: Engine, clock: FixedClock, texts: list[str]) -> list[int]:
    ids = []
    for text in texts:
        ids.append(remember(engine, text))
        clock.advance(DAY_S)
    return ids


def test_of_old_and_new_preferences_the_current_one_is_first(
    keyword_engine: Engine, clock: FixedClock
) -> None:
    cola, coffee, again = stored(
        keyword_engine, clock, ["我爱喝可乐", "现在改喝咖啡了", "又改回可乐了"]
    )
    answer = hits(keyword_engine, "我现在爱喝什么", k=5)
    order = [hit.memory.id for hit in answer]
    assert order[0] in (again, cola)
    marked = {hit.memory.id: hit.newer for hit in answer}
    if order[0] == cola:
        assert marked[cola] is None
    assert coffee not in order or marked[coffee] is not None


def test_a_reversed_stance_marks_the_former_one(keyword_engine: Engine, clock: FixedClock) -> None:
    liked, hated = stored(keyword_engine, clock, ["我喜欢川菜", "我讨厌川菜"])
    answer = hits(keyword_engine, "我喜欢川菜吗", k=5)
    assert [hit.memory.id for hit in answer] == [hated, liked]
    assert [hit.newer for hit in answer] == [None, hated]


@pytest.mark.parametrize(
    ("switched_off", "missing"),
    [
        ({"JIYI_GRAPH__ENABLED": "false"}, "graph_text"),
        ({"JIYI_ATOMS__ENABLED": "false"}, "atom"),
        ({"JIYI_EMBEDDING__PROVIDER": "none"}, "vector"),
        ({"JIYI_TEXT__ENABLED": "false"}, "text"),
    ],
)
def test_without_one_of_the_layers_answers_still_come(
    home: Path, switched_off: dict[str, str], missing: str
) -> None:
    with open_engine(home, environ=HASHING) as engine:
        wanted = remember(engine, "阿丽是小明的表妹", participants=["阿丽", "小明"])
        remember_all(engine, [f"第{n}次散步走了很远" for n in range(20)])
    with open_engine(home, environ=HASHING | switched_off) as engine:
        answer = engine.recall(RecallRequest("小明的表妹是谁"))
        assert answer.hits[0].memory.id == wanted
        assert missing not in answer.hits[0].explanation.ranks


def test_what_is_switched_off_is_said(home: Path) -> None:
    environ = HASHING | {"JIYI_GRAPH__ENABLED": "false", "JIYI_ATOMS__ENABLED": "false"}
    with open_engine(home, environ=environ) as engine:
        remember(engine, "阿丽是小明的表妹")
        assert engine.recall(RecallRequest("表妹")).switched_off == ("atom", "graph_text")


def test_the_same_question_is_answered_from_before_until_something_is_written(
    engine: Engine, home: Path
) -> None:
    remember(engine, "阿丽是小明的表妹")
    first = engine.recall(RecallRequest("小明的表妹"))
    again = engine.recall(RecallRequest("小明的表妹"))
    assert (first.cached, again.cached) == (False, True)
    assert again.hits == first.hits
    with open_engine(home, environ=HASHING) as other:
        remember(other, "小红也是小明的表妹")
    fresh = engine.recall(RecallRequest("小明的表妹"))
    assert not fresh.cached
    assert len(fresh.hits) == 2


def test_an_answer_is_not_kept_beyond_a_deadline(engine: Engine, clock: FixedClock) -> None:
    remember(engine, "今天的临时密码是八八六", expires_at=clock.now() + 10)
    assert engine.recall(RecallRequest("临时密码")).hits
    clock.advance(11)
    assert not engine.recall(RecallRequest("临时密码")).hits


def test_a_model_that_is_down_is_said_in_the_answer(home: Path) -> None:
    with open_engine(home, environ=KEYWORDS) as engine:
        remember(engine, "保险箱口令规则：生日倒写")
        answer = engine.recall(RecallRequest("保险箱口令规则"))
        assert [item.channel for item in answer.degraded] == ["vector"]
        assert answer.keywords_only


def test_every_explanation_adds_up_to_its_score(engine: Engine) -> None:
    for n in range(30):
        remember(engine, f"小明第{n}次去图书馆还书", participants=["小明"], importance=n / 40)
    for preset in ("balanced", "dual-route", "hybrid-blend", "composite"):
        answer = engine.recall(RecallRequest("小明去图书馆", k=10, preset=preset))
        assert answer.hits
        for hit in answer.hits:
            assert replay(hit.explanation) == pytest.approx(hit.score, abs=1e-9)


def test_an_exact_hit_and_a_nonsense_query_differ_in_strength(engine: Engine) -> None:
    remember_all(engine, ["邮件桥接程序用 Proton，端口 1143", *(f"第{n}次散步" for n in range(49))])
    exact = engine.recall(RecallRequest("proton 桥接")).hits
    nonsense = engine.recall(RecallRequest("ZXQ_无关_20260503")).hits
    assert exact[0].memory.id == 1 and not exact[0].weak
    assert all(hit.weak for hit in nonsense)
    assert exact[0].strength > max((hit.strength for hit in nonsense), default=0.0) + 0.3


def test_a_reranker_decides_the_order_and_a_bad_one_costs_nothing(engine: Engine) -> None:
    remember_all(engine, [f"小明第{n}次去图书馆" for n in range(5)])
    plain = [hit.memory.id for hit in hits(engine, "小明去图书馆")]

    def last_first(query: str, texts: Sequence[str]) -> list[float]:
        return [float(place) for place in range(len(texts))]

    turned = engine.recall(RecallRequest("小明去图书馆", reranker=last_first))
    assert [hit.memory.id for hit in turned.hits] == plain[::-1]
    assert turned.hits[0].explanation.choice is not None
    assert turned.hits[0].explanation.choice.reranked
    short = engine.recall(RecallRequest("小明去图书馆", reranker=lambda query, texts: [1.0]))
    assert [hit.memory.id for hit in short.hits] == plain
    assert [item.channel for item in short.degraded] == ["rerank"]


def test_what_is_cut_by_a_floor_is_counted(engine: Engine) -> None:
    remember(engine, "周五烤面包的计划")
    answer = engine.recall(RecallRequest("杂货店在哪条街", min_strength=0.5))
    assert (answer.hits, answer.cut) == ((), 1)
