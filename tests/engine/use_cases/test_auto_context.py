"""auto_context: a task searched from several angles."""

from __future__ import annotations

import pytest

from engine.bootstrap import Engine
from engine.domain.asking import Answer, Candidate, Question
from engine.domain.errors import InvalidInput, ModelUnavailable
from engine.use_cases import auto_context
from engine.use_cases.auto_context import TaskRequest
from tests.engine.use_cases.shortcuts import remember, remember_all

STORE = [
    "灯塔计划延期到三月，因为零件没有到",
    "登录测试偶尔失败，原因是时区，已修好",
    "The login test fails when the clock is set to UTC",
    "邮件桥接程序用 Proton，端口 1143",
    "We chose SQLite because it is one file",
    "阿丽不喝咖啡",
]


@pytest.mark.parametrize(
    ("task", "first"),
    [
        ("帮我给小明写一封关于灯塔计划延期的邮件", 1),
        ("看看登录测试为什么失败", 2),
        ("Please repair the flaky login test before noon", 3),
        ("Configure Proton on the new laptop", 4),
    ],
)
def test_a_task_finds_what_it_is_about(engine: Engine, task, first):
    ids = remember_all(engine, STORE)
    found = engine.auto_context(TaskRequest(task))
    assert found.lines[0].memories[0].id == ids[first - 1]
    assert found.queries[0] == task
    assert 1 <= len(found.queries) <= 4


@pytest.mark.parametrize(
    "task", ["Write a poem about the sea", "今天股市怎么样", "怎么给自行车换轮胎", "ZXQ_20260503"]
)
def test_an_off_topic_task_gets_nothing(engine: Engine, task):
    remember_all(engine, STORE)
    found = engine.auto_context(TaskRequest(task))
    assert (found.text, found.lines) == ("", ())


def test_each_memory_counts_once_with_its_best_strength(engine: Engine):
    memory = engine.get(remember(engine, "灯塔计划延期"))
    other = engine.get(remember(engine, "灯塔计划的预算"))
    asked: list[Question] = []

    def recall(question: Question) -> Answer:
        asked.append(question)
        strength = 0.8 if len(asked) == 1 else 0.9
        reason = ModelUnavailable("error.model_off")
        found = (Candidate(memory, 1.0, strength), Candidate(other, 2.0, 0.7))
        return Answer(found, degraded=(reason,))

    request = TaskRequest("写灯塔计划延期的邮件")
    found = auto_context.auto_context(engine.context, request, recall)
    assert [line.memories[0].id for line in found.lines] == [memory.id, other.id]
    assert [question.query for question in asked] == list(found.queries)
    assert all(question.min_strength == 0.8 and question.automatic for question in asked)
    assert len(found.degraded) == 1


def test_what_was_put_away_stays_away(engine: Engine):
    memory_id = remember(engine, "灯塔计划延期到三月")
    archive(engine, memory_id)
    assert engine.auto_context(TaskRequest("灯塔计划延期")).lines == ()


def test_a_blank_task_is_refused(engine: Engine):
    with pytest.raises(InvalidInput, match="empty_query"):
        engine.auto_context(TaskRequest(" \n"))


def archive(engine: Engine, memory_id: int) -> None:
    """Put a memory away."""
    with engine.context.database.write() as connection:
        connection.execute(
            "UPDATE memory SET archived_at = ? WHERE id = ?",
            (engine.context.clock.now(), memory_id),
        )
