"""What differs between two versions of a memory: by field, and word by word within a text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain.fields import FIELDS
from engine.domain.memory import FieldValue, Memory

SAME = "same"
ADDED = "added"
REMOVED = "removed"
# Words of spaced scripts, single characters of others, and what stands between them.
_PARTS = re.compile(r"[A-Za-z0-9_À-ɏЀ-ӿ]+|\s+|.", re.DOTALL)
_STATES = ("archived_at", "superseded_at", "superseded_by", "deleted_at", "review_state")
_TEXTS = ("text", "summary", "persona_summary", "details")
# Beyond this the comparison would take seconds; lines are compared then.
_MOST_PARTS = 4000


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text: ``same``, ``added`` or ``removed``."""

    change: str
    text: str


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field with its values before and after; for texts also the stretches of both."""

    name: str
    before: FieldValue
    after: FieldValue
    stretches: tuple[Stretch, ...] = ()


def memory_differences(before: Memory, after: Memory) -> tuple[FieldDifference, ...]:
    """The authored fields and states in which two versions differ."""
    return tuple(
        difference(name, getattr(before, name), getattr(after, name))
        for name in (*FIELDS, *_STATES)
        if getattr(before, name) != getattr(after, name)
    )


def text_differences(before: str, after: str) -> tuple[Stretch, ...]:
    """Both texts as stretches in order; without the added ones it is ``before``, without the
    removed ones ``after``."""
    old, new = _PARTS.findall(before), _PARTS.findall(after)
    if max(len(old), len(new)) > _MOST_PARTS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    stretches: list[Stretch] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            _add(stretches, SAME, old[i:j])
        else:
            _add(stretches, REMOVED, old[i:j])
            _add(stretches, ADDED, new[k:m])
    return tuple(stretches)


def difference(name: str, before: FieldValue, after: FieldValue) -> FieldDifference:
    """How a field differs; of texts also where."""
    if name not in _TEXTS:
        return FieldDifference(name, before, after)
    return FieldDifference(
        name, before, after, text_differences(str(before or ""), str(after or ""))
    )


def _add(stretches: list[Stretch], change: str, parts: Sequence[str]) -> None:
    if parts:
        stretches.append(Stretch(change, "".join(parts)))
