"""How values of foreign files are understood: times, uids, lists and numbers.

A value that makes no sense is left out where the rest of the record stands without it; a text or
a time that is plainly meant is refused when it cannot be read.
"""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, tzinfo

from engine.domain.errors import InvalidInput
from engine.domain.fields import MAX_LABEL_CHARS, MAX_LABELS
from engine.domain.text import scrub
from engine.domain.times import parse_instant

_SPACE = uuid.UUID("6f0f3b1e-5d0a-5c39-9a53-0d3c6a2f7b41")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Epoch times above this are milliseconds: as seconds they are past the year 5000.
_SECONDS_BELOW = 1e11


def derived_uid(format_name: str, key: str) -> str:
    """The uid of something that has a key of its own in a foreign file: the same one each time it
    is read, so that a second import meets the first."""
    return str(uuid.uuid5(_SPACE, scrub(f"{format_name}:{key}")))


def as_uid(value: object, format_name: str) -> str:
    """A uid as it stands, or the one derived from another name."""
    text = str(value).strip()
    folded = text.lower()
    return folded if _UID.fullmatch(folded) else derived_uid(format_name, text)


def moment(value: object, zone: tzinfo | None) -> float | None:
    """Epoch seconds of a number, an ISO text or a date; a time without zone is in ``zone``.

    ``None`` for nothing at all; raises :class:`InvalidInput` for what is no time.
    """
    if value is None or value == "" or isinstance(value, bool):
        return None
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise InvalidInput("error.bad_time", value=str(value))
        return parse_instant(value / 1000 if abs(value) > _SECONDS_BELOW else value, zone)
    if not isinstance(value, str):
        raise InvalidInput("error.bad_time", value=str(value)[:60])
    return parse_instant(value, zone)


def labels(*values: object) -> list[str]:
    """Lists, or texts with commas between, as one list without doubles and within the limits."""
    found: dict[str, None] = {}
    for value in values:
        for part in _parts(value):
            label = " ".join(part.split())
            if label:
                found[label[:MAX_LABEL_CHARS]] = None
    return list(found)[:MAX_LABELS]


def sentences(values: object) -> list[str]:
    """A list of texts as key facts: as they are, one space between words, within the limits."""
    return labels(values) if not isinstance(values, str) else []


def table_of(value: object) -> Mapping[str, object]:
    """An object, or the one that a JSON text holds; empty for anything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def text(value: object) -> str:
    """A text, empty for anything else."""
    return value if isinstance(value, str) else ""


def name(value: object) -> str | None:
    """A short name (a session, a user): a text or a number, ``None`` for nothing."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return str(value).strip() or None


def share(value: object, *, tenths: bool = False) -> float | None:
    """A number from 0 to 1, on request also one from 1 to 10; ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number = float(value)
    if tenths and 1.0 < number <= 10.0:
        number /= 10.0
    return number if 0.0 <= number <= 1.0 else None


def given(**values: object) -> dict[str, object]:
    """Those of the values that say something."""
    return {key: value for key, value in values.items() if value not in (None, "", [], ())}


def names(**values: object) -> dict[str, str]:
    """Those of the names that are there."""
    found = {key: name(value) for key, value in values.items()}
    return {key: value for key, value in found.items() if value is not None}


def _parts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return re.split("[,，;；、]", value)
    if isinstance(value, Sequence):
        return [str(item) for item in value if isinstance(item, (str, int, float))]
    return ()
