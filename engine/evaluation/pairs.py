"""Files of paraphrase pairs: a question and the memory it means, in one mixed store.

Each line is a ``pair`` (``id``, ``group``, ``query``, ``memory``, ``hard_negative``) or a
``distractor`` (``id``, ``memory``). Every memory, hard negative and distractor goes into the same
store, so a question finds its memory only if it means more than all the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.domain.errors import InvalidInput
from engine.evaluation.dataset import EvaluationSet, GoldQuery, Record, with_gold_in
from engine.evaluation.lines import Line, read_lines

SPACE = "pairs"


def is_pairs(path: Path) -> bool:
    """Whether a file of JSON lines holds pairs rather than questions to the store."""
    lines = read_lines(path, [])
    first = next(lines, None)
    return first is not None and first.values.get("type") in ("pair", "distractor")


def read_pairs(path: Path) -> EvaluationSet:
    """Read a file of pairs; lines that cannot be used are left out and named."""
    problems: list[InvalidInput] = []
    records: list[Record] = []
    queries: list[GoldQuery] = []
    for line in read_lines(path, problems):
        try:
            own = list(_records(line))
            if line.text("type") == "pair":
                queries.append(_query(line))
            records += own
        except InvalidInput as error:
            problems.append(line.problem(error))
    return with_gold_in(path.stem, records, queries, problems)


def _records(line: Line) -> Iterator[Record]:
    ref = line.name("id")
    yield Record(ref, SPACE, line.name("memory"))
    if line.text("hard_negative").strip():
        yield Record(f"{ref}/negative", SPACE, line.text("hard_negative"))


def _query(line: Line) -> GoldQuery:
    ref = line.name("id")
    return GoldQuery(ref, SPACE, line.name("query"), {ref: 1.0}, line.text("group"))
