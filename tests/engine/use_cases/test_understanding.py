"""What is read from a query: times, people, and turns of work that goes on."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.scope import Filters, Scope
from engine.retrieval.reach import reach
from engine.retrieval.understanding import Understanding, is_ongoing, is_transcript, understand
from tests.engine.use_cases.shortcuts import remember

TRANSCRIPT = '<Ana>:"明天有演出"\n<Assistant>:"真棒，加油"\n<Ana>:"昨天练了很久"'


def read(engine: Engine, query: str, workspace: str | None = None) -> Understanding:
    context = engine.context
    scope = Scope("workspace", workspace, exact=True) if workspace else Scope()
    with context.database.read() as connection:
        within = reach(connection, Filters(scope=scope), context.clock.now())
        return understand(connection, context.analyser, query, within, context.zone)


@pytest.fixture
def chats(keyword_engine: Engine) -> Engine:
    """Everybody talks about 雷明轩 and Caroline; Melanie is mentioned once."""
    for n in range(30):
        remember(keyword_engine, f"雷明轩第{n}次跑步", participants=["雷明轩"])
        remember(keyword_engine, f"Caroline went out, day {n}", participants=["Caroline"])
    remember(keyword_engine, "Melanie painted a sunrise", participants=["Melanie"])
    return keyword_engine


def test_common_people_and_dates_are_left_out_of_what_is_embedded(chats: Engine) -> None:
    found = read(chats, "雷明轩在5月3日跑步了吗")
    assert found.people == ("雷明轩",)
    assert len(found.windows) == 1
    assert "雷明轩" not in found.meaning and "5月3日" not in found.meaning
    assert "跑步" in found.meaning
    assert "雷明轩" in found.words and "5月3日" not in found.words


def test_a_possessive_goes_with_the_name(chats: Engine) -> None:
    assert read(chats, "What is Caroline's identity?").meaning == "What is identity?"


def test_a_person_named_once_stays_because_it_tells_which_one(chats: Engine) -> None:
    found = read(chats, "When did Melanie paint a sunrise?")
    assert found.people == ("melanie",)
    assert found.meaning == "When did Melanie paint a sunrise?"


def test_common_is_counted_among_the_memories_in_reach(chats: Engine) -> None:
    for n in range(6):
        remember(chats, f"Melanie baked bread number {n}", "kitchen", participants=["Melanie"])
    assert "Melanie" not in read(chats, "What did Melanie bake?", "kitchen").meaning


def test_nothing_left_means_the_query_as_it_is(chats: Engine) -> None:
    assert read(chats, "Caroline").meaning == "Caroline"
    assert read(chats, "昨天").words == "昨天"


def test_a_recurring_time_is_no_window(chats: Engine) -> None:
    assert read(chats, "每周三的例会").windows == ()


def test_times_of_a_transcript_belong_to_its_talk(chats: Engine) -> None:
    assert is_transcript(TRANSCRIPT)
    assert read(chats, TRANSCRIPT).windows == ()
    assert not read(chats, TRANSCRIPT).ongoing


@pytest.mark.parametrize(
    ("query", "ongoing"),
    [
        ("Let's continue with the budget, what do you need from me?", True),
        ("Thanks! I'm ready for the next step.", True),
        ("我们接着上次的方案改", True),
        ("帮我把计划再调整一下", True),
        ("When did Caroline go to the support group?", False),
        ("雷明轩的体重目标是多少", False),
        ("youth club opening hours", False),
    ],
)
def test_a_turn_of_work_that_goes_on_is_told_from_a_question(query: str, ongoing: bool) -> None:
    assert is_ongoing(query) is ongoing
