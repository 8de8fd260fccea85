"""Key phrases of a task, in Chinese, English and mixed."""

from __future__ import annotations

import pytest

from engine.language.phrases import key_phrases
from engine.language.terms import build_analyser

ANALYSER = build_analyser()


@pytest.mark.parametrize(
    ("task", "phrases"),
    [
        (
            "Fix the flaky login test: the login test fails on CI",
            ("login test", "fix", "flaky"),
        ),
        ("准备下周三和阿丽的预算会议", ("预算会议", "准备", "周三")),
        ("修复 jiyi recall 的排序 bug", ("修复 jiyi", "排序 bug", "recall")),
        ("what did we decide about the database?", ("decide", "database")),
        ("买乌龙茶", ("乌龙茶",)),
        ("股市", ()),
        ("！！！", ()),
        ("", ()),
    ],
)
def test_pairs_stand_before_single_words_and_no_word_twice(task, phrases):
    assert key_phrases(ANALYSER, task, 3) == phrases


def test_words_that_a_function_word_or_punctuation_parts_are_no_pair():
    assert ANALYSER.content_runs("灯塔，计划 and the budget of tests") == [
        ["灯塔"],
        ["计划"],
        ["budget"],
        ["tests"],
    ]


def test_phrases_of_words_that_are_there_come_first():
    task = "Configure Proton on the new laptop"
    assert key_phrases(ANALYSER, task, 3) == ("configure proton", "new laptop")
    assert key_phrases(ANALYSER, task, 3, {"proton": 4.0})[0] == "proton"
    found = key_phrases(ANALYSER, "写灯塔计划延期的信", 2, {"灯塔": 3.0, "计划": 2.0})
    assert found[0] == "灯塔计划"


def test_a_common_single_word_is_no_phrase():
    rarity = {"plan": 1.0, "pottery": 4.0, "class": 3.0}
    assert key_phrases(ANALYSER, "plan a pottery class", 3, rarity) == ("pottery class",)
    assert key_phrases(ANALYSER, "write sql", 3, {"write": 0.0, "sql": 0.0}) == ()
