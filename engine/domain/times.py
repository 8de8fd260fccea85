"""Reading and showing moments and durations.

Inside the engine a moment is UTC epoch seconds (float). At the surfaces it is ISO 8601 with
offset. A time without zone is in the configured zone; a bare date means the start of that
local day (or its end, where an upper bound is asked for).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.domain.errors import InvalidInput

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", re.IGNORECASE)
_UNIT_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DATE_ONLY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}")
_COMPACT_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})")
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Years outside this range are typing errors or units mistaken (milliseconds); datetime and
# ISO output stop working near its ends as well.
_EARLIEST = datetime(1000, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9000, 1, 1, tzinfo=UTC).timestamp()


def zone_named(name: str) -> tzinfo:
    """The zone called ``name`` (IANA), or the machine's local zone for an empty name."""
    if not name:
        local = datetime.now().astimezone().tzinfo
        return local or UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput("error.bad_zone", value=name) from error


def parse_instant(value: str | float, zone: tzinfo | None, *, end_of_day: bool = False) -> float:
    """Epoch seconds of an ISO 8601 text, a bare date or epoch seconds.

    ``zone`` applies where the text names none (``None``: the machine's local zone).
    Raises :class:`InvalidInput`.
    """
    if isinstance(value, (int, float)):
        return _in_range(value, str(value)[:60])
    raw = value.strip()
    if _PLAIN_NUMBER.fullmatch(raw) and not _COMPACT_DATE.fullmatch(raw) and len(raw) > 4:
        return _in_range(float(raw), raw)
    return _in_range(_parse_iso(raw, zone, end_of_day), raw)


def parse_duration(value: str | float) -> float:
    """Seconds of ``90m``, ``24h``, ``7d``, ``2w`` or a number of seconds; must be positive."""
    match = _DURATION.fullmatch(str(value).strip())
    seconds = float(match[1]) * _UNIT_SECONDS[match[2].lower()] if match else 0.0
    if not 0 < seconds <= _LATEST:
        raise InvalidInput("error.bad_duration", value=str(value)[:40])
    return seconds


def iso(instant: float, zone: tzinfo | None = None) -> str:
    """ISO 8601 with offset, to the second, in ``zone`` (``None``: the machine's)."""
    return _local(instant, zone).isoformat(timespec="seconds")


def day(instant: float, zone: tzinfo | None = None) -> str:
    """The calendar day, ``2026-05-01``."""
    return _local(instant, zone).date().isoformat()


def minute_with_offset(instant: float, zone: tzinfo | None = None) -> str:
    """``2026-05-01 09:30 +08:00``: the form of the original-time line."""
    text = _local(instant, zone).isoformat(sep=" ", timespec="minutes")
    return f"{text[:16]} {text[16:]}"


def is_midnight(instant: float, zone: tzinfo | None = None) -> bool:
    """Whether a moment is the start of a local day: what a bare date is stored as."""
    moment = _local(instant, zone)
    return (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def _local(instant: float, zone: tzinfo | None) -> datetime:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=instant)
    return moment.astimezone(zone)


def _parse_iso(raw: str, zone: tzinfo | None, end_of_day: bool) -> float:
    try:
        compact = _COMPACT_DATE.fullmatch(raw)
        if compact or _DATE_ONLY.fullmatch(raw):
            parts = compact.groups() if compact else re.split("[-/]", raw)
            year, month, day_of_month = map(int, parts)
            moment = datetime.combine(date(year, month, day_of_month), datetime.min.time())
            if end_of_day:
                moment += timedelta(days=1, microseconds=-1)
        else:
            moment = datetime.fromisoformat(raw)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
        return moment.timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput("error.bad_time", value=raw[:60]) from error


def _in_range(instant: float, raw: str) -> float:
    # Compared before it is converted: an integer may be too large for a float.
    if not _EARLIEST <= instant <= _LATEST:
        raise InvalidInput("error.bad_time", value=raw[:60])
    return float(instant)
