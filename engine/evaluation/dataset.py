"""Sets of memories and questions with known answers.

A set is a folder of ``memories.jsonl`` (``id``, ``space``, ``text``, ``time``, ``who``,
``session``, ``kind``) and ``queries.jsonl`` (``id``, ``space``, ``query``, ``gold``,
``category``, ``asked_at``, ``visible``, ``grades``). Each space is a world of its own: a question
is asked in its space alone, and with ``visible`` only of the first so many memories of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

from engine.domain.errors import InvalidInput
from engine.evaluation.lines import Line, as_moment, read_lines
from engine.evaluation.metrics import Gold

MEMORIES, QUERIES = "memories.jsonl", "queries.jsonl"
TURN = "turn"
ONE_SPACE = "all"
"""The space of what names none."""


@dataclass(frozen=True, slots=True)
class Record:
    """A memory of a set; ``at`` is epoch seconds, ``None`` where the set has no time."""

    ref: str
    space: str
    text: str
    at: float | None = None
    who: str = ""
    session: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """A question with its relevant memories. ``asked_at`` is epoch seconds; ``visible`` is how
    many memories of its space existed then, ``None`` for all."""

    ref: str
    space: str
    query: str
    gold: Gold
    category: str = ""
    asked_at: float | None = None
    visible: int | None = None


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Memories and questions. ``problems`` are lines that were left out, by file and number;
    ``without_gold`` counts questions without any relevant memory, which are not asked.

    A set without ``records`` asks the memories of the store itself.
    """

    name: str
    records: tuple[Record, ...]
    queries: tuple[GoldQuery, ...]
    problems: tuple[InvalidInput, ...] = ()
    without_gold: int = 0

    @property
    def spaces(self) -> tuple[str, ...]:
        """Its spaces in the order of the file."""
        named = self.records or self.queries
        return tuple(dict.fromkeys(item.space for item in named))

    @property
    def is_dated_by_place(self) -> bool:
        """Whether a question names its moment by how many memories come before it."""
        return any(query.visible is not None for query in self.queries)

    def within(self, spaces: Sequence[str]) -> EvaluationSet:
        """The part of the set in these spaces."""
        return replace(
            self,
            records=tuple(record for record in self.records if record.space in spaces),
            queries=tuple(query for query in self.queries if query.space in spaces),
        )


def read_set(folder: Path, zone: tzinfo | None) -> EvaluationSet:
    """Read a set's folder. ``zone`` is that of times without one.

    Lines that cannot be used are left out and named. Raises :class:`InvalidInput` when there is
    no such folder, a file is missing, or no question is left.
    """
    if not folder.is_dir():
        raise InvalidInput("error.eval_no_folder", path=str(folder))
    problems: list[InvalidInput] = []
    records = _unique(_records(folder / MEMORIES, zone, problems), problems)
    queries = list(_queries(folder / QUERIES, zone, problems))
    return with_gold_in(folder.resolve().name, records, queries, problems)


def with_gold_in(
    name: str,
    records: Sequence[Record],
    queries: Sequence[GoldQuery],
    problems: Sequence[InvalidInput] = (),
) -> EvaluationSet:
    """A set whose questions have gold among its records alone; what gold names beside them
    never existed in the set, and a question with nothing else has no answer in it."""
    known = {(record.space, record.ref) for record in records}
    answered = [query for query in (_with_known(query, known) for query in queries) if query.gold]
    if not queries:
        raise InvalidInput("error.eval_no_queries", name=name)
    return EvaluationSet(
        name, tuple(records), tuple(answered), tuple(problems), len(queries) - len(answered)
    )


def _with_known(query: GoldQuery, known: set[tuple[str, str]]) -> GoldQuery:
    gold = {ref: grade for ref, grade in query.gold.items() if (query.space, ref) in known}
    return query if len(gold) == len(query.gold) else replace(query, gold=gold)


def _records(path: Path, zone: tzinfo | None, problems: list[InvalidInput]) -> Iterable[Record]:
    for line in read_lines(path, problems):
        try:
            yield _record(line, zone)
        except InvalidInput as error:
            problems.append(line.problem(error))


def _record(line: Line, zone: tzinfo | None) -> Record:
    return Record(
        ref=line.name("id"),
        space=line.label("space") or ONE_SPACE,
        text=line.name("text"),
        at=as_moment(line.text("time"), zone),
        who=line.text("who"),
        session=line.text("session"),
        kind=line.text("kind"),
    )


def _unique(records: Iterable[Record], problems: list[InvalidInput]) -> list[Record]:
    """A reference that stands for two memories would make gold ambiguous: the first counts."""
    kept: dict[tuple[str, str], Record] = {}
    for record in records:
        if kept.setdefault((record.space, record.ref), record) is not record:
            problems.append(InvalidInput("error.eval_twice", ref=record.ref, space=record.space))
    return list(kept.values())


def _queries(path: Path, zone: tzinfo | None, problems: list[InvalidInput]) -> Iterable[GoldQuery]:
    for line in read_lines(path, problems):
        try:
            query = read_query(line, zone)
            yield query if query.space else replace(query, space=ONE_SPACE)
        except InvalidInput as error:
            problems.append(line.problem(error))


def read_query(line: Line, zone: tzinfo | None) -> GoldQuery:
    """The question on a line; its gold may also be called ``relevant``."""
    return GoldQuery(
        ref=line.text("id") or str(line.number),
        space=line.label("space"),
        query=line.name("query"),
        gold=line.grades("gold" if "gold" in line.values else "relevant", "grades"),
        category=line.text("category"),
        asked_at=as_moment(line.text("asked_at"), zone, end=True),
        visible=line.count("visible"),
    )
