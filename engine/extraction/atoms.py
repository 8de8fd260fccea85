"""From one fact to its type, confidence, stance, deadline or time, by rules alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from engine.domain.atom import Classification
from engine.extraction.rules import RuleTable, scripts_of
from engine.language.folding import unify
from engine.language.time_expressions import TimeMention, find_times

NOTHING_MATCHED = 0.5
_RANGE_JOINERS = frozenset({"到", "至", "-", "~", "to", "until", "till", "through", "–", "—"})
_LIMITS_AFTER = ("之前", "以前", "前", "为止", "内")
_LIMITS_BEFORE = ("by", "before", "until", "till", "due", "due on", "no later than", "by the")
_SEASONS = ("month", "year")


@dataclass(frozen=True, slots=True)
class Reading:
    """The moment from which a fact's words of time are understood."""

    now: float
    zone: tzinfo | None


def classify(text: str, reading: Reading, table: RuleTable) -> Classification:
    """The type of a fact and when it is due or happened. Any string is allowed."""
    shown = " ".join(text.split())
    plain = unify(shown)
    times = find_times(plain, reading.now, reading.zone, prefer="future")
    moments = _moments(times, reading.now) | table.moments_in(plain)
    scripts = scripts_of(plain)
    rule = next((rule for rule in table.rules if rule.fits(plain, moments, scripts)), None)
    if rule is None:
        return Classification(shown, "unknown", NOTHING_MATCHED, "nothing")
    return Classification(
        shown,
        rule.type,
        rule.confidence,
        rule.name,
        rule.polarity,
        _deadline(plain, times, moments, reading) if rule.type == "planned" else None,
        _event_time(plain, times, reading) if rule.type == "episodic" else None,
    )


def _moments(times: Sequence[TimeMention], now: float) -> frozenset[str]:
    return frozenset(_moment(time, now) for time in times)


def _moment(time: TimeMention, now: float) -> str:
    if time.recurring:
        return "recurring"
    if time.tense != "any":
        return time.tense
    if time.end < now:
        return "past"
    if time.kind in _SEASONS:
        return "season"
    return "moment"


def _deadline(
    text: str, times: Sequence[TimeMention], moments: frozenset[str], reading: Reading
) -> float | None:
    """The end of the time that limits the plan: the one after "by" or before "之前", the end of
    a span from one day to another, else the first. A time of day alone is one of today."""
    ahead = [time for time in times if time.end >= reading.now and not time.recurring]
    if not ahead:
        is_hour_alone = not times and "moment" in moments and "recurring" not in moments
        return _end_of_today(reading) if is_hour_alone else None
    chosen = next((time for time in ahead if _is_limit(text, time)), None)
    if chosen is None:
        chosen = ahead[0]
        for other in ahead[1:]:
            joined = text[chosen.stop : other.begin].strip().casefold() in _RANGE_JOINERS
            if joined and other.end > chosen.end:
                chosen = other
    return chosen.end


def _end_of_today(reading: Reading) -> float | None:
    return next((time.end for time in find_times("今天", reading.now, reading.zone)), None)


def _is_limit(text: str, time: TimeMention) -> bool:
    before = text[: time.begin].rstrip().casefold()
    return text[time.stop :].lstrip().startswith(_LIMITS_AFTER) or any(
        before == word or before.endswith(f" {word}") for word in _LIMITS_BEFORE
    )


def _event_time(text: str, times: Sequence[TimeMention], reading: Reading) -> float | None:
    """When it happened: a day that may lie before or after now is taken as the last one."""
    if any(time.tense == "any" for time in times):
        times = find_times(text, reading.now, reading.zone, prefer="past")
    return next((time.start for time in times if time.start <= reading.now), None)
