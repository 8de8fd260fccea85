"""The daily moment at which things fade, in a zone whose clocks may be put forward or back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

_FIRST = 86_400.0
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DailyMoment:
    """A time of day. ``zone`` ``None`` is the machine's own."""

    hour: int = 0
    minute: int = 5
    zone: tzinfo | None = None

    def between(self, after: float, until: float) -> list[float]:
        """Every such moment later than ``after`` and not later than ``until``, in order (all
        epoch seconds); none before 1970.

        A day has one of them: where clocks skip that time it is the moment they would have
        shown it, where they show it twice it is the first.
        """
        start = max(after, _FIRST)
        if until <= start:
            return []
        # A time that was skipped may fall on the neighbouring day.
        day, last = self._day(start) - _ONE_DAY, self._day(until) + _ONE_DAY
        found: list[float] = []
        while day <= last:
            moment = self._moment(day)
            # Where a whole calendar day was skipped, two days share one moment.
            if start < moment <= until and (not found or moment > found[-1]):
                found.append(moment)
            day += _ONE_DAY
        return found

    def last_before(self, now: float) -> float:
        """The latest moment not later than ``now``; 0 when there is none."""
        found = self.between(now - 3 * _FIRST, now)
        return found[-1] if found else 0.0

    def _day(self, instant: float) -> date:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=instant)
        return moment.astimezone(self.zone).date()

    def _moment(self, day: date) -> float:
        return datetime(
            day.year, day.month, day.day, self.hour, self.minute, tzinfo=self.zone
        ).timestamp()
