"""A question to recall and its answer, as far as the makers of prompts need them.

Use cases do not import each other: those that ask recall are handed it as a callable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.domain.errors import JiyiError
from engine.domain.memory import Memory
from engine.domain.scope import Filters


@dataclass(frozen=True, slots=True)
class Question:
    """A query for up to ``k`` memories. ``automatic`` is what nobody typed: it is no access.

    Matches weaker than ``min_strength`` in [0,1] are left out.
    """

    query: str
    k: int
    filters: Filters = Filters()
    min_strength: float | None = None
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that answers: ``score`` ranks within its answer, ``strength`` in [0,1] is
    absolute and comparable between answers, ``weak`` marks a poor match."""

    memory: Memory
    score: float
    strength: float
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Candidates, best first; why a way of searching did not take part; how many were left out
    for being weaker than asked for."""

    candidates: tuple[Candidate, ...]
    degraded: tuple[JiyiError, ...] = ()
    cut: int = 0


Recall = Callable[[Question], Answer]
