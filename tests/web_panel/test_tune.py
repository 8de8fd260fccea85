"""Tuning and judgments, by their answers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from engine.bootstrap import Engine
from engine.domain.caller import Caller
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from tests.web_panel.visitor import Visitor

QUERY = "阳台上的花什么时候浇水"
KEY = "recall.weights.importance"
IN_FORCE = {"preset": "balanced", "values": {}}
HEAVY = {"preset": "balanced", "values": {KEY: 1.0}}


@pytest.fixture
def garden(engine: Engine) -> dict[str, int]:
    """A few memories about flowers, one of them important."""
    texts = {"water": ("阳台上的花每周三浇水", 0.1), "sun": ("阳台上的花需要太阳", 1.0)}
    return {
        name: engine.memorize(
            MemorizeRequest({"text": text, "importance": importance}), Caller("test")
        ).memory.id
        for name, (text, importance) in texts.items()
    }


def finished(visitor: Visitor) -> Any:
    """What the work that runs hands over."""
    for _ in range(300):
        for event in visitor.app.state.feed.after(0)[::-1]:
            told = json.loads(event.data)
            if event.name == "work" and told["state"] != "runs":
                return told
        time.sleep(0.02)
    raise AssertionError("the work did not end")


def ids(side):
    return [hit["id"] for hit in side["hits"]]


def test_the_page_is_whole_in_each_language(visitor: Visitor) -> None:
    for language in ("zh", "en"):
        visitor.post("/appearance", language=language)
        html = visitor.client.get("/tune").text
        assert "panel_tune." not in html
        assert "panel.channel." not in html
        for leak in ("<script>", "style=", "onclick", 'src="http'):
            assert leak not in html, leak


def test_a_moved_weight_ranks_anew_beside_what_is_in_force(
    visitor: Visitor, garden: dict[str, int]
) -> None:
    found = visitor.post("/tune/preview", query=QUERY, sets=[IN_FORCE, HEAVY]).json()
    left, right = found["sides"]
    assert (ids(left)[0], ids(right)[0]) == (garden["water"], garden["sun"])
    assert right["hits"][0]["before"] == 2
    total = sum(part["contribution"] for part in right["hits"][0]["parts"])
    assert total == pytest.approx(right["hits"][0]["score"])
    assert not visitor.post("/tune/preview", query=QUERY, sets=[IN_FORCE, HEAVY]).json()["fetched"]


def test_what_is_saved_is_what_was_shown_and_undo_brings_it_back(
    visitor: Visitor, engine: Engine, garden: dict[str, int]
) -> None:
    shown = visitor.post("/tune/preview", query=QUERY, sets=[IN_FORCE, HEAVY]).json()["sides"]
    seen = visitor.get("/tune/state").json()["seen"]
    assert visitor.post("/settings/save", values={KEY: 1.0}, seen=seen).status_code == 200
    state = visitor.get("/tune/state").json()
    assert state["values"] == {KEY: 1.0}
    answer = engine.recall(RecallRequest(QUERY))
    assert [hit.memory.id for hit in answer.hits] == ids(shown[1])
    visitor.post("/settings/undo", seen=state["seen"])
    assert visitor.get("/tune/state").json()["values"] == {}
    answer = engine.recall(RecallRequest(QUERY))
    assert [hit.memory.id for hit in answer.hits] == ids(shown[0])


def test_judgments_measure_both_sides_and_can_be_taken_back(
    visitor: Visitor, garden: dict[str, int]
) -> None:
    visitor.post("/judgments/judge", query=QUERY, relevant=[garden["sun"]])
    left, right = visitor.post("/tune/preview", query=QUERY, sets=[IN_FORCE, HEAVY]).json()["sides"]
    assert left["ndcg"] < right["ndcg"] == 1.0
    [judged] = visitor.get("/judgments").json()["queries"]
    assert judged["query"] == QUERY
    assert [one["relevant"] for one in judged["judged"]] == [True]
    assert visitor.post("/judgments/remove", query=QUERY).json() == {"removed": 1}
    assert visitor.get("/judgments").json() == {"queries": []}


def test_an_evaluation_covers_every_judged_question(
    visitor: Visitor, garden: dict[str, int]
) -> None:
    visitor.post("/judgments/judge", query=QUERY, relevant=[garden["sun"]])
    assert visitor.post("/tune/evaluate", sets=[IN_FORCE, HEAVY]).status_code == 202
    told = finished(visitor)
    before, after = told["result"]["means"]
    assert before["ndcg@10"] < after["ndcg@10"] == 1.0


def test_a_proposal_is_shown_and_not_applied(
    visitor: Visitor, engine: Engine, garden: dict[str, int]
) -> None:
    before = engine.context.live.version()
    for query in (QUERY, "花要太阳吗", "阳台", "花"):
        visitor.post("/judgments/judge", query=query, relevant=[garden["sun"]])
    visitor.post("/tune/propose")
    told = finished(visitor)
    assert told["state"] == "done"
    assert told["result"]["searched_count"] == told["result"]["held_out_count"] == 2
    assert engine.context.live.version() == before


def test_a_proposal_needs_more_than_one_question(visitor: Visitor, garden: dict[str, int]) -> None:
    visitor.post("/judgments/judge", query=QUERY, relevant=[garden["sun"]])
    visitor.post("/tune/propose")
    told = finished(visitor)
    assert told["state"] == "failed"
    assert "--" not in str(told["error"])


@pytest.mark.parametrize(
    "body",
    [
        {"query": " ", "sets": [IN_FORCE]},
        {"query": "x", "sets": []},
        {"query": "x", "sets": [IN_FORCE] * 9},
        {"query": "x", "sets": ["balanced"]},
        {"query": "x", "sets": [{"preset": "nothing"}]},
        {"query": "x", "sets": [{"preset": "balanced", "values": {KEY: "much"}}]},
        {"query": "x", "sets": [{"preset": "balanced", "values": {KEY: -1}}]},
        {"query": "x", "sets": [{"preset": "balanced", "values": {"chat.api_key": 1}}]},
        {"query": "x", "sets": [IN_FORCE], "shown": "all"},
    ],
)
def test_what_cannot_be_tried_is_refused_in_words(
    visitor: Visitor, body: dict[str, object]
) -> None:
    answer = visitor.post("/tune/preview", **body)
    assert answer.status_code == 422
    assert "panel" not in answer.json()["error"]


def test_nothing_but_zeros_leaves_nothing_to_rank_by(visitor: Visitor) -> None:
    names = ("relevance", "context", "time_match", "speaker", "importance", "recency")
    zeros = {f"recall.weights.{name}": 0 for name in names}
    tried = {"preset": "balanced", "values": zeros}
    answer = visitor.post("/tune/preview", query="x", sets=[tried])
    assert answer.status_code == 422


def test_refs_have_to_be_memories(visitor: Visitor) -> None:
    assert visitor.post("/judgments/judge", query="x", relevant="all").status_code == 422
    assert visitor.post("/judgments/judge", query="x", relevant=[True]).status_code == 422
    assert visitor.post("/judgments/judge", query="x", relevant=[999]).status_code == 404
