"""Context for a task, found from several angles without anybody wording a query."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.context import EngineContext
from engine.domain.asking import Answer, Candidate, Question, Recall
from engine.domain.errors import JiyiError
from engine.domain.prompts import PLAIN, PromptForm, PromptText, Section
from engine.domain.scope import Filters
from engine.language.phrases import key_phrases
from engine.language.stemming import stem
from engine.retrieval.packing import LineStyle
from engine.retrieval.prompt import framed, new_packer
from engine.storage import fulltext
from engine.storage.atom_search import outdated
from engine.storage.fulltext import WORDS, Match

MAX_PHRASES = 3
_PER_ANGLE = 20


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A task in the words it was given in. ``floor`` in [0,1] is the least match strength
    (default: the setting ``context.floor``)."""

    task: str
    filters: Filters = Filters()
    form: PromptForm = PLAIN
    floor: float | None = None


def auto_context(context: EngineContext, request: TaskRequest, recall: Recall) -> PromptText:
    """What is remembered about a task: it and its key phrases are each recalled with the same
    absolute strength and floor, and every memory counts with its best. A task that has nothing
    to do with the store gets an empty text. Raises InvalidInput for a blank task."""
    form = request.form
    style = LineStyle(form.language, context.zone, context.clock.now())
    packer = new_packer(form, context.settings.context.pack_tokens, style)
    queries = angles(context, request.task)
    answers = [_asked(context, request, query, recall) for query in queries]
    best = _best_of_all(answers)
    with context.database.read() as connection:
        packer.newer |= outdated(connection, [item.memory.id for item in best])
    section = Section("memories", "", tuple(packer.pack(best)))
    return PromptText(
        text=framed([section], form.language),
        sections=(section,),
        used_tokens=packer.used_tokens,
        budget_tokens=packer.budget.tokens,
        left_out=len(packer.left_out),
        queries=queries,
        degraded=_distinct(reason for answer in answers for reason in answer.degraded),
    )


def angles(context: EngineContext, task: str) -> tuple[str, ...]:
    """The task itself and its key phrases, without doubles; phrases of words that the store
    holds come first, since the others can only be found by the task as a whole."""
    task = task.strip()
    words = {word for run in context.analyser.content_runs(task) for word in run}
    phrases = key_phrases(context.analyser, task, MAX_PHRASES, _rarity(context, words))
    return tuple(dict.fromkeys([task, *phrases]))


def _rarity(context: EngineContext, words: Iterable[str]) -> dict[str, float]:
    """How rare each word is in the store, 0 for one that stands in no memory."""
    matches = {word: Match(WORDS, stem(word)) for word in words}
    with context.database.read() as connection:
        frequencies = fulltext.document_frequencies(connection, list(matches.values()))
        rows = fulltext.totals(connection).row_count
    counts = {word: frequencies.get(match, 0) for word, match in matches.items()}
    return {word: math.log1p(rows / count) if count > 0 else 0.0 for word, count in counts.items()}


def _asked(context: EngineContext, request: TaskRequest, query: str, recall: Recall) -> Answer:
    floor = context.settings.context.floor if request.floor is None else request.floor
    # Nobody typed this, so what was put away stays away.
    shown = replace(
        request.filters, include_archived=False, include_expired=False, include_superseded=False
    )
    return recall(Question(query, _PER_ANGLE, shown, min_strength=floor, automatic=True))


def _best_of_all(answers: Iterable[Answer]) -> list[Candidate]:
    """Each memory once, by its best strength; weak matches do not count. Of about equally
    strong ones that which answers more of the angles stands first."""
    best: dict[int, Candidate] = {}
    total: dict[int, float] = defaultdict(float)
    for answer in answers:
        for candidate in answer.candidates:
            if candidate.weak:
                continue
            memory_id = candidate.memory.id
            known = best.get(memory_id)
            total[memory_id] += candidate.strength
            if known is None or candidate.strength > known.strength:
                best[memory_id] = candidate
    return sorted(
        best.values(),
        key=lambda item: (round(item.strength, 1), total[item.memory.id]),
        reverse=True,
    )


def _distinct(reasons: Iterable[JiyiError]) -> tuple[JiyiError, ...]:
    return tuple({reason.key: reason for reason in reasons}.values())
