"""recall_pack: the answers of a recall within a token budget."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.errors import InvalidInput
from engine.domain.prompts import PromptForm
from engine.domain.scope import Filters
from engine.language.tokens import estimate_tokens
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.pack import PackRequest
from tests.engine.use_cases.shortcuts import CALLER, remember, remember_all, within

NOTES = [f"第{number}次预算会议，讨论了服务器费用和第{number}号合同" for number in range(40)]


def test_answers_stand_in_rank_order_within_the_budget(engine: Engine):
    remember_all(engine, NOTES)
    found = engine.pack(PackRequest("预算会议 服务器费用"))
    assert found.budget_tokens == 800
    assert 700 < found.used_tokens <= 800
    assert found.used_tokens == sum(estimate_tokens(line.text) for line in found.lines)
    assert found.truncated and found.left_out == 40 - len(found.lines)
    scores = [line.score for line in found.lines]
    assert scores == sorted(scores, reverse=True)
    assert all(f"[#{line.memories[0].id}]" in found.text for line in found.lines)


def test_everything_that_fits_is_shown_and_nothing_said_to_be_missing(engine: Engine):
    memory_id = remember(engine, "邮件桥接程序用 Proton，端口 1143")
    found = engine.pack(PackRequest("proton 桥接"))
    assert [line.memories[0].id for line in found.lines] == [memory_id]
    assert not found.truncated


def test_an_item_too_large_does_not_end_the_walk(engine: Engine):
    remember(engine, "水壶 " * 700)
    short = remember(engine, "水壶是红的")
    found = engine.pack(PackRequest("水壶", form=PromptForm(token_budget=100)))
    assert [line.memories[0].id for line in found.lines] == [short]
    assert found.left_out == 1


def test_compression_folds_what_did_not_fit(engine: Engine):
    remember_all(engine, NOTES)
    form = PromptForm("zh", 300)
    plain = engine.pack(PackRequest("预算会议", form=form))
    folded = engine.pack(PackRequest("预算会议", form=form, compress=True))
    assert [section.name for section in folded.sections] == ["memories", "compressed"]
    assert folded.used_tokens <= 300
    assert folded.left_out < plain.left_out or not folded.sections[1].lines


def test_unrelated_memories_are_marked_as_weak_or_not_there(engine: Engine):
    remember(engine, "周五烤面包的计划")
    for query in ("杂货店在哪条街", "ZXQ_无关_20260503"):
        found = engine.pack(PackRequest(query, form=PromptForm("zh")))
        assert all("弱匹配" in line.text for line in found.lines)


def test_filters_act_before_the_packing(engine: Engine):
    here = remember(engine, "水壶是红的", workspace="atlas")
    remember(engine, "水壶是蓝的", workspace="other")
    found = engine.pack(PackRequest("水壶", within("atlas", exact=True)))
    assert [line.memories[0].id for line in found.lines] == [here]


def test_what_a_later_memory_corrects_is_marked(engine: Engine):
    remember(engine, "用户喜欢喝乌龙茶")
    newer = remember(engine, "用户现在不再喜欢喝乌龙茶")
    lines = engine.pack(PackRequest("乌龙茶", form=PromptForm("zh"))).lines
    assert [f"较早，现见 #{newer}" in line.text for line in lines].count(True) == 1


def test_a_persona_gets_the_form_worded_for_it(engine: Engine):
    fields = {"text": "用户的水壶是红的", "persona_summary": "你的水壶是红的"}
    engine.memorize(MemorizeRequest(fields, persona_id="butler"), CALLER)
    assert "用户的水壶" in engine.pack(PackRequest("水壶")).text
    shown = engine.pack(PackRequest("水壶", Filters(persona_id="butler"))).text
    assert "你的水壶" in shown and "用户的水壶" not in shown


@pytest.mark.parametrize("budget", [0, 19, -5, 100_001])
def test_a_budget_out_of_range_is_refused(engine: Engine, budget):
    with pytest.raises(InvalidInput, match="out_of_range"):
        engine.pack(PackRequest("x", form=PromptForm(token_budget=budget)))


def test_a_blank_query_is_refused(engine: Engine):
    with pytest.raises(InvalidInput, match="empty_query"):
        engine.pack(PackRequest("  "))


def test_an_empty_store_gives_an_empty_text(engine: Engine):
    found = engine.pack(PackRequest("anything"))
    assert (found.text, found.lines, found.truncated) == ("", (), False)


def test_without_a_model_the_pack_says_so(keyword_engine: Engine):
    remember(keyword_engine, "水壶是红的")
    found = keyword_engine.pack(PackRequest("水壶"))
    assert found.lines and [reason.key for reason in found.degraded]
