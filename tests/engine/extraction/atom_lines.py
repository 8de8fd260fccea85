"""Labelled facts and how many of them the rules get right.

`python -m tests.engine.extraction.atom_lines [FILE...]` prints the confusion table and the
lines that are still wrong.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.domain.atom import ATOM_TYPES
from engine.domain.times import day
from engine.extraction.atoms import Reading, classify
from engine.extraction.rules import load_rules

OWN_LINES = Path(__file__).parents[2] / "data" / "atom_lines.jsonl"


@dataclass(frozen=True)
class Judged:
    """A line, what it was labelled as, and what the rules say."""

    text: str
    wanted: tuple[str, str | None]
    got: tuple[str, str | None]
    rule: str

    @property
    def is_right(self) -> bool:
        return self.wanted == self.got


def judged(path: Path) -> list[Judged]:
    """Every line of a file of labelled facts, classified."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_judge(json.loads(line)) for line in lines]


def share_right(found: Sequence[Judged]) -> float:
    """How many of the lines are right, type and deadline."""
    return sum(item.is_right for item in found) / len(found)


def _judge(line: dict[str, str]) -> Judged:
    now = datetime.fromisoformat(line["now"])
    fact = classify(line["text"], Reading(now.timestamp(), now.tzinfo), load_rules())
    deadline = None if fact.deadline is None else day(fact.deadline, now.tzinfo)
    return Judged(line["text"], (line["type"], line["deadline"]), (fact.type, deadline), fact.rule)


def _report(found: Sequence[Judged]) -> Iterable[str]:
    counts = Counter((item.wanted[0], item.got[0]) for item in found)
    yield "wanted \\ got".ljust(13) + "".join(name[:10].rjust(12) for name in ATOM_TYPES)
    for wanted in ATOM_TYPES:
        cells = (str(counts[wanted, got] or "").rjust(12) for got in ATOM_TYPES)
        yield wanted.ljust(13) + "".join(cells)
    yield f"{share_right(found):.1%} of {len(found)} right"
    for item in found:
        if not item.is_right:
            yield f"{item.text}: wanted {item.wanted}, got {item.got} by {item.rule}"


if __name__ == "__main__":
    for name in sys.argv[1:] or [str(OWN_LINES)]:
        print(f"== {name}", *_report(judged(Path(name))), sep="\n")
