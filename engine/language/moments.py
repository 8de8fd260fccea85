"""Bounds of time as people write them: epoch seconds, ISO 8601, spans back from now, words."""

from __future__ import annotations

import re
from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.domain.times import parse_duration, parse_instant
from engine.language.time_expressions import TimeMention, find_times

_BACK = re.compile(r"\d+(?:\.\d+)?\s*[smhdw]", re.IGNORECASE)
_WRITTEN = re.compile(r"-?\d{5,}(?:\.\d+)?|\d{4}([-/])\d{1,2}\1\d{1,2}(?:[T ].*)?")
_NOW = frozenset({"now", "right now", "现在", "此刻", "目前"})
# Words around a bound that say which one it is, or nothing.
_BORDERS = re.compile(
    r"^(?:since|from|until|till|up to|自从|自|从|到|至|截至|截止)\s*|\s*(?:以来|开始|起|为止)$",
    re.IGNORECASE,
)
# What a bare word stands for: a month, a length of time, a day.
_COMPLETIONS = ("{}", "these past {}", "in {}", "最近{}", "on {}", "on the {}", "last {}")
_LONGEST = 80


def parse_moment(text: str | float, now: float, zone: tzinfo | None, *, end: bool = False) -> float:
    """Epoch seconds of a bound: of its first moment, with ``end`` of its last.

    Understood are epoch seconds, ISO 8601 (a bare date is that local day), spans back from
    ``now`` (``24h``, ``7d``, ``2w``, ``三天``, ``two weeks``) and words in both languages
    (``上周``, ``last March``, ``2025年3月``). Raises :class:`InvalidInput` for anything else:
    a bound that is not understood must never be taken for none.
    """
    if isinstance(text, (int, float)):
        return parse_instant(text, zone)
    raw = " ".join(text.split())
    if _BACK.fullmatch(raw):
        return now - parse_duration(raw.replace(" ", ""))
    if raw.casefold() in _NOW:
        return now
    if _WRITTEN.fullmatch(raw):
        return parse_instant(raw, zone, end_of_day=end)
    found = _named(raw, now, zone)
    if found is None:
        raise InvalidInput("error.time_not_understood", value=raw[:60])
    return found.end if end else found.start


def _named(raw: str, now: float, zone: tzinfo | None) -> TimeMention | None:
    if not 0 < len(raw) <= _LONGEST:
        return None
    for core in dict.fromkeys((raw, _BORDERS.sub("", raw))):
        for completion in _COMPLETIONS:
            found = _whole(completion.format(core), now, zone)
            if found is not None:
                return found
    return None


def _whole(text: str, now: float, zone: tzinfo | None) -> TimeMention | None:
    """The one time that a text is, none when it says more."""
    times = find_times(text, now, zone)
    if len(times) != 1 or times[0].recurring:
        return None
    rest = text[: times[0].begin] + text[times[0].stop :]
    return times[0] if rest.strip().lower() in ("", "in", "on", "the") else None
