"""The bounds of a time filter, as people write them."""

from __future__ import annotations

from datetime import tzinfo

from engine.domain.errors import InvalidInput
from engine.language.moments import parse_moment


def time_bounds(
    since: str | float | None, until: str | float | None, now: float, zone: tzinfo | None
) -> tuple[float | None, float | None]:
    """Epoch seconds from which and up to which (inclusive) is looked; ``None`` for no bound.

    Dates, spans back from now (``7d``) and words in Chinese and English are understood, see
    :func:`engine.language.moments.parse_moment`. Raises :class:`InvalidInput` for a bound that
    is not understood and for a start after the end: neither may look like "nothing stored".
    """
    start = None if since is None else parse_moment(since, now, zone)
    end = None if until is None else parse_moment(until, now, zone, end=True)
    if start is not None and end is not None and start > end:
        raise InvalidInput("error.time_order", since=str(since)[:60], until=str(until)[:60])
    return start, end
