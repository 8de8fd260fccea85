"""Pieces that fit a model whose window nobody told us."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.domain.errors import ModelUnavailable, TextRefused
from engine.model_clients.pieces import Piece, split_pieces
from engine.model_clients.protocol import CutOutcome, CutVector, Outcome

SHORTEST_CHARS = 100
"""A text as short as this is not refused for its length."""


@dataclass(slots=True)
class _Task:
    """One text: the parts still to embed, those done, and the failure that ends it."""

    text: str
    waiting: list[Piece]
    done: list[CutVector] = field(default_factory=list)
    failure: ModelUnavailable | None = None
    was_cut: bool = False


class WindowCutter:
    """Embeds texts and cuts those the model refuses, until the parts fit or are short.

    The length that fits is remembered: the next long text is cut before it is sent.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._window_chars = 0

    @property
    def window_chars(self) -> int:
        """Characters known to fit after longer texts were refused; 0 before that."""
        return self._window_chars

    def embed(
        self, texts: Sequence[str], embed_each: Callable[[Sequence[str]], list[Outcome]]
    ) -> list[CutOutcome]:
        """Per text its parts in order, mostly one, or why it could not be embedded."""
        tasks = [_Task(text, self._first_cut(text)) for text in texts]
        while waiting := [(task, part) for task in tasks for part in task.waiting]:
            outcomes = embed_each([task.text[part.start : part.end] for task, part in waiting])
            for task in tasks:
                task.waiting = []
            for (task, part), outcome in zip(waiting, outcomes, strict=True):
                _note(task, part, outcome)
        self._learn(tasks)
        return [task.failure or tuple(sorted(task.done, key=_start)) for task in tasks]

    def _first_cut(self, text: str) -> list[Piece]:
        if not self._window_chars or len(text) <= self._window_chars:
            return [Piece(0, len(text))]
        return split_pieces(text, self._window_chars)

    def _learn(self, tasks: Sequence[_Task]) -> None:
        """Only a text that passed whole tells about length; else a word may be to blame."""
        fitting = [
            max(part.end - part.start for part in task.done)
            for task in tasks
            if task.was_cut and task.failure is None
        ]
        if fitting:
            with self._lock:
                self._window_chars = min([*fitting, self._window_chars or max(fitting)])


def _note(task: _Task, part: Piece, outcome: Outcome) -> None:
    if not isinstance(outcome, ModelUnavailable):
        task.done.append(CutVector(part.start, part.end, outcome))
        return
    shorter = _halves(task.text, part) if isinstance(outcome, TextRefused) else []
    if not shorter:
        task.failure = task.failure or outcome
    if task.failure is None:
        task.waiting += shorter
        task.was_cut = True
    else:
        task.waiting = []


def _halves(text: str, part: Piece) -> list[Piece]:
    length = part.end - part.start
    if length <= SHORTEST_CHARS:
        return []
    cut = split_pieces(text[part.start : part.end], -(-length // 2))
    return [Piece(part.start + piece.start, part.start + piece.end) for piece in cut]


def _start(part: CutVector) -> int:
    return part.start
