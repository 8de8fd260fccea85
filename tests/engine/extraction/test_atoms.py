"""Types and deadlines of facts."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from engine.domain.errors import ConfigInvalid
from engine.extraction.atoms import Reading, classify
from engine.extraction.facts import MAX_FACTS, facts_of, sentences
from engine.extraction.rules import load_rules
from tests.engine.extraction.atom_lines import OWN_LINES, judged, share_right

NOW = datetime.fromisoformat("2026-03-18T10:00:00+08:00")
READING = Reading(NOW.timestamp(), NOW.tzinfo)


def type_of(text: str) -> str:
    return classify(text, READING, load_rules()).type


def test_most_labelled_lines_are_right():
    found = judged(OWN_LINES)
    wrong = [(item.text, item.wanted, item.got, item.rule) for item in found if not item.is_right]
    assert len(found) >= 100
    assert share_right(found) >= 0.95, wrong


@pytest.mark.parametrize("text", ["昨天开了会", "met Bob last Friday", "上周五打算去爬山"])
def test_what_is_past_is_never_a_plan(text):
    assert type_of(text) == "episodic"


def test_a_negated_liking_is_a_preference_with_the_opposite_stance():
    liked = classify("喜欢爬山", READING, load_rules())
    no_longer = classify("不再喜欢爬山", READING, load_rules())
    assert liked.type == no_longer.type == "preference"
    assert liked.polarity == 1
    assert no_longer.polarity == -1


def test_overlapping_words_of_time_take_the_longest():
    fact = classify("大后天交房租", READING, load_rules())
    assert fact.deadline is not None
    assert datetime.fromtimestamp(fact.deadline, NOW.tzinfo).date().isoformat() == "2026-03-21"


def test_a_span_of_days_is_due_at_its_end_and_a_limit_before_other_times():
    table = load_rules()
    span = classify("4月3日到4月6日去黄山", READING, table)
    limit = classify("周五之前把四月的排班表做好", READING, table)
    days = [
        datetime.fromtimestamp(fact.deadline or 0, NOW.tzinfo).date().isoformat()
        for fact in (span, limit)
    ]
    assert days == ["2026-04-06", "2026-03-20"]


@pytest.mark.parametrize("text", ["", "   ", "……", "\N{REPLACEMENT CHARACTER}", "a" * 5000])
def test_any_text_has_a_type(text):
    assert type_of(text) == "unknown"


def test_named_facts_are_taken_as_they_are_and_sentences_only_without_them():
    text = "你好！我喜欢喝茶。你呢？明天下午去看牙医。"
    taken = facts_of(text, (), READING, load_rules())
    assert [fact.text for fact in taken] == ["我喜欢喝茶。", "明天下午去看牙医。"]
    named = facts_of(text, ("爱茶",), READING, load_rules())
    assert [fact.text for fact in named] == ["爱茶"]


def test_a_long_text_gives_a_bounded_number_of_facts():
    text = "\n".join(f"第{number}号服务器的内存是{number}GB。" for number in range(100))
    assert len(facts_of(text, (), READING, load_rules())) == MAX_FACTS


def test_sentences_end_where_people_end_them():
    text = "Dr. Novak is our doctor. He works at St. Mary's! 版本是3.5。“好的。”然后走了\n- 列表项"
    assert list(sentences(text)) == [
        "Dr. Novak is our doctor.",
        "He works at St. Mary's!",
        "版本是3.5。",
        "“好的。”",
        "然后走了",
        "列表项",
    ]


def test_a_users_rule_comes_first_and_a_broken_table_is_reported(tmp_path):
    rule = '[[rule]]\nname = "mine"\ntype = "factual"\nconfidence = 0.8\npattern = "值班"\n'
    (tmp_path / "own.toml").write_text(rule, encoding="utf-8")
    (tmp_path / "broken.toml").write_text(rule.replace("值班", "("), encoding="utf-8")
    table = load_rules(tmp_path)
    fact = classify("明天轮到我值班", READING, table)
    assert (fact.type, fact.rule, fact.confidence) == ("factual", "mine", 0.8)
    assert [type(problem) for problem in table.problems] == [ConfigInvalid]
    assert table.version != load_rules().version


def test_a_fact_costs_less_than_a_millisecond():
    table = load_rules()
    texts = [item.text for item in judged(OWN_LINES)]
    started = time.process_time()
    for text in texts:
        classify(text, READING, table)
    assert (time.process_time() - started) / len(texts) < 0.002
