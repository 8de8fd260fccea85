"""Questions to the store itself: what was judged in it, or a file of questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

from engine.domain.errors import InvalidInput
from engine.domain.judgment import Judgment
from engine.evaluation.dataset import EvaluationSet, GoldQuery, read_query
from engine.evaluation.lines import read_lines


def read_questions(
    path: Path, zone: tzinfo | None, uid_of: Callable[[str], str | None]
) -> EvaluationSet:
    """Read a file of questions: ``query``, ``relevant`` (or ``gold``) ids or uids of memories,
    optional ``grades``, ``category``, and as ``space`` the workspace it is asked in.

    ``uid_of`` gives the uid of a memory, ``None`` when the store has none; such gold counts
    as never found, because somebody expected it. Raises :class:`InvalidInput` when no question
    is left.
    """
    problems: list[InvalidInput] = []
    queries: list[GoldQuery] = []
    for line in read_lines(path, problems):
        try:
            query = read_query(line, zone)
        except InvalidInput as error:
            problems.append(line.problem(error))
            continue
        gold = {uid_of(ref) or ref: grade for ref, grade in query.gold.items()}
        queries.append(replace(query, gold=gold))
    return _asked(path.stem, queries, problems)


def questions_of_judgments(name: str, given: Sequence[Judgment]) -> EvaluationSet:
    """One question for each query that was judged; what was judged irrelevant is no gold."""
    grouped: dict[tuple[str, str], list[Judgment]] = defaultdict(list)
    for judgment in given:
        grouped[judgment.query, judgment.workspace].append(judgment)
    queries = [
        GoldQuery(
            ref=str(number),
            space=workspace,
            query=query,
            gold={j.memory_uid: j.grade or 1.0 for j in judged if j.relevant},
            category=next((j.category for j in judged if j.category), ""),
        )
        for number, ((query, workspace), judged) in enumerate(grouped.items(), start=1)
    ]
    return _asked(name, queries, [])


def _asked(
    name: str, queries: Sequence[GoldQuery], problems: Sequence[InvalidInput]
) -> EvaluationSet:
    answered = tuple(query for query in queries if query.gold)
    if not queries:
        raise InvalidInput("error.eval_no_queries", name=name)
    return EvaluationSet(name, (), answered, tuple(problems), len(queries) - len(answered))
