"""Judge: say whether memories answer a query. What is judged is the store's own gold set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain.caller import Caller
from engine.domain.errors import InvalidInput
from engine.domain.ids import parse_ref
from engine.domain.judgment import Judgment
from engine.domain.text import scrub
from engine.language.folding import fold
from engine.storage import judgments, memories

MAX_GRADE = 10.0
MAX_QUERY_CHARS = 20_000
MAX_CATEGORY_CHARS = 100


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A query and memories that answer it (``relevant``) or do not (``irrelevant``), by
    reference.

    ``grade`` above 0 says how well the relevant ones do; ``workspace`` is where the query was
    asked, ``None`` for everywhere.
    """

    query: str
    relevant: tuple[str | int, ...] = ()
    irrelevant: tuple[str | int, ...] = ()
    grade: float | None = None
    category: str | None = None
    workspace: str | None = None


def judge(context: EngineContext, request: JudgeRequest, caller: Caller) -> list[Judgment]:
    """Keep what was judged; a later judgment of the same takes an earlier one's place.

    Raises :class:`InvalidInput` for a blank query or a bad grade, and ``NotFound`` for a memory
    that is not there; then nothing is kept.
    """
    query, now = _checked_query(request.query), context.clock.now()
    grade, category = _checked_grade(request.grade), _checked_category(request.category)
    wanted = [(ref, True) for ref in request.relevant]
    wanted += [(ref, False) for ref in request.irrelevant]
    with context.database.write() as connection:
        made = [
            Judgment(
                query=query,
                memory_uid=memories.find(connection, parse_ref(ref)).uid,
                relevant=relevant,
                grade=grade if relevant else None,
                category=category,
                workspace=request.workspace or "",
                at=now,
                actor=caller.actor,
            )
            for ref, relevant in wanted
        ]
        for judgment in made:
            judgments.put(connection, judgment, fold(query))
    return made


def list_judgments(context: EngineContext, query: str | None = None) -> list[Judgment]:
    """What was judged, of one query or of all, in the order of first judgments."""
    with context.database.read() as connection:
        return judgments.listed(connection, None if query is None else fold(_checked_query(query)))


def remove_judgments(
    context: EngineContext, query: str, workspace: str | None, refs: Sequence[str | int] = ()
) -> int:
    """Take back what was judged of a query, or only of these memories; return how many."""
    folded = fold(_checked_query(query))
    with context.database.write() as connection:
        uids = [memories.find(connection, parse_ref(ref)).uid for ref in refs]
        return judgments.remove(connection, folded, workspace or "", uids or None)


def _checked_query(query: str) -> str:
    cleaned = " ".join(scrub(query).split())
    if not cleaned:
        raise InvalidInput("error.empty_query")
    if len(cleaned) > MAX_QUERY_CHARS:
        raise InvalidInput("error.text_too_long", length=len(cleaned), limit=MAX_QUERY_CHARS)
    return cleaned


def _checked_grade(grade: float | None) -> float | None:
    if grade is None:
        return None
    if not (math.isfinite(grade) and 0.0 < grade <= MAX_GRADE):
        raise InvalidInput("error.eval_grade", high=MAX_GRADE)
    return float(grade)


def _checked_category(category: str | None) -> str | None:
    cleaned = " ".join(scrub(category or "").split())
    if len(cleaned) > MAX_CATEGORY_CHARS:
        raise InvalidInput("error.text_too_long", length=len(cleaned), limit=MAX_CATEGORY_CHARS)
    return cleaned or None
