"""JSON lines written by others: read one by one, a bad one named by file and number."""

from __future__ import annotations

import calendar
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from engine.domain.errors import InvalidInput
from engine.domain.text import scrub
from engine.domain.times import parse_instant
from engine.evaluation.metrics import Gold

_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
MAX_GRADE = 10.0
MAX_LABEL_CHARS = 100


@dataclass(frozen=True, slots=True)
class Line:
    """One object of a file of JSON lines; ``number`` counts from 1."""

    path: Path
    number: int
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """A text, empty when it is missing or null; a number is read as it is written."""
        value = self.values.get(name)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InvalidInput("error.expected_text", name=name)
        return str(value)

    def name(self, name: str) -> str:
        """A text that must be there."""
        value = self.text(name)
        if not value.strip():
            raise InvalidInput("error.eval_lacks", name=name)
        return value

    def label(self, name: str) -> str:
        """A text of one line, as the name of a workspace may be."""
        return " ".join(scrub(self.text(name)).split())[:MAX_LABEL_CHARS].strip()

    def count(self, name: str) -> int | None:
        """A whole number from 0 on, ``None`` when it is missing."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InvalidInput("error.eval_count", name=name)
        return value

    def grades(self, name: str, grades: str) -> Gold:
        """The references listed under ``name``, each with its grade: 1, or what the object
        under ``grades`` says; those with grade 0 are not relevant and are left out."""
        listed = self.values.get(name) or []
        given = self.values.get(grades) or {}
        if not isinstance(listed, list) or not isinstance(given, Mapping):
            raise InvalidInput("error.eval_gold", name=name)
        refs = dict.fromkeys([*map(_ref, listed), *map(_ref, given)], 1.0)
        found = refs | {_ref(ref): _grade(grade) for ref, grade in given.items()}
        return {ref: grade for ref, grade in found.items() if grade > 0}

    def problem(self, reason: InvalidInput) -> InvalidInput:
        """``reason`` with the place of this line."""
        return InvalidInput(
            "error.eval_line", path=str(self.path), number=self.number, reason=reason
        )


def read_lines(path: Path, problems: list[InvalidInput]) -> Iterator[Line]:
    """The objects of a file, one a line; blank lines are nothing, others go to ``problems``."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput("error.eval_no_file", path=str(path)) from error
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        line = Line(path, number, {})
        try:
            yield Line(path, number, _object(raw))
        except InvalidInput as error:
            problems.append(line.problem(error))


def as_moment(value: str, zone: tzinfo | None, *, end: bool = False) -> float | None:
    """Epoch seconds of ISO 8601, a day or a month (their ends with ``end``); ``None`` for an
    empty value. Raises :class:`InvalidInput`."""
    if not value:
        return None
    month = _MONTH.fullmatch(value.strip())
    if month is None:
        return parse_instant(value, zone, end_of_day=end)
    year, number = int(month[1]), int(month[2])
    if not 1 <= number <= 12 or year == 0:
        raise InvalidInput("error.bad_time", value=value[:60])
    last = calendar.monthrange(year, number)[1] if end else 1
    return parse_instant(f"{year:04d}-{number:02d}-{last:02d}", zone, end_of_day=end)


def _object(raw: bytes) -> Mapping[str, object]:
    try:
        value = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("error.eval_not_json") from error
    if not isinstance(value, dict):
        raise InvalidInput("error.eval_not_object")
    return value


def _ref(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InvalidInput("error.eval_gold", name="gold")
    return str(value)


def _grade(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput("error.eval_grade", high=MAX_GRADE)
    if not (math.isfinite(value) and 0.0 <= value <= MAX_GRADE):
        raise InvalidInput("error.eval_grade", high=MAX_GRADE)
    return float(value)
