"""The kind of a memory whose writer names none, chosen by rules that are data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from engine.extraction.pattern_tables import rules_for
from engine.language.time_expressions import find_times

TABLE = "kinds"
DIRECTIVE = "directive"
BY_DEFAULT = "default"
"""The rule of a kind for which no rule fits."""
# What a text is for shows early; a question shows at its end.
_HEAD_CHARS = 400
_TAIL_CHARS = 200


@dataclass(frozen=True, slots=True)
class KindChoice:
    """The kind that the rule ``rule`` gives. ``suggestion`` is ``directive`` where the text reads
    like a standing instruction: a kind that is never chosen unless the caller confirms it."""

    kind: str
    rule: str
    suggestion: str | None = None


def kind_of(text: str, now: float, zone: tzinfo | None, default: str = "semantic") -> KindChoice:
    """The kind of a text by the first rule that fits (memory-model §6).

    ``now`` (epoch seconds) and ``zone`` say what its words of time mean; ``default`` is the kind
    where no rule fits, by the rule :data:`BY_DEFAULT`.
    """
    read = _read_part(text.strip())
    suggestion: str | None = None
    dated: bool | None = None
    for rule in rules_for(TABLE, read):
        if not rule.fits(read):
            continue
        if rule.value == DIRECTIVE:
            suggestion = DIRECTIVE
            continue
        if rule.dated and dated is None:
            dated = _names_date(read, now, zone)
        if dated or not rule.dated:
            return KindChoice(rule.value, rule.name, suggestion)
    return KindChoice(default, BY_DEFAULT, suggestion)


def _read_part(text: str) -> str:
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return text
    return f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"


def _names_date(text: str, now: float, zone: tzinfo | None) -> bool:
    """Whether a text names a time that comes once."""
    return any(not mention.recurring for mention in find_times(text, now, zone))
